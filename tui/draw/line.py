"""Lines of styled text, cut and wrapped to their cells; bars, curves, trees and braille drawings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.style import Style
from textual.color import Color

from core.engine.percept import AXES

# Pieces of text, each with the name of its style; text from a log must have gone through `plain`.
Line: TypeAlias = list[tuple[str, str]]


def fit(text: str, width: int) -> str:
    """Text cut or padded to exactly `width` cells, a cut shown by an ellipsis."""
    if width <= 0:
        return ""
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return set_cell_size(text, width - 1) + "…"


def first_fit(tries: Sequence[str], room: int) -> str:
    """The first wording that fits, else the last, cut."""
    return next((words for words in tries if cell_len(words) <= room), fit(tries[-1], room))


def wrapped(text: str, width: int) -> list[str]:
    """Break text after a space if one is near, otherwise inside a word; the indent stays."""
    lines: list[str] = []
    while cell_len(text) > width:
        piece: str = chop_cells(text, max(1, width))[0]
        space = piece.rfind(" ")
        if text[len(piece)] != " " and space > width // 2:
            piece = piece[: space + 1]
        lines.append(piece.rstrip())
        text = text[len(piece) :].removeprefix(" ")
    return [*lines, text]


def section(title: str, sentences: Iterable[tuple[str, str]], width: int) -> list[Line]:
    """A heading with sentences below it, each in its style, and a blank line."""
    lines: list[Line] = [[(title, "strong")]]
    for text, ink in sentences:
        lines += [[("  " + line, ink)] for line in wrapped(text, max(8, width - 2))]
    return [*lines, []]


def clipped(line: Line, width: int) -> Line:
    """A line that is too long, ended by an ellipsis."""
    if sum(cell_len(text) for text, _ in line) <= width:
        return line
    result: Line = []
    left = width
    for text, ink in line:
        cells = cell_len(text)
        if cells >= left:
            return [*result, (set_cell_size(text, max(0, left - 1)) + "…", ink)] if left > 0 else result
        result.append((text, ink))
        left -= cells
    return result


def joined_cells(cells: Sequence[str], inks: Sequence[str]) -> Line:
    """Single cells joined to pieces of one style each."""
    line: Line = []
    start, ink = 0, inks[0] if inks else ""
    for place, other in enumerate(inks):
        if other != ink:
            line.append(("".join(cells[start:place]), ink))
            start, ink = place, other
    if inks:
        line.append(("".join(cells[start:]), ink))
    return line


def overlaid(row: Line, cell: int, over: tuple[str, str]) -> Line:
    """A row with one of its cells covered."""
    line: Line = []
    for text, ink in row:
        if 0 <= cell < len(text):
            line += [(text[:cell], ink), over, (text[cell + 1 :], ink)]
        else:
            line.append((text, ink))
        cell -= len(text)
    return line


def path_end(name: str, room: int) -> str:
    """Shorten a path by its first folders, so that its end can be read."""
    while len(name) > room and "/" in name.removeprefix("…/"):
        name = "…/" + name.removeprefix("…/").partition("/")[2]
    if len(name) <= room or not room:
        return name
    name = name.removeprefix("…/")
    if len(name) <= room:
        return name
    head = (room - 1) // 3
    return name[:head] + "…" + name[-(room - 1 - head) :]


class StyleRule(NamedTuple):
    """A colour of the theme, its strength, and the style of the letters."""

    colour: str
    share: float = 1.0
    bold: bool = False
    reverse: bool = False
    tag: bool = False  # A word on a coloured background, for what must not be missed.


# `track` is the empty part of a bar; dim is for the past.
STYLES: dict[str, StyleRule] = {
    "plain": StyleRule("foreground"),
    "quiet": StyleRule("quiet"),
    "strong": StyleRule("foreground", bold=True),
    "alert": StyleRule("alert", bold=True),
    "live": StyleRule("live", bold=True),
    "threshold": StyleRule("threshold"),
    "baseline": StyleRule("baseline"),
    "cursor": StyleRule("foreground", reverse=True),
    "track": StyleRule("foreground", 0.16),
    "alert-tag": StyleRule("alert", bold=True, tag=True),
    "live-tag": StyleRule("live", bold=True, tag=True),
    **{axis: StyleRule(f"axis-{axis}") for axis in AXES},
    **{f"{axis}-tag": StyleRule(f"axis-{axis}", bold=True, tag=True) for axis in AXES},
    **{f"{axis}-dim": StyleRule(f"axis-{axis}", 0.45) for axis in AXES},
    **{f"heat-{step}": StyleRule(f"heat-{step}") for step in range(1, 5)},
}


def resolve_styles(variables: Mapping[str, str], ground: Color) -> dict[str, Style]:
    """Every style on this background; `variables` are the colours of the theme."""
    page = Color.parse(variables["background"])
    return {name: _style(ink, _colour(variables[ink.colour], ink.share), ground, page) for name, ink in STYLES.items()}


def _colour(colour_name: str, share: float) -> Color:
    """A colour as themes write it: a name or a number, and how much of it."""
    name, _, part = colour_name.partition(" ")
    return Color.parse(name).multiply_alpha(share * (float(part.rstrip("%")) / 100 if part else 1.0))


def _style(ink: StyleRule, colour: Color, ground: Color, page: Color) -> Style:
    under = ground + colour if ink.tag else ground
    over = under + (page if ink.tag else colour)
    return Style(color=over.rich_color, bgcolor=under.rich_color, bold=ink.bold or None, reverse=ink.reverse or None)


# Where on the bar, from 0 to 1; its glyph; its style. A bump keeps the style of a filled cell.
Mark = tuple[float, str, str]
BUMP = "▟"
TRACK = "▁"
_THIN_BUMP = "┻"


_SPARKS = "▁▂▃▄▅▆▇█"


def meter(value: float, width: int, ink: str, marks: Iterable[Mark] = (), *, thin: bool = False) -> Line:
    """Draw a bar from 0 to 1 that is lower than a line, so that bars on adjacent lines do not touch.

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
    """Return the guide lines in front of each row of a tree, given the depth of each row.

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
