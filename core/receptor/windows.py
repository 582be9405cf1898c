"""What was done lately: counts of actions over all time, or over a sliding window."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import inf
from typing import Any

from core.events import Action, Outcome
from core.state import Stateful, plain_list

READ, SEARCH, EDIT, SHELL, DELEGATION, RECALL, REMEMBER, FAILED_SHELL = range(8)

COUNTED: tuple[Action, ...] = (
    "file_read",
    "search",
    "file_edit",
    "shell_exec",
    "delegation",
    "memory_read",
    "memory_write",
)
CODES: dict[tuple[Action, Outcome], int] = {
    (action, outcome): code
    for code, action in enumerate(COUNTED)
    for outcome in ("success", "failure", "empty")
} | {("shell_exec", "failure"): FAILED_SHELL}
"""How an act is counted; what is not here moves no pattern."""

EDITING, RUNNING = 1, 2
_SIDE = (0, 0, EDITING, RUNNING, 0, 0, 0, RUNNING)


def failure_rate(counts: list[int]) -> float:
    """Share of shell commands that failed."""
    failed = counts[FAILED_SHELL]
    return failed / (failed + counts[SHELL]) if failed else 0.0


class Tally(Stateful):
    """Count every act since the beginning, and how often editing and running changed places."""

    __slots__ = ("_side", "alternations", "counts", "total")
    STATE = (
        plain_list("counts"),
        "_side",
        "alternations",
    )

    def __init__(self) -> None:
        self.counts = [0] * 8
        self.total = 0
        self.alternations = 0
        self._side = 0

    def add(self, code: int) -> None:
        """Count one act."""
        self.counts[code] += 1
        self.total += 1
        side = _SIDE[code]
        if side:
            if self._side and self._side != side:
                self.alternations += 1
            self._side = side

    def restored(self) -> None:
        self.total = sum(self.counts)


class Window:
    """Count the acts of the last `span` seconds, and at most the last `most` of them.

    A change between editing and running counts while both its acts are inside.
    """

    __slots__ = (
        "_acts",
        "_added",
        "_changes",
        "_last",
        "_most",
        "_side",
        "counts",
        "oldest",
        "span",
        "total",
    )

    def __init__(self, span: float, most: int) -> None:
        self.span = span
        self._most = most
        self._acts: deque[tuple[float, int]] = deque()
        self.oldest = inf
        """When the first of them was."""
        self._added = 0
        self._changes: deque[int] = deque()
        """Numbers of the acts after which the side changed."""
        self._side = 0
        self._last = -1
        """Number of the last act that edited or ran."""
        self.counts = [0] * 8
        self.total = 0

    @property
    def alternations(self) -> int:
        """How often editing and running changed places."""
        return len(self._changes)

    def add(self, wall: float, code: int) -> None:
        """Count one act."""
        if self.oldest < wall - self.span:
            self.slide(wall)
        added, total = self._added, self.total
        side = _SIDE[code]
        if side:
            if side != self._side:
                if self._last >= added - total:
                    self._changes.append(self._last)
                self._side = side
            self._last = added
        self._acts.append((wall, code))
        self._added = added + 1
        self.counts[code] += 1
        self.total = total + 1
        if not total:
            self.oldest = wall
        elif total >= self._most:
            self.slide(wall)

    def slide(self, wall: float) -> bool:
        """Let go of what is too old; say whether anything went."""
        acts = self._acts
        since = wall - self.span
        if self.oldest >= since and self.total <= self._most:
            return False
        counts = self.counts
        while acts and (acts[0][0] < since or len(acts) > self._most):
            counts[acts.popleft()[1]] -= 1
        self.total = len(acts)
        self.oldest = acts[0][0] if acts else inf
        first = self._added - self.total
        changes = self._changes
        while changes and changes[0] < first:
            changes.popleft()
        return True

    def ahead(self, wall: float) -> Window:
        """The window as it would be at a later moment, to be read; this one stays as it is."""
        if self.oldest >= wall - self.span and self.total <= self._most:
            return self
        later = Window(self.span, self._most)
        later.load(self.dump())
        later.slide(wall)
        return later

    def dump(self) -> tuple[Any, ...]:
        return (
            tuple(wall for wall, _ in self._acts),
            bytes(code for _, code in self._acts),
            self._added,
            tuple(self._changes),
            self._side,
            self._last,
        )

    def load(self, state: Sequence[Any]) -> None:
        walls, codes, self._added, changes, self._side, self._last = state
        self._acts = deque(zip(walls, codes, strict=True))
        self._changes = deque(changes)
        self.counts = [0] * 8
        for code in codes:
            self.counts[code] += 1
        self.total = len(self._acts)
        self.oldest = self._acts[0][0] if self._acts else inf
        if self.total > self._most:
            self.slide(self.oldest)
