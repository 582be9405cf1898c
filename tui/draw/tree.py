"""The lines that lead to each row of a tree."""

from __future__ import annotations

_DEEPEST = 8
"""Levels that are drawn as such."""


def tree_guides(depths: list[int]) -> list[str]:
    """The lines that lead to each row of a tree given by its depths, parents first.

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
