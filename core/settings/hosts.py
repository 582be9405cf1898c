"""Settings of fleets over hosts: how long the stream keeps events, and which sessions are sent."""

from __future__ import annotations

from core.settings.trust import PERSON
from core.settings.tunable import Group, tunable


class HostsSettings(Group, project=PERSON):
    """Sessions of many hosts on one NATS server; what is kept is fixed when the stream is made."""

    keep: float = tunable(
        30.0, "The stream forgets events older than this.", ge=0.01, le=3650, step=1, unit="days"
    )
    most: float = tunable(
        0.0,
        "The stream forgets its oldest events beyond this size; 0 means no limit.",
        ge=0,
        le=1e7,
        step=100,
        unit="MB",
    )
    replicas: int = tunable(1, "Servers of a NATS cluster that hold each event.", ge=1, le=5, step=1)
    window: float = tunable(
        120.0, "For so long the server itself drops an event sent again.", ge=1, le=86_400, step=10, unit="s"
    )
    within: float = tunable(
        24.0, "Sessions that changed this recently are sent.", ge=0.1, le=8760, step=1, unit="h"
    )
    batch: int = tunable(500, "Events sent before answers are waited for.", ge=1, le=10_000, step=50)
    sign: float = tunable(10.0, "Time between two signs of life of a host.", ge=0.5, le=600, step=1, unit="s")
    missed: int = tunable(4, "Signs of life missed before a host is said to be lost.", ge=2, le=100, step=1)
