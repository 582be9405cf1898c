"""A line of styled text: its styles, and how text is cut, padded and wrapped to the cells it has."""

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
