"""Settings of the fleet: which sessions are listed, and when one needs a person."""

from __future__ import annotations

from core.settings.trust import PERSON
from core.settings.tunable import Group, tunable


class FleetSettings(Group, project=PERSON):
    """All sessions of this machine at a glance."""

    within: float = tunable(
        24.0, "Sessions that changed this recently are listed.", ge=0.1, le=8760, step=1, unit="h"
    )
    most: int = tunable(200, "Sessions listed at most, the newest first.", ge=1, le=5000, step=10)
    awake: int = tunable(
        250,
        "Sessions followed by an engine at a time; a live one beyond is read anew.",
        ge=1,
        le=2000,
        step=10,
    )
    tail: float = tunable(
        1.0, "How much of a log's end is read for a first look.", ge=0.05, le=100, step=0.5, unit="MB"
    )
    whole: float = tunable(
        64.0, "An active log up to this size is then read whole.", ge=0, le=10_000, step=8, unit="MB"
    )
    rate: int = tunable(4, "Maximum updates of the fleet per second.", ge=1, le=20, step=1, unit="Hz")
    search: float = tunable(
        30.0, "Time between two searches for sessions nothing announced.", ge=1, le=3600, step=5, unit="s"
    )
    quick: float = tunable(
        15.0, "A read or edit open for longer may ask for permission.", ge=2, le=600, step=1, unit="s"
    )
    silent: float = tunable(
        300.0, "A log silent for longer amid work needs a look.", ge=10, le=86_400, step=10, unit="s"
    )
    left: float = tunable(
        7200.0,
        "After so long a session silent amid work counts as left.",
        ge=60,
        le=604_800,
        step=300,
        unit="s",
    )
    news: float = tunable(
        600.0, "For so long a finished session counts as news.", ge=0, le=86_400, step=60, unit="s"
    )
    context: float = tunable(
        0.9, "Share of the way to compaction that is worth a look.", ge=0.1, le=1, step=0.01
    )
    span: float = tunable(
        600.0, "Stretch of time the small curve of a session shows.", ge=60, le=86_400, step=60, unit="s"
    )
