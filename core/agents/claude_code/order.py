"""Lines of a Claude Code log that came before the line they follow, kept until it comes."""

from __future__ import annotations

from typing import NamedTuple

from core.agents.claude_code.lines import Block, ClaudeLine
from core.events import Where

STRETCH = 64
"""Lines for which one that came too early is kept."""


class Placed(NamedTuple):
    """A line with its place and time."""

    line: ClaudeLine
    at: float
    where: Where
    number: int
    block: Block | None = None
    """The result in it that waits, where only that does."""


class HeldLines:
    """Keeps what came too early, by the id it waits for, for a bounded stretch of lines."""

    __slots__ = ("_due", "_ids", "held")

    def __init__(self) -> None:
        self.held: dict[str, list[Placed]] = {}
        """What is kept, by the id it waits for."""
        self._due: dict[str, int] = {}
        self._ids: set[str] = set()

    def hold(self, wanted: str, placed: Placed, taken: int) -> None:
        """Keep a line until what it waits for comes; so many were taken in before it."""
        self.held.setdefault(wanted, []).append(placed)
        self._due.setdefault(wanted, taken + STRETCH)
        if placed.block is None and placed.line.uuid:
            self._ids.add(placed.line.uuid)

    def holds(self, line_id: str) -> bool:
        """Whether a line is itself being kept."""
        return line_id in self._ids

    def take(self, came: str) -> list[Placed]:
        """What waited for this."""
        found = self.held.pop(came, [])
        if found:
            del self._due[came]
            self._ids.difference_update(placed.line.uuid or "" for placed in found)
        return found

    def overdue(self, taken: int | None) -> list[Placed]:
        """What has waited long enough once so many lines were taken in; all of it where none will come."""
        late = [name for name, due in self._due.items() if taken is None or due < taken]
        return [placed for name in late for placed in self.take(name)]
