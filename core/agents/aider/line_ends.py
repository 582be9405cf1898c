"""How lines of Aider's chat history end, by which those of the program and the person are known."""

from __future__ import annotations

from core.agents.aider import lines
from core.events import Where

_MARK = 2
"""Blanks behind each line of the program's and the person's; a model writes none."""


class LineEnds:
    """See how each line ended when the next one comes.

    From a run that an editor has tidied up the blanks are gone: there no line tells who wrote it.
    """

    __slots__ = ("_end", "_last", "_marked", "_newline", "_number", "unmarked")

    def __init__(self) -> None:
        self._last = ""
        self._end = 0
        self._number = 0
        self._newline = 1
        self._marked = False
        self.unmarked = False
        """Whether the line before this one has no mark, in a run that has them."""

    def see(self, said: str, where: Where, number: int) -> None:
        """Take in the next line that is not blank; nothing but blanks and line ends is before it."""
        passed, between = number - self._number, where.offset - self._end
        if lines.STARTED.match(self._last):
            self._newline = 2 if between == 2 * passed else 1
        blanks = between - passed * self._newline
        if blanks == _MARK and passed == 1 and self._last.startswith("> ") and said.startswith("> "):
            self._marked = True
        self.unmarked = self._marked and blanks < _MARK
        if lines.STARTED.match(said):
            self._marked = False
        self._last, self._end, self._number = said, where.offset + where.length, number
