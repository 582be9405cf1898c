"""The circuit breaker: affect that moves too much is neither trusted nor passed on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.affect.fields import FIELDS
from core.settings.affect import QuarantineSettings
from core.state import Stateful, plain_list

_BUCKETS = 30
"""Slices of the sliding window: a bound on memory, and on how coarsely it slides."""


class Quarantine(Stateful):
    """Volatility over a sliding window, and a state that is entered above and left below it.

    Volatility is the sum of all fields' changes in the window, over fields times the window's minutes.
    """

    __slots__ = ("_enter", "_release", "_scale", "_slices", "_slot", "_sum", "_width", "active", "times")
    STATE = ("_width", "_slot", plain_list("_slices"), "_sum", "active", "times")

    def __init__(self, settings: QuarantineSettings) -> None:
        self._enter = settings.enter
        self._release = settings.release
        self._width = settings.window / _BUCKETS
        self._scale = 60.0 / (len(FIELDS) * settings.window)
        self._slices = [0.0] * _BUCKETS
        self._slot = 0
        self._sum = 0.0
        self.active = False
        self.times = 0

    def update(self, now: float, moved: float) -> int:
        """Take in one cycle's changes; 1 where quarantine begins, -1 where it ends, else 0."""
        slots = now / self._width
        if slots >= self._slot + 1:
            self._slide(int(slots))
        if moved:
            self.note(moved)
        volatility = self._sum * self._scale
        if self.active:
            if volatility < self._release:
                self.active = False
                return -1
        elif volatility > self._enter:
            self.active = True
            self.times += 1
            return 1
        return 0

    def note(self, moved: float) -> None:
        """Count changes made since the last cycle."""
        self._slices[self._slot % _BUCKETS] += moved
        self._sum += moved

    def volatility(self, now: float) -> float:
        """What the window would hold at that moment, leaving it as it is."""
        gone = int(now / self._width) - self._slot
        if gone <= 0:
            return self._sum * self._scale
        return (
            sum([self._slices[(self._slot - back) % _BUCKETS] for back in range(_BUCKETS - gone)])
            * self._scale
        )

    def holds(self, now: float) -> bool:
        """Whether quarantine would still hold at that moment."""
        return self.active and self.volatility(now) >= self._release

    def _slide(self, slot: int) -> None:
        slices = self._slices
        if slot - self._slot >= _BUCKETS:
            for place in range(_BUCKETS):
                slices[place] = 0.0
        else:
            for passed in range(self._slot + 1, slot + 1):
                slices[passed % _BUCKETS] = 0.0
        self._slot = slot
        self._sum = sum(slices)

    def load(self, state: Sequence[Any]) -> None:
        """Go on from a dump; a window of another length takes the old one's slices over.

        Written by hand: the width is a setting, and a dump's own only says how to read its slices.
        """
        width, slot, slices, total, self.active, self.times = state
        if width == self._width and len(slices) == _BUCKETS:
            self._slot, self._slices, self._sum = slot, list(slices), total
            return
        self._slices = [0.0] * _BUCKETS
        self._slot = int(slot * width / self._width)
        for back in range(len(slices)):
            place = int((slot - back) * width / self._width)
            if self._slot - place < _BUCKETS:
                self._slices[place % _BUCKETS] += slices[(slot - back) % len(slices)]
        self._sum = sum(self._slices)
