"""Settings of the screen."""

from __future__ import annotations

from typing import Annotated, Literal

from core.settings.cost import CostSettings
from core.settings.fleet import FleetSettings
from core.settings.group import PROJECT, Group, Spec

Series = Literal[
    "activity",
    "frustration",
    "seeking",
    "confidence",
    "fatigue",
    "flow",
    "uncertainty",
    "sleep",
    "context",
    "accuracy",
    "volatility",
]


class ScreenSettings(Group):
    """What is shown, and how."""

    theme: Annotated[str, Spec("Theme the screen begins with.")] = "nocturne"
    motion: Annotated[bool, Spec("Let things move; off shows each change at once.")] = True
    rate: Annotated[int, Spec("Most pictures made in a second.", 1, 60, 1, "Hz")] = 30
    idle: Annotated[
        float,
        Spec(
            "Time between two pictures while nothing happens; after ten such it doubles.", 0.1, 60, 0.1, "s"
        ),
    ] = 1.0
    tail: Annotated[float, Spec("A longer log shows its end first, then reads all.", 0, 1000, 0.5, "MB")] = (
        1.0
    )
    series: Annotated[Series, Spec("Reading the timeline begins with.", project=PROJECT)] = "activity"
    gap: Annotated[
        float, Spec("A silence this long is drawn as a gap.", 10, 86_400, 10, "s", project=PROJECT)
    ] = 600.0
    burn: Annotated[
        float, Spec("Stretch over which tokens a minute are counted.", 10, 3600, 10, "s", project=PROJECT)
    ] = 120.0
    keymap: Annotated[dict[str, str], Spec("Other keys, by the id that help shows for each.")] = {}
    fleet: FleetSettings = FleetSettings()
    cost: CostSettings = CostSettings()
