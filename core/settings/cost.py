"""Settings of what agents cost: how much a day may cost, and when it ends."""

from __future__ import annotations

from core.settings.trust import PERSON
from core.settings.tunable import Group, tunable


class CostSettings(Group, project=PERSON):
    """What a day of work may cost."""

    budget: float = tunable(
        0.0, "What all agents may cost you in a day; 0 for no limit.", ge=0, le=100_000, step=1, unit="$"
    )
    evening: float = tunable(
        18.0, "Time of day until which the pace is carried on.", ge=0, le=24, step=0.5, unit="h"
    )
    stretch: float = tunable(
        60.0, "Stretch of time over which the pace is taken.", ge=5, le=1440, step=5, unit="min"
    )
