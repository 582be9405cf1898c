"""Columns that the feed fills while the screen draws from them."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from core.timeline.columns import Columns, Numbers
from core.timeline.timeline import Timeline


class SharedColumns(Columns):
    """Columns behind a lock, since even reading settles the newest rows."""

    __slots__ = ("_lock",)

    def __init__(self, columns: Columns) -> None:
        self._lock = threading.RLock()
        for name in Columns.__slots__:
            setattr(self, name, getattr(columns, name))

    def __len__(self) -> int:
        with self._lock:
            return super().__len__()

    def append(self, row: Sequence[float]) -> None:
        with self._lock:
            super().append(row)

    def column(self, name: str, start: int = 0, stop: int | None = None) -> Numbers:
        with self._lock:
            return super().column(name, start, stop)

    def value(self, name: str, row: int) -> float:
        with self._lock:
            return super().value(name, row)

    def envelope(self, name: str, start: int, stop: int, width: int) -> tuple[Numbers, Numbers]:
        with self._lock:
            return super().envelope(name, start, stop, width)


def share(timeline: Timeline) -> None:
    """Make every track of a recording safe to draw from another thread."""
    for track in timeline.tracks.values():
        if type(track.columns) is Columns:
            track.columns = SharedColumns(track.columns)
