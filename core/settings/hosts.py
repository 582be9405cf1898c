"""Settings of fleets over hosts: how long the stream keeps events, and which sessions are sent."""

from __future__ import annotations

from typing import Annotated

from core.settings.group import Group, Spec


class HostsSettings(Group):
    """Sessions of many hosts on one NATS server; what is kept is fixed when the stream is made."""

    keep: Annotated[float, Spec("The stream forgets events older than this.", 0.01, 3650, 1, "days")] = 30.0
    most: Annotated[
        float,
        Spec("The stream forgets its oldest events beyond this size; 0 means no limit.", 0, 1e7, 100, "MB"),
    ] = 0.0
    replicas: Annotated[int, Spec("Servers of a NATS cluster that hold each event.", 1, 5, 1)] = 1
    window: Annotated[
        float, Spec("For so long the server itself drops an event sent again.", 1, 86_400, 10, "s")
    ] = 120.0
    within: Annotated[float, Spec("Sessions that changed this recently are sent.", 0.1, 8760, 1, "h")] = 24.0
    batch: Annotated[int, Spec("Events sent before answers are waited for.", 1, 10_000, 50)] = 500
    sign: Annotated[float, Spec("Time between two signs of life of a host.", 0.5, 600, 1, "s")] = 10.0
    ssh: Annotated[
        tuple[str, ...], Spec("Command that reaches another machine for `fleet --from ssh://host`.")
    ] = ("ssh",)
    missed: Annotated[int, Spec("Signs of life missed before a host is said to be lost.", 2, 100, 1)] = 4
