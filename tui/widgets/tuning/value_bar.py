"""A value in few cells, and on a slider between its bounds."""

from __future__ import annotations

from typing import Any

from core.report.formatting import count, plain
from core.settings.draft import shape_of, value_text
from core.settings.group import Tunable
from tui.draw.line import Line, joined_cells


def value_summary(value: Any, tunable: Tunable) -> str:
    """A value in few cells."""
    if tunable.kind == "switch":
        return "on" if value else "off"
    if tunable.kind in ("number", "integer"):
        unit = tunable.unit if len(tunable.unit) <= 2 else ""
        return f"{number_text(value, tunable.step)} {unit}".strip()
    if tunable.kind == "table":
        return _held(tunable.name, value)
    return plain(value_text(value)) or "none"


def _held(name: str, value: Any) -> str:
    """How much a table holds."""
    shape = shape_of(name)
    if shape.form == "set":
        return f"{len(value)} of {len(shape.levels[0])}"
    noun = "word" if shape.form == "list" else "row"
    return count(len(value), noun) if value else "empty"


def number_text(value: float, step: float | None = None) -> str:
    """A number with as many decimals as its step asks for, or as it needs; nothing is 0."""
    if not value:
        return "0"
    if abs(value) >= 10_000:
        return f"{value / 1e6:g}M" if abs(value) >= 1e6 else f"{value / 1e3:g}k"
    said = f"{value:.4g}"
    least = len(f"{step:g}".partition(".")[2]) if step is not None and step < 1 else 0
    if len(said.partition(".")[2]) < least:
        said = f"{value:.{least}f}"
    return said.replace("0.", ".", 1) if said.startswith(("0.", "-0.")) else said


def slider(tunable: Tunable, value: float, width: int, *, edited: bool) -> Line:
    """A slider with the value and the built-in value on it."""
    cells, inks = ["─"] * width, ["track"] * width
    if tunable.low is None or tunable.high is None or tunable.high <= tunable.low:
        return joined_cells(cells, inks)
    place = _place(tunable, value, width)
    for cell in range(place):
        cells[cell], inks[cell] = "━", "live" if edited else "baseline"
    usual = _place(tunable, float(tunable.default), width)
    if usual != place:
        cells[usual], inks[usual] = "╵", "threshold"
    cells[place], inks[place] = "┃", "live" if edited else "strong"
    return joined_cells(cells, inks)


def _place(tunable: Tunable, value: float, width: int) -> int:
    low, high = tunable.low or 0.0, tunable.high or 1.0
    share = (value - low) / (high - low)
    return max(0, min(width - 1, round(share * (width - 1))))
