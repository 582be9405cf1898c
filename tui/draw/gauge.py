"""Bars and curves as pieces of a line: half a cell fine, with a groove and marks laid over them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tui.widgets.common.panel import Line

if TYPE_CHECKING:
    from core.timeline.track import Track

Mark = tuple[float, str, str]
"""Where on the bar, from 0 to 1; its glyph; its ink. A bump keeps the ink of a filled cell."""
BUMP = "▟"
GROOVE = "▁"
_THIN_BUMP = "┻"

Points = list[float | None]
"""A curve, one value a cell; None where there is none."""

_SPARKS = "▁▂▃▄▅▆▇█"


def runs(cells: Sequence[str], inks: Sequence[str]) -> Line:
    """Single cells joined to pieces of one ink each."""
    line: Line = []
    start, ink = 0, inks[0] if inks else ""
    for place, other in enumerate(inks):
        if other != ink:
            line.append(("".join(cells[start:place]), ink))
            start, ink = place, other
    if inks:
        line.append(("".join(cells[start:]), ink))
    return line


def meter(value: float, width: int, ink: str, marks: Iterable[Mark] = (), *, thin: bool = False) -> Line:
    """A bar from 0 to 1 that leaves air above it, so that bars on adjacent lines do not touch.

    Its groove is lower than the bar, so that both can be told apart without colour.
    """
    if width <= 0:
        return []
    solid, half, groove = ("━", "╸", "─") if thin else ("▄", "▖", GROOVE)
    halves = round(min(1.0, max(0.0, value)) * width * 2)
    whole, rest = divmod(halves, 2)
    cells = [solid] * whole + [groove] * (width - whole)
    inks = [ink] * whole + ["track"] * (width - whole)
    if rest:
        cells[whole], inks[whole] = half, ink
    for place, glyph, mark_ink in marks:
        spot = min(width - 1, max(0, int(place * width)))
        if glyph != BUMP:
            cells[spot], inks[spot] = glyph, mark_ink
        elif cells[spot] in (solid, half, groove):
            cells[spot] = _THIN_BUMP if thin else BUMP
            inks[spot] = mark_ink if inks[spot] == "track" else inks[spot]
    return runs(cells, inks)


def stack(parts: Sequence[tuple[float, str, str]], width: int) -> Line:
    """Shares of one bar side by side, each with its own glyph and ink."""
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
    return runs(cells, inks)


def curves(
    track: Track, names: Sequence[str], stop: int, since: float, until: float, width: int
) -> list[Points]:
    """Columns over a stretch of time in `width` equal steps: the greatest value in each.

    A step without an event repeats the one before; None stands for the time before the first event.
    Times count from the track's origin, rows from `stop` on are not looked at.
    """
    columns = track.columns
    low, high = 0, max(0, min(stop, len(columns)))
    last = high
    while low < high:
        middle = (low + high) // 2
        if columns.value("at", middle) < since:
            low = middle + 1
        else:
            high = middle
    first = max(0, low - 1)
    if first >= last or until <= since:
        return [[None] * max(0, width) for _ in names]
    at = columns.column("at", first, last)
    cells = np.clip((at - since) / (until - since) * width, 0, width - 1).astype(np.intp)
    edges = np.flatnonzero(np.diff(cells, prepend=-1))
    filled = np.searchsorted(edges, np.searchsorted(cells, np.arange(width), "right") - 1, "right") - 1
    sources = filled.tolist()
    made: list[Points] = []
    for name in names:
        tops = np.maximum.reduceat(columns.column(name, first, last), edges).tolist()
        made.append([None if source < 0 else tops[source] for source in sources])
    return made


def sparkline(points: Sequence[float | None], high: float = 1.0) -> str:
    """One glyph a point, a blank where there is none."""
    reach = high or 1.0
    return "".join(
        " " if point is None else _SPARKS[min(7, max(0, int(point / reach * 7.999)))] for point in points
    )


def area(points: Sequence[float | None], height: int) -> list[str]:
    """The same over several lines, the top line first; even nothing leaves a trace at the bottom."""
    most = height * 8
    levels = [0 if point is None else max(1, min(most, round(point * most))) for point in points]
    glyphs = " " * (most + 1) + _SPARKS + "█" * most
    return [
        "".join([glyphs[level + most - row * 8] for level in levels]) for row in range(height - 1, -1, -1)
    ]
