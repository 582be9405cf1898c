"""From which sizes of the terminal on a screen is laid out otherwise."""

from __future__ import annotations

WIDTHS: list[tuple[int, str]] = [(0, "-narrow"), (100, "-wide"), (160, "-huge")]
HEIGHTS: list[tuple[int, str]] = [(0, "-low"), (32, "-tall"), (52, "-vast")]
