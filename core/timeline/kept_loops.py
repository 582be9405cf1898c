"""Loop detectors of one run, whose words another run says again.

They hear events and how patient affect is; two runs that agree in that need not both look for loops.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from core.events import Event
from core.response.loops import Loop, LoopDetector
from core.settings.response import ResponseSettings


class LoopStep(NamedTuple):
    """What the loop detectors were given with one event beside it, and what they said."""

    patience: int
    told: Loop | None
    current: Loop | None


class NotedLoops(LoopDetector):
    """Loop detectors that keep what they say of each event."""

    __slots__ = ("_note",)

    def __init__(self, settings: ResponseSettings, noted: list[LoopStep]) -> None:
        super().__init__(settings.loops, frozenset(settings.notices.final))
        self._note = noted.append

    def update(self, event: Event, patience: int = 0) -> Loop | None:
        told = super().update(event, patience)
        self._note(LoopStep(patience, told, self.current))
        return told


class OtherPatienceError(Exception):
    """Loop detectors would be given something else than in the run that is kept."""


class KeptLoops(LoopDetector):
    """What loop detectors said of each event, said again."""

    __slots__ = ("_kept", "_now")

    def __init__(self, settings: ResponseSettings, kept: Iterator[LoopStep]) -> None:
        super().__init__(settings.loops, frozenset(settings.notices.final))
        self._kept = kept
        self._now: Loop | None = None

    @property
    def current(self) -> Loop | None:
        return self._now

    def update(self, _event: Event, patience: int = 0) -> Loop | None:
        was, told, self._now = next(self._kept)
        if was != patience:
            raise OtherPatienceError
        return told
