"""Lines that belong together: a prompt of several, or all that the model says in one answer."""

from __future__ import annotations

from core.events import Where

_LONGEST = 100_000
"""Characters of the text that are kept; its place is that of all lines."""
_NOWHERE = Where("")


class GatheredText:
    """Gather lines, their text and the place they take up."""

    __slots__ = ("_kept", "_lines", "at", "where")

    def __init__(self) -> None:
        self.at = 0.0
        self.where = _NOWHERE
        self._lines: list[str] = []
        self._kept = 0

    def __bool__(self) -> bool:
        return self.where is not _NOWHERE

    @property
    def text(self) -> str:
        """What stands there."""
        return "\n".join(self._lines)

    def add(self, line: str, at: float, where: Where) -> None:
        """Take in one more line; it happened when its first did."""
        if self.where is _NOWHERE:
            self.at, self.where = at, where
        else:
            first = self.where
            self.where = Where(first.file, first.offset, where.offset + where.length - first.offset)
        if self._kept < _LONGEST:
            self._lines.append(line)
            self._kept += len(line) + 1
