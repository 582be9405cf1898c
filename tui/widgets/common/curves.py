"""Curves of a track: its columns over a stretch of time, one value a cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.timeline.run import Track

Points = list[float | None]
"""A curve, one value a cell; None where there is none."""


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
