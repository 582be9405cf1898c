"""Settings of extensions and of the event bus."""

from __future__ import annotations

from core.settings.trust import PERSON
from core.settings.tunable import Group, tunable


class ExtensionSettings(Group, project=PERSON):
    """What is installed beside nooscope, and how far it is trusted to work."""

    faults: int = tunable(
        3, "Faults after which an extension is switched off for the run.", ge=1, le=1000, step=1
    )
    bus: int = tunable(
        10_000,
        "Events that may wait for a slow subscriber before the oldest is dropped.",
        ge=1,
        le=1_000_000,
        step=100,
    )
