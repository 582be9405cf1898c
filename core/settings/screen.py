"""Settings of the screen."""

from __future__ import annotations

from typing import Literal

from core.settings.cost import CostSettings
from core.settings.fleet import FleetSettings
from core.settings.trust import PERSON, PROJECT
from core.settings.tunable import Group, part, tunable

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


class ScreenSettings(Group, project=PERSON):
    """What is shown, and how."""

    theme: str = tunable("nocturne", "Theme the screen begins with.")
    motion: bool = tunable(True, "Let things move; off shows each change at once.")
    rate: int = tunable(30, "Most pictures made in a second.", ge=1, le=60, step=1, unit="Hz")
    idle: float = tunable(
        1.0,
        "Time between two pictures while nothing happens; after ten such it doubles.",
        ge=0.1,
        le=60,
        step=0.1,
        unit="s",
    )
    tail: float = tunable(
        1.0, "A longer log shows its end first, then reads all.", ge=0, le=1000, step=0.5, unit="MB"
    )
    series: Series = tunable("activity", "Reading the timeline begins with.", project=PROJECT)
    gap: float = tunable(
        600.0, "A silence this long is drawn as a gap.", ge=10, le=86_400, step=10, unit="s", project=PROJECT
    )
    burn: float = tunable(
        120.0,
        "Stretch over which tokens a minute are counted.",
        ge=10,
        le=3600,
        step=10,
        unit="s",
        project=PROJECT,
    )
    keymap: dict[str, str] = tunable({}, "Other keys, by the id that help shows for each.")
    fleet: FleetSettings = part(FleetSettings, "All sessions of this machine at a glance.")
    cost: CostSettings = part(CostSettings, "What a day of work may cost.")
