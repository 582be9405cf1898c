"""Settings of the screen."""

from __future__ import annotations

from typing import Annotated, Literal

from core.settings.group import PROJECT, Group, Spec


class CostSettings(Group):
    """The daily budget."""

    budget: Annotated[float, Spec("Daily budget for all agents; 0 for no limit.", 0, 100_000, 1, "$")] = 0.0
    evening: Annotated[float, Spec("Time of day until which the pace is projected.", 0, 24, 0.5, "h")] = 18.0
    stretch: Annotated[float, Spec("Time over which the pace is measured.", 5, 1440, 5, "min")] = 60.0


class FleetSettings(Group):
    """All sessions of this machine at a glance."""

    within: Annotated[float, Spec("Sessions that changed this recently are listed.", 0.1, 8760, 1, "h")] = 24.0
    most: Annotated[int, Spec("Maximum number of sessions listed, the newest first.", 1, 5000, 10)] = 200
    awake: Annotated[int, Spec("Maximum sessions followed at once; others are read again.", 1, 2000, 10)] = 250
    tail: Annotated[float, Spec("How much of a log's end is read for a first look.", 0.05, 100, 0.5, "MB")] = 1.0
    whole: Annotated[float, Spec("An active log up to this size is then read completely.", 0, 10_000, 8, "MB")] = 64.0
    rate: Annotated[int, Spec("Maximum updates of the fleet per second.", 1, 20, 1, "Hz")] = 4
    search: Annotated[float, Spec("Time between two searches for unannounced sessions.", 1, 3600, 5, "s")] = 30.0
    quick: Annotated[float, Spec("A read or edit open for longer may wait for permission.", 2, 600, 1, "s")] = 15.0
    silent: Annotated[float, Spec("A log silent for longer mid-task needs a look.", 10, 86_400, 10, "s")] = 300.0
    left: Annotated[float, Spec("A session silent this long mid-task is abandoned.", 60, 604_800, 300, "s")] = 7200.0
    news: Annotated[float, Spec("How long a finished session counts as news.", 0, 86_400, 60, "s")] = 600.0
    context: Annotated[float, Spec("Share of the way to compaction that is worth a look.", 0.1, 1, 0.01)] = 0.9
    span: Annotated[float, Spec("Time shown by the small curve of a session.", 60, 86_400, 60, "s")] = 600.0


Series = Literal[
    "activity", "frustration", "seeking", "confidence", "fatigue", "flow", "uncertainty", "sleep", "context",
    "accuracy", "volatility",
]  # fmt: skip


class ScreenSettings(Group):
    """The screen."""

    theme: Annotated[str, Spec("Theme at the start.")] = "nocturne"
    motion: Annotated[bool, Spec("Animate changes; off shows each change at once.")] = True
    rate: Annotated[int, Spec("Maximum frames per second.", 1, 60, 1, "Hz")] = 60
    idle: Annotated[float, Spec("Time between idle frames; doubles after ten of them.", 0.1, 60, 0.1, "s")] = 1.0
    tail: Annotated[float, Spec("A longer log shows its end first, then is read completely.", 0, 1000, 0.5, "MB")] = 1.0
    series: Annotated[Series, Spec("Reading the timeline shows first.", project=PROJECT)] = "activity"
    gap: Annotated[float, Spec("A silence this long is drawn as a gap.", 10, 86_400, 10, "s", project=PROJECT)] = 600.0
    burn: Annotated[float, Spec("Time for measuring tokens per minute.", 10, 3600, 10, "s", project=PROJECT)] = 120.0
    keymap: Annotated[dict[str, str], Spec("Other keys, by the id that help shows for each.")] = {}
    fleet: FleetSettings = FleetSettings()
    cost: CostSettings = CostSettings()
