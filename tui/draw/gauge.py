"""Bars and curves as pieces of a line: half a cell fine, with marks laid over them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tui.draw.line import Line, joined_cells

Mark = tuple[float, str, str]
"""Where on the bar, from 0 to 1; its glyph; its style. A bump keeps the style of a filled cell."""
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
