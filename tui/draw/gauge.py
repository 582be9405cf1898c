"""Bars, curves, trees and braille drawings made of single cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tui.draw.line import Line, joined_cells

# Where on the bar, from 0 to 1; its glyph; its style. A bump keeps the style of a filled cell.
Mark = tuple[float, str, str]
BUMP = "▟"
TRACK = "▁"
_THIN_BUMP = "┻"


_SPARKS = "▁▂▃▄▅▆▇█"


def meter(value: float, width: int, ink: str, marks: Iterable[Mark] = (), *, thin: bool = False) -> Line:
    """A bar from 0 to 1 that leaves air above it, so that bars on adjacent lines do not touch.

    Its empty part is lower than the bar, so that both can be told apart without colour.
    """
    if width <= 0:
        return []
    solid, half, empty = ("━", "╸", "─") if thin else ("▄", "▖", TRACK)
    halves = round(min(1.0, max(0.0, value)) * width * 2)
    whole, rest = divmod(halves, 2)
    cells = [solid] * whole + [empty] * (width - whole)
    inks = [ink] * whole + ["track"] * (width - whole)
    if rest:
        cells[whole], inks[whole] = half, ink
    for place, glyph, mark_ink in marks:
        spot = min(width - 1, max(0, int(place * width)))
        if glyph != BUMP:
            cells[spot], inks[spot] = glyph, mark_ink
        elif cells[spot] in (solid, half, empty):
            cells[spot] = _THIN_BUMP if thin else BUMP
            inks[spot] = mark_ink if inks[spot] == "track" else inks[spot]
    return joined_cells(cells, inks)


def stack(parts: Sequence[tuple[float, str, str]], width: int) -> Line:
    """Shares of one bar side by side, each with its own glyph and style."""
    cells: list[str] = []
    inks: list[str] = []
    reached = 0.0
    for share, glyph, ink in parts:
        reached += max(0.0, share)
        more = min(width, round(reached * width)) - len(cells)
        cells += [glyph] * more
        inks += [ink] * more
    cells += [" "] * (width - len(cells))
    inks += ["plain"] * (width - len(inks))
    return joined_cells(cells, inks)


def sparkline(points: Sequence[float | None], high: float = 1.0) -> str:
    """Draw one glyph per point, a blank for a missing one."""
    reach = high or 1.0
    return "".join(" " if point is None else _SPARKS[min(7, max(0, int(point / reach * 7.999)))] for point in points)


def area(points: Sequence[float | None], height: int) -> list[str]:
    """Draw a curve over several lines, the top line first; even zero leaves a trace at the bottom."""
    most = height * 8
    levels = [0 if point is None else max(1, min(most, round(point * most))) for point in points]
    glyphs = " " * (most + 1) + _SPARKS + "█" * most
    return ["".join([glyphs[level + most - row * 8] for level in levels]) for row in range(height - 1, -1, -1)]


_DEEPEST = 8  # Levels that are drawn as such.


def tree_guides(depths: list[int]) -> list[str]:
    """The lines that lead to each row of a tree given by its depths, parents first.

    What is deeper than a card has room for stands at its last level, with its depth in words.
    """
    guides = []
    goes_on = [False] * (_DEEPEST + 1)
    for depth in reversed(depths):
        level = min(depth, _DEEPEST)
        cells = ["│ " if goes_on[above] else "  " for above in range(1, level)]
        if level:
            cells.append("├ " if goes_on[level] else "└ ")
        if depth > _DEEPEST:
            cells.append(f"{depth:,} deep ")
        guides.append("".join(cells))
        goes_on[level] = True
        goes_on[level + 1 :] = [False] * (_DEEPEST - level)
    return guides[::-1]


# The bit of each of the two by four dots of a cell, by column and row.
_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))


class Canvas:
    """Cells with a style each; later drawing covers earlier."""

    __slots__ = ("_cells", "_inks", "height", "width")

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self._cells = [[" "] * width for _ in range(height)]
        self._inks = [["plain"] * width for _ in range(height)]

    def put(self, x: int, y: int, text: str, ink: str = "plain") -> int:
        """Write text of single-width glyphs; what does not fit is left off. The cell after it."""
        if 0 <= y < self.height:
            cells, inks = self._cells[y], self._inks[y]
            for place, glyph in enumerate(text, x):
                if 0 <= place < self.width:
                    cells[place], inks[place] = glyph, ink
        return x + len(text)

    def lay(self, x: int, y: int, line: Line, most: int) -> None:
        """Write the pieces of a line that fit into the given cells; the first is cut if needed."""
        start, end = x, x + most
        for text, ink in line:
            if x + len(text) > end:
                if x == start:
                    self.put(x, y, text[: max(0, most)], ink)
                return
            x = self.put(x, y, text, ink)

    def frame(self, x: int, y: int, width: int, height: int, ink: str) -> None:
        """A box with round corners."""
        self.put(x, y, "╭" + "─" * (width - 2) + "╮", ink)
        for row in range(y + 1, y + height - 1):
            self.put(x, row, "│" + " " * (width - 2) + "│", ink)
        self.put(x, y + height - 1, "╰" + "─" * (width - 2) + "╯", ink)

    def stroke(self, start: tuple[float, float], end: tuple[float, float], ink: str, every: int = 1) -> None:
        """A straight line between two places, in braille dots; with `every` above 1, a dotted one."""
        across, down = (end[0] - start[0]) * 2, (end[1] - start[1]) * 4
        steps = max(1, round(max(abs(across), abs(down))))
        for step in range(0, steps + 1, every):
            self._dot(round(start[0] * 2 + across * step / steps), round(start[1] * 4 + down * step / steps), ink)

    def _dot(self, x: int, y: int, ink: str) -> None:
        column, row = x // 2, y // 4
        if not (0 <= column < self.width and 0 <= row < self.height):
            return
        there = self._cells[row][column]
        bits = ord(there) - 0x2800 if 0x2800 <= ord(there) <= 0x28FF else 0
        self._cells[row][column] = chr(0x2800 + (bits | _DOTS[x % 2][y % 4]))
        self._inks[row][column] = ink

    def lines(self) -> list[Line]:
        """Return the drawn lines."""
        return [joined_cells(cells, inks) for cells, inks in zip(self._cells, self._inks, strict=True)]
