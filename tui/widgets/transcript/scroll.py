"""Which line of which entry is the first in sight, where entries have different heights."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from core.events import Event
from core.report.transcript import insert_in_order

Height = Callable[[int], int]
"""Lines of the entry at a place."""
Anchor = Literal["top", "third", "sight", "end"]
"""What stays while entries grow, as they do once their words are read: the first line in sight, the bar in
the upper third, the bar anywhere in sight, or the end of the last entry.
"""


class Scroll:
    """Entries are laid out only as far as a move needs."""

    def __init__(self) -> None:
        self.places: list[int] = []
        """Places of the entries that are shown, in the order they are read."""
        self._rising: list[int] = []
        """The same in the order of the recording."""
        self._rows: dict[int, int] = {}
        self.top = 0
        """Place of the entry the first line in sight belongs to."""
        self.skipped = 0
        """Lines of that entry above the first line in sight."""

    def near(self, place: int) -> int:
        """The last entry at or before a place, else the first; -1 where there is none."""
        if not self._rising:
            return -1
        return self._rising[max(0, bisect_right(self._rising, place) - 1)]

    def row(self, place: int) -> int:
        """The number of the entry at a place, or of the nearest before it."""
        return self._rows.get(place, self._rows.get(self.near(place), 0))

    def clear(self) -> None:
        """Show nothing."""
        self.places, self._rising, self._rows = [], [], {}

    def extend(self, found: Iterable[int], events: Sequence[Event]) -> None:
        """Show more entries, each where it is read."""
        for place in found:
            before = len(self.places)
            insert_in_order(self.places, place, events)
            insort(self._rising, place)
            row = before
            while row and self.places[row] != place:
                self._rows[self.places[row]] = row
                row -= 1
            self._rows[self.places[row]] = row

    def to(self, place: int) -> None:
        """Put the first line of an entry at the top."""
        self.top, self.skipped = place, 0

    def up(self, by: int, height: Height) -> None:
        """Move the first line in sight up by so many lines; negative goes down."""
        self.skipped -= by
        row = self.row(self.top)
        while self.skipped < 0 and row > 0:
            row -= 1
            self.top = self.places[row]
            self.skipped += height(self.top)
        while row < len(self.places) - 1 and self.skipped >= height(self.top):
            self.skipped -= height(self.top)
            row += 1
            self.top = self.places[row]
        self.skipped = max(0, self.skipped)

    def hold(self, anchor: Anchor, bar: int, lines: int, height: Height) -> None:
        """Put what stays where it was, with the bar at a place."""
        if anchor == "end":
            self.to_end(lines, height)
        elif anchor == "third":
            self.to(bar)
            self.up(lines // 3, height)
        elif anchor == "sight":
            self.reveal(bar, lines, height)

    def to_end(self, lines: int, height: Height) -> None:
        """Put the end of the last entry at the bottom of so many lines."""
        self.to(self.places[-1])
        self.up(lines - height(self.top) + 1, height)

    def reveal(self, place: int, lines: int, height: Height) -> None:
        """Bring an entry into sight with as little movement as possible."""
        first, row = self.row(self.top), self.row(place)
        if row < first or (row == first and self.skipped):
            self.to(place)
        elif row - first > lines:
            self.to(place)
            self.up(lines // 3, height)
        else:
            above = sum(height(self.places[at]) for at in range(first, row)) - self.skipped
            over = above + height(place) - lines
            if over > 0:
                self.up(-min(over, above), height)
