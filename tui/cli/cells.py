"""How wide text stands on a terminal."""

from __future__ import annotations


def cell_len(text: str) -> int:
    """Columns that a text takes; only one with wide or strange letters has to be looked up."""
    if text.isascii() and text.isprintable():
        return len(text)
    from rich import cells

    return cells.cell_len(text)
