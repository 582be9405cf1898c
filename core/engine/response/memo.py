"""The hot memo: the last few notices, as a text that fits a budget."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

from core.settings.response import MemoSettings

CHARACTERS = 4
"""Of one token, roughly."""


class MemoLine(NamedTuple):
    """One line of the memo or of the action log."""

    at: float
    method: str
    text: str


class HotMemo:
    """Keep the newest notices and hand them over as text, the newest first."""

    __slots__ = ("_entries", "_tokens")

    def __init__(self, settings: MemoSettings) -> None:
        self._entries: deque[MemoLine] = deque(maxlen=settings.size)
        self._tokens = settings.tokens

    def add(self, entry: MemoLine) -> None:
        """Put one on top; a newer word of the same method takes the older one's place."""
        for known in self._entries:
            if known.method == entry.method:
                self._entries.remove(known)
                break
        self._entries.append(entry)

    @property
    def entries(self) -> tuple[MemoLine, ...]:
        """Oldest first."""
        return tuple(self._entries)

    def text(self, tokens: int | None = None) -> str:
        """What would be handed to the agent, cut to the budget."""
        room = CHARACTERS * (self._tokens if tokens is None else tokens)
        lines: list[str] = []
        for entry in reversed(self._entries):
            line = entry.text
            if len(line) > room:
                line = line[: room - 1] + "…" if room > 1 else ""
            if not line:
                break
            lines.append(line)
            room -= len(line) + 1
        return "\n".join(lines)

    def dump(self) -> tuple[Any, ...]:
        return tuple(tuple(entry) for entry in self._entries)

    def load(self, state: Sequence[Any]) -> None:
        self._entries.clear()
        self._entries.extend(MemoLine(*entry) for entry in state)
