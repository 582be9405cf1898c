"""Settings of extensions and of the event bus."""

from __future__ import annotations

from typing import Annotated

from core.settings.group import Group, Spec


class ExtensionSettings(Group):
    """What is installed beside nooscope, and how far it is trusted to work."""

    faults: Annotated[
        int, Spec("Faults after which an extension is switched off for the run.", 1, 1000, 1)
    ] = 3
    bus: Annotated[
        int,
        Spec("Events that may wait for a slow subscriber before the oldest is dropped.", 1, 1_000_000, 100),
    ] = 10_000
