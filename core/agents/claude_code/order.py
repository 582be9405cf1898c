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

    __slots__ = ("_due", "_held", "_ids", "_lines")

    def __init__(self) -> None:
        self._held: dict[str, list[Placed]] = {}
        self._due: dict[str, int] = {}
        self._ids: set[str] = set()
        self._lines = 0

    def __len__(self) -> int:
        return len(self._held)

    def hold(self, wanted: str, placed: Placed) -> None:
        """Keep a line until what it waits for comes."""
        self._held.setdefault(wanted, []).append(placed)
        self._due.setdefault(wanted, self._lines + STRETCH)
        if placed.block is None and placed.line.uuid:
            self._ids.add(placed.line.uuid)

    def holds(self, line_id: str) -> bool:
        """Whether a line is itself being kept."""
        return line_id in self._ids

    def take(self, came: str) -> list[Placed]:
        """What waited for this."""
        found = self._held.pop(came, [])
        if found:
            del self._due[came]
            self._ids.difference_update(placed.line.uuid or "" for placed in found)
        return found

    def overdue(self, *, all_of_them: bool = False) -> list[Placed]:
        """What has waited long enough; counts one line more."""
        self._lines += 1
        if not self._due:
            return []
        late = [name for name, due in self._due.items() if all_of_them or due < self._lines]
        return [placed for name in late for placed in self.take(name)]
