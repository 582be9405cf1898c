"""The one way onto the screen: every line that is drawn passes here and comes out safe for the terminal."""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from core.safe_text import safe


class SafeLines(LineFilter):
    """Replace what a terminal would obey by as many blanks as it was given cells."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        return [
            segment if segment.control else Segment(safe(segment.text, _cells), segment.style)
            for segment in segments
        ]


def _cells(char: str) -> str:
    return " " * cell_len(char)


SAFE_LINES = SafeLines()
