"""Settings of what agents cost: how much a day may cost, and when it ends."""

from __future__ import annotations

from typing import Annotated

from core.settings.group import Group, Spec


class CostSettings(Group):
    """What a day of work may cost."""

    budget: Annotated[
        float, Spec("What all agents may cost you in a day; 0 for no limit.", 0, 100_000, 1, "$")
    ] = 0.0
    evening: Annotated[float, Spec("Time of day until which the pace is carried on.", 0, 24, 0.5, "h")] = 18.0
    stretch: Annotated[float, Spec("Stretch of time over which the pace is taken.", 5, 1440, 5, "min")] = 60.0
