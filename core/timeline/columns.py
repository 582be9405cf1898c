"""Columns of readings, one row an event, that grow without being copied."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float32]

_ROWS = 4096
_FRESH = 256
_FAN = 8


class Columns:
    """A table of float32 kept in blocks; a column's envelope costs the width drawn, not the length."""

    __slots__ = ("_blocks", "_fresh", "_index", "_pyramids", "_used", "names")

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._index = {name: position for position, name in enumerate(self.names)}
        self._blocks: list[Numbers] = []
        self._used = _ROWS
        self._fresh: list[Sequence[float]] = []
        self._pyramids: dict[str, Pyramid] = {}

    def __len__(self) -> int:
        return (len(self._blocks) - 1) * _ROWS + self._used + len(self._fresh)

    def append(self, row: Sequence[float]) -> None:
        """Add one row, in the order of `names`."""
        self._fresh.append(row)
        if len(self._fresh) == _FRESH:
            self._settle()

    def extend(self, rows: NDArray[np.floating]) -> None:
        """Add many rows at once, one row of the array an event."""
        self._settle()
        taken = 0
        while taken < len(rows):
            if self._used == _ROWS:
                self._blocks.append(np.empty((len(self.names), _ROWS), np.float32))
                self._used = 0
            count = min(_ROWS - self._used, len(rows) - taken)
            self._blocks[-1][:, self._used : self._used + count] = rows[taken : taken + count].T
            self._used += count
            taken += count

    def _settle(self) -> None:
        if self._fresh:
            rows, self._fresh = self._fresh, []
            self.extend(np.array(rows, np.float32))

    def truncate(self, length: int) -> None:
        """Forget every row from `length` on."""
        if length >= len(self):
            return
        self._settle()
        whole, part = divmod(length, _ROWS)
        self._blocks = self._blocks[: whole + (1 if part else 0)]
        self._used = part or _ROWS
        self._pyramids.clear()

    def column(self, name: str, start: int = 0, stop: int | None = None) -> Numbers:
        """A copy of the rows `start` to `stop` of one column."""
        self._settle()
        place = self._index[name]
        stop = len(self) if stop is None else min(stop, len(self))
        start = max(0, start)
        if start >= stop:
            return np.empty(0, np.float32)
        first, last = start // _ROWS, (stop - 1) // _ROWS
        pieces = [self._blocks[block][place] for block in range(first, last + 1)]
        pieces[-1] = pieces[-1][: stop - last * _ROWS]
        pieces[0] = pieces[0][start - first * _ROWS :]
        return pieces[0].copy() if len(pieces) == 1 else np.concatenate(pieces)

    def value(self, name: str, row: int) -> float:
        """One cell."""
        self._settle()
        return float(self._blocks[row // _ROWS][self._index[name], row % _ROWS])

    def envelope(self, name: str, start: int, stop: int, width: int) -> tuple[Numbers, Numbers]:
        """Least and greatest value in each of `width` equal stretches of the rows `start` to `stop`.

        Over long stretches a value may be counted to its neighbour, never further than a quarter of one.
        """
        stop = min(stop, len(self))
        start = max(0, start)
        if width <= 0 or start >= stop:
            return np.empty(0, np.float32), np.empty(0, np.float32)
        pyramid = self._pyramids.setdefault(name, Pyramid())
        pyramid.grow(self, name)
        return pyramid.envelope(self, name, start, stop, min(width, stop - start))


class Pyramid:
    """Least and greatest values of ever longer runs of one column, made when first drawn."""

    __slots__ = ("_highs", "_lows", "_seen")

    def __init__(self) -> None:
        self._lows: list[Numbers] = []
        self._highs: list[Numbers] = []
        self._seen = 0

    def grow(self, columns: Columns, name: str) -> None:
        """Take in the rows that came since the last drawing."""
        length = len(columns)
        if length // _FAN == self._seen // _FAN:
            return
        fresh_from = self._seen // _FAN * _FAN
        lows = highs = columns.column(name, fresh_from, length // _FAN * _FAN)
        self._seen = length
        level = 0
        while len(lows) >= 1:
            whole = len(lows) // _FAN * _FAN
            if whole == 0:
                break
            lows = lows[:whole].reshape(-1, _FAN).min(axis=1)
            highs = highs[:whole].reshape(-1, _FAN).max(axis=1)
            if level == len(self._lows):
                self._lows.append(np.empty(0, np.float32))
                self._highs.append(np.empty(0, np.float32))
            carried = len(self._lows[level]) // _FAN * _FAN
            self._lows[level] = np.concatenate([self._lows[level], lows])
            self._highs[level] = np.concatenate([self._highs[level], highs])
            lows = self._lows[level][carried:]
            highs = self._highs[level][carried:]
            level += 1

    def envelope(
        self, columns: Columns, name: str, start: int, stop: int, width: int
    ) -> tuple[Numbers, Numbers]:
        """Reduce from the coarsest level that still has a few runs in each stretch."""
        span = (stop - start) / width
        level, run = -1, 1
        while level + 1 < len(self._lows) and run * _FAN * 4 <= span:
            level += 1
            run *= _FAN
        if level < 0:
            lows = highs = columns.column(name, start, stop)
        else:
            first = -(-start // run)
            last = min(stop // run, len(self._lows[level]))
            head = columns.column(name, start, min(first * run, stop))
            tail = columns.column(name, max(last * run, start), stop) if last >= first else head[:0]
            return _merge(
                width,
                [
                    (head, head, start, 1),
                    (self._lows[level][first:last], self._highs[level][first:last], first * run, run),
                    (tail, tail, max(last * run, start), 1),
                ],
                start,
                stop,
            )
        return _merge(width, [(lows, highs, start, 1)], start, stop)


def _merge(
    width: int, pieces: list[tuple[Numbers, Numbers, int, int]], start: int, stop: int
) -> tuple[Numbers, Numbers]:
    low = np.full(width, np.inf, np.float32)
    high = np.full(width, -np.inf, np.float32)
    scale = width / (stop - start)
    for lows, highs, begin, run in pieces:
        if len(lows) == 0:
            continue
        cells = ((np.arange(len(lows)) * run + (begin - start)) * scale).astype(np.intp)
        edges = np.flatnonzero(np.diff(cells, prepend=-1))
        low[cells[edges]] = np.minimum(low[cells[edges]], np.minimum.reduceat(lows, edges))
        high[cells[edges]] = np.maximum(high[cells[edges]], np.maximum.reduceat(highs, edges))
    return low, high
