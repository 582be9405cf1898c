"""The marks of some kinds, kept as a recording grows, so that no drawing walks through all of them."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.timeline.marks import Marks
from core.timeline.marks import Mark, MarkKind


class MarkFilter:
    """Chosen marks of one recording, of one agent or of all."""

    __slots__ = ("_agent", "_kinds", "_marks", "_seen", "kept", "places")

    def __init__(self, *kinds: MarkKind) -> None:
        self._kinds = frozenset(kinds)
        self._agent: str | None = None
        self._marks: Marks | None = None
        self._seen = 0
        self.kept: list[Mark] = []
        self.places: list[int] = []
        """Of the kept ones, in the same order."""

    def until(self, marks: Marks, index: int, agent: str | None = None) -> int:
        """How many of `kept` happened within the first `index` events."""
        if marks is not self._marks or agent != self._agent or len(marks) < self._seen:
            self._marks, self._agent, self._seen = marks, agent, 0
            self.kept, self.places = [], []
        for number in range(self._seen, len(marks)):
            mark = marks[number]
            if mark.kind in self._kinds and (agent is None or mark.agent == agent):
                self.kept.append(mark)
                self.places.append(mark.place)
            self._seen = number + 1
        return bisect_left(self.places, index)
