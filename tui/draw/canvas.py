"""A small sheet of cells on which text, frames and fine braille lines are laid."""

from __future__ import annotations

from tui.draw.line import Line, joined_cells

_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
"""The bit of each of the two by four dots of a cell, by column and row."""


class Canvas:
    """Cells with an style each; what is laid later covers what was there."""

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
        """Write the pieces of a line that fit into so many cells; the first is cut if it must be."""
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
            self._dot(
                round(start[0] * 2 + across * step / steps), round(start[1] * 4 + down * step / steps), ink
            )

    def _dot(self, x: int, y: int, ink: str) -> None:
        column, row = x // 2, y // 4
        if not (0 <= column < self.width and 0 <= row < self.height):
            return
        there = self._cells[row][column]
        bits = ord(there) - 0x2800 if 0x2800 <= ord(there) <= 0x28FF else 0
        self._cells[row][column] = chr(0x2800 + (bits | _DOTS[x % 2][y % 4]))
        self._inks[row][column] = ink

    def lines(self) -> list[Line]:
        """What was drawn."""
        return [joined_cells(cells, inks) for cells, inks in zip(self._cells, self._inks, strict=True)]
