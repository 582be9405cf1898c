"""Columns of readings, one row per event, that grow without being copied; old blocks are compressed."""

from __future__ import annotations

import functools
import threading
from collections.abc import Sequence
from struct import Struct
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from core.timeline.packed_list import compress_piece
from core.zstd import zstd

Numbers = NDArray[np.float32]
PackedBlock: TypeAlias = tuple[bytes, ...]  # The columns of a block, each compressed.
# Blocks, the number of rows in them, and the newer rows, each packed.
_Stand: TypeAlias = tuple[list[Numbers | PackedBlock], int, list[bytes]]

ROWS = 1024  # Rows of a block.
OPEN = 4  # Blocks that are not packed, the one that is being filled among them: all of most sessions.
# Compressed columns of blocks that stay open after use, of all recordings together, 4 kB each: the few columns that are
# drawn of a million rows.
_LOOKED_AT = 4096
_FRESH = 256
_FAN = 8
_SMALL = 16  # Rows that a first block has room for at least: most of many sub-agents never need more.


class Columns:
    """A table of float32 in blocks; the cost of an envelope depends on the width drawn, not on the length.

    One thread may add rows while others read: a reader uses one tuple, which is replaced as a whole.
    """

    __slots__ = ("_drawing", "_fresh", "_index", "_last", "_pack", "_pyramids", "_stand", "names")

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._index = {name: position for position, name in enumerate(self.names)}
        self._pack = Struct(f"{len(self.names)}f").pack
        self._fresh: list[bytes] = []
        self._stand: _Stand = ([], 0, self._fresh)
        self._last: Numbers = np.empty((len(self.names), 0), np.float32)  # The block that is being filled.
        self._pyramids: dict[str, Pyramid] = {}
        self._drawing = threading.Lock()

    @classmethod
    def unpacked(cls, names: Sequence[str], blocks: Sequence[Sequence[bytes]]) -> Columns:
        """Return the columns that `packed` wrote; `ValueError` if it is not a table of these columns."""
        columns = cls(names)
        settled = max(0, len(blocks) - OPEN)
        for number, pieces in enumerate(blocks):
            sizes = {zstd.get_frame_info(piece).decompressed_size for piece in pieces}
            if len(pieces) != len(columns.names) or (number + 1 < len(blocks) and sizes != {4 * ROWS}):
                raise ValueError("readings are missing")
        columns._stand = ([tuple(pieces) for pieces in blocks[:settled]], settled * ROWS, columns._fresh)
        for pieces in blocks[settled:]:
            columns._put(np.stack([_unpacked(piece) for piece in pieces]).T)
        return columns

    def packed(self) -> list[PackedBlock]:
        """Return all rows, compressed, to be stored on disk."""
        blocks, settled, _ = self._stand
        packed_blocks: list[PackedBlock] = []
        for start in range(0, len(self), ROWS):
            block = blocks[start // ROWS] if start < settled else None
            if not isinstance(block, tuple):
                block = tuple([_packed_column(self.column(name, start, start + ROWS)) for name in self.names])
            packed_blocks.append(block)
        return packed_blocks

    def __len__(self) -> int:
        _, settled, fresh = self._stand
        return settled + len(fresh)

    def append(self, row: Sequence[float]) -> None:
        """Add one row, in the order of `names`; a value too large for a cell becomes infinite."""
        fresh = self._fresh
        fresh.append(self._pack(*row))
        if len(fresh) == _FRESH:
            self._put(self._rows(fresh))

    def extend(self, rows: NDArray[np.floating]) -> None:
        """Add many rows at once, one per event."""
        if self._fresh:
            self._put(self._rows(self._fresh))
        self._put(rows)

    def head(self, count: int) -> Columns:
        """The first `count` rows as a table of their own."""
        columns = Columns(self.names)
        blocks, settled, _ = self._stand
        whole = min(count, settled) // ROWS
        columns._stand = (blocks[:whole], whole * ROWS, columns._fresh)
        if count > whole * ROWS:
            columns._put(np.stack([self.column(name, whole * ROWS, count) for name in self.names]).T)
        return columns

    def _rows(self, packed: list[bytes]) -> Numbers:
        return np.frombuffer(b"".join(packed), np.float32).reshape(-1, len(self.names))

    def _put(self, rows: NDArray[np.floating]) -> None:
        """Lay rows into blocks, in place of the fresh ones."""
        blocks, settled, _ = self._stand
        start = 0
        while start < len(rows):
            used = (settled + start) % ROWS
            count = min(ROWS - used, len(rows) - start)
            if used == 0:
                self._last = np.empty((len(self.names), ROWS if blocks else _room(count)), np.float32)
                blocks.append(self._last)
                _settle(blocks, len(blocks) - OPEN - 1)
            elif used + count > self._last.shape[1]:
                grown = np.empty((len(self.names), _room(used + count)), np.float32)
                grown[:, :used] = self._last[:, :used]
                blocks, self._last = [grown], grown
            self._last[:, used : used + count] = rows[start : start + count].T
            start += count
        self._fresh = []
        self._stand = (blocks, settled + start, self._fresh)

    def column(self, name: str, start: int = 0, stop: int | None = None) -> Numbers:
        """A copy of the rows `start` to `stop` of one column."""
        blocks, settled, fresh = self._stand
        place, length = self._index[name], settled + len(fresh)
        stop = length if stop is None else min(stop, length)
        start = max(0, start)
        if start >= stop:
            return np.empty(0, np.float32)
        pieces: list[Numbers] = []
        if start < settled:
            end = min(stop, settled)
            first, last = start // ROWS, (end - 1) // ROWS
            pieces = [_piece(blocks[block], place) for block in range(first, last + 1)]
            pieces[-1] = pieces[-1][: end - last * ROWS]
            pieces[0] = pieces[0][start - first * ROWS :]
        if stop > settled:
            newest = fresh[max(0, start - settled) : stop - settled]
            pieces.append(self._rows(newest)[:, place])
        return pieces[0].copy() if len(pieces) == 1 else np.concatenate(pieces)

    def value(self, name: str, row: int) -> float:
        """One cell."""
        blocks, settled, fresh = self._stand
        place = self._index[name]
        if row < settled:
            return float(_piece(blocks[row // ROWS], place)[row % ROWS])
        return float(np.frombuffer(fresh[row - settled], np.float32)[place])

    def envelope(self, name: str, start: int, stop: int, width: int) -> tuple[Numbers, Numbers]:
        """Least and greatest value in each of `width` equal stretches of the rows `start` to `stop`.

        Over long stretches a value may be counted to its neighbour, never further than a quarter of one.
        """
        stop = min(stop, len(self))
        start = max(0, start)
        if width <= 0 or start >= stop:
            return np.empty(0, np.float32), np.empty(0, np.float32)
        with self._drawing:
            pyramid = self._pyramids.setdefault(name, Pyramid())
            pyramid.grow(self, name)
            return pyramid.envelope(self, name, start, stop, min(width, stop - start))


def _settle(blocks: list[Numbers | PackedBlock], number: int) -> None:
    """Compress a block once newer blocks follow it."""
    block = blocks[number] if number >= 0 else ()
    if not isinstance(block, tuple):
        blocks[number] = tuple(map(_packed_column, block))


def _packed_column(column: Numbers) -> bytes:
    return compress_piece(column.tobytes())


@functools.lru_cache(_LOOKED_AT)
def _unpacked(piece: bytes) -> Numbers:
    return np.frombuffer(zstd.decompress(piece), np.float32)


def _piece(block: Numbers | PackedBlock, place: int) -> Numbers:
    """One column of a block."""
    return _unpacked(block[place]) if isinstance(block, tuple) else block[place]


def _room(rows: int) -> int:
    """Return the size of a first block for a number of rows."""
    return min(ROWS, max(_SMALL, 1 << (rows - 1).bit_length()))


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
        while whole := len(lows) // _FAN * _FAN:
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

    def envelope(self, columns: Columns, name: str, start: int, stop: int, width: int) -> tuple[Numbers, Numbers]:
        """Reduce from the coarsest level that still has a few runs in each stretch."""
        span = (stop - start) / width
        level, run = -1, 1
        while level + 1 < len(self._lows) and run * _FAN * 4 <= span:
            level += 1
            run *= _FAN
        if level < 0:
            values = columns.column(name, start, stop)
            return _merge(width, [(values, values, start, 1)], start, stop)
        first = -(-start // run)
        last = min(stop // run, len(self._lows[level]))
        head = columns.column(name, start, min(first * run, stop))
        tail = columns.column(name, max(last * run, start), stop) if last >= first else head[:0]
        middle = self._lows[level][first:last], self._highs[level][first:last], first * run, run
        pieces = [(head, head, start, 1), middle, (tail, tail, max(last * run, start), 1)]
        return _merge(width, pieces, start, stop)


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
