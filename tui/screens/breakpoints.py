"""The sizes of the terminal at which a screen changes its layout."""

from __future__ import annotations

WIDTHS: list[tuple[int, str]] = [(0, "-narrow"), (100, "-wide"), (160, "-huge")]
HEIGHTS: list[tuple[int, str]] = [(0, "-low"), (32, "-tall"), (52, "-vast")]


def classes_for(width: int, height: int) -> str:
    """Return the classes of a screen of a size, for a screen that needs them from the start."""
    sides = (width, WIDTHS), (height, HEIGHTS)
    return " ".join(max(step for step in steps if step[0] <= side)[1] for side, steps in sides)
