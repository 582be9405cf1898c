"""A line of styled text, and how text is cut, padded and wrapped to the cells it has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from rich.cells import cell_len, chop_cells, set_cell_size

Line: TypeAlias = list[tuple[str, str]]
"""Pieces of text, each with the name of its style; text from a log must have gone through `plain`."""


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
    """Text broken after a space where one is near, inside a word where none is; its indent stays."""
    lines: list[str] = []
    while cell_len(text) > width:
        piece: str = chop_cells(text, max(1, width))[0]
        space = piece.rfind(" ")
        if text[len(piece)] != " " and space > width // 2:
            piece = piece[: space + 1]
        lines.append(piece.rstrip())
        text = text[len(piece) :].removeprefix(" ")
    return [*lines, text]


def clipped(line: Line, width: int) -> Line:
    """A line that is too long, ended by an ellipsis."""
    if sum(cell_len(text) for text, _ in line) <= width:
        return line
    made: Line = []
    left = width
    for text, ink in line:
        taken = cell_len(text)
        if taken >= left:
            return [*made, (set_cell_size(text, max(0, left - 1)) + "…", ink)] if left > 0 else made
        made.append((text, ink))
        left -= taken
    return made


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


def path_end(name: str, room: int) -> str:
    """A path with its first folders left out where it is too long, so that its end can be read."""
    while len(name) > room and "/" in name.removeprefix("…/"):
        name = "…/" + name.removeprefix("…/").partition("/")[2]
    if len(name) <= room or not room:
        return name
    head = (room - 1) // 3
    return name[:head] + "…" + name[-(room - 1 - head) :]
