"""How the path tree shares out its width, and how paths and ages are made to fit."""

from __future__ import annotations

from core.report.formatting import age
from tui.draw.line import Line, fit
from tui.widgets.main.path_rows import STATE_GLYPHS, PathRow

_WORDS = 74
"""From this width on states are written out."""
_AGES = 40
_WIDE = 110


class PathColumns:
    """How much room each column of the tree has."""

    def __init__(self, rows: list[PathRow], width: int) -> None:
        self.words = width >= _WORDS
        self.ages = width >= _AGES
        self.read = 2 + len(str(max(row.opened for row in rows))) if width >= 28 else 0
        self.wrote = 2 + len(str(max(row.modified for row in rows))) if self.read else 0
        self.state = 13 if self.words else 2
        self.age = 5 if self.ages else 0
        self.bar = 24 if width >= _WIDE else 12 if self.words else 8 if self.ages else 4
        self.whole = max(8, width - self.bar - 1)
        """Room of a name with no figures beside it."""
        self.name = max(8, self.whole - self.read - self.wrote - self.state - self.age)

    def freshness(self, row: PathRow, at: float) -> Line:
        """How the agent was when it was last there, and how long ago that is."""
        word = f" {STATE_GLYPHS[row.state]} {row.state.replace('_', ' ')}"
        ago = age(at - row.visited) if self.age else ""
        ink = {"stuck": "frustration", "deep_work": "flow", "exploring": "seeking"}.get(row.state, "quiet")
        return [(word.ljust(self.state)[: self.state], ink), (ago.rjust(self.age), "quiet")]

    def titles(self) -> Line:
        """What each column is."""
        parts = (
            fit("path (visits)", self.name),
            _title(("read", "rd", "r"), self.read),
            _title(("edited", "edit", "ed", "w"), self.wrote) if self.read else "",
        )
        state = fit(" last state" if self.words else "", self.state)
        return [("".join(parts), "quiet"), (state + ("ago".rjust(self.age)) + " heat", "quiet")]


def _title(words: tuple[str, ...], width: int) -> str:
    """The longest of the words that leaves a blank before it."""
    return next((word.rjust(width) for word in words if len(word) < width), " " * width)


def add_scrollbar(lines: list[Line], top: int, total: int) -> None:
    """Show on the right edge which part of the rows is seen."""
    room = len(lines)
    size = max(1, round(room * room / total))
    start = round((room - size) * top / max(1, total - room))
    for number, line in enumerate(lines):
        held = start <= number < start + size
        line.append(("▐" if held else " ", "quiet"))
