"""A recording's events: the newest as they came, older ones packed until somebody looks."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable, Iterator, Sequence
from operator import eq
from typing import overload

import msgspec

from core.events import Event

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CHUNK = 64
"""Events that are packed together."""
FRESH = 256
"""Chunks that are not packed, the newest: a session of some hours is read as fast as a plain list."""
_LOOKED_AT = 64
"""Packed chunks kept open after somebody looked, of all recordings together."""
_LEVEL = 1

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[Event]).decode


class RecordedEvents(Sequence[Event]):
    """Events in the order they came; looking at one gives back exactly what was added.

    One thread may add while others read: a chunk is replaced whole, and nothing counts before it is there.
    """

    __slots__ = ("_chunks", "_count", "_last")

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self._chunks: list[list[Event] | bytes] = []
        self._last: list[Event] = []
        """The chunk that is being filled; none before the first event."""
        self._count = 0
        for event in events:
            self.append(event)

    @classmethod
    def unpacked(cls, chunks: Sequence[bytes]) -> RecordedEvents:
        """What `packed` gave; every event is checked."""
        made = cls()
        fresh = len(chunks) - FRESH
        for number, chunk in enumerate(chunks):
            events = _opened(chunk)
            if made._count % CHUNK or not 0 < len(events) <= CHUNK:
                raise ValueError("events are missing")
            made._last = list(events)
            made._chunks.append(made._last if number >= fresh else chunk)
            made._count += len(events)
        return made

    def packed(self) -> list[bytes]:
        """All events in as little room as they take here, to be kept on disk."""
        return [chunk if isinstance(chunk, bytes) else _pack(chunk) for chunk in self._chunks]

    def append(self, event: Event) -> None:
        """Add one at the end."""
        if self._count % CHUNK == 0:
            self._last = []
            self._chunks.append(self._last)
            self._settle(len(self._chunks) - FRESH - 1)
        self._last.append(event)
        self._count += 1

    def _settle(self, number: int) -> None:
        """Pack a chunk that is no longer among the newest, where it comes back as it was."""
        chunk = self._chunks[number] if number >= 0 else b""
        if isinstance(chunk, bytes):
            return
        try:
            raw = _encode(chunk)
            again = _decode(raw)
        except (msgspec.MsgspecError, OverflowError, UnicodeEncodeError, TypeError):
            return
        if again == chunk and _encode(again) == raw:
            self._chunks[number] = zstd.compress(raw, _LEVEL)

    def _chunk(self, number: int) -> list[Event]:
        chunk = self._chunks[number]
        return _opened(chunk) if isinstance(chunk, bytes) else chunk

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> Event: ...
    @overload
    def __getitem__(self, place: slice) -> list[Event]: ...
    def __getitem__(self, place: int | slice) -> Event | list[Event]:
        if isinstance(place, slice):
            start, stop, step = place.indices(self._count)
            if step != 1:
                return [self[each] for each in range(start, stop, step)]
            return self._between(start, stop)
        if place < 0:
            place += self._count
        if not 0 <= place < self._count:
            raise IndexError("no such event in the recording")
        chunk = self._chunks[place // CHUNK]
        if isinstance(chunk, bytes):
            chunk = _opened(chunk)
        return chunk[place % CHUNK]

    def _between(self, start: int, stop: int) -> list[Event]:
        found: list[Event] = []
        while start < stop:
            first = start % CHUNK
            piece = self._chunk(start // CHUNK)[first : first + stop - start]
            found += piece
            start += len(piece)
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RecordedEvents | list):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Iterator[Event]:
        """Those that are there when it begins."""
        total = self._count
        for start in range(0, total, CHUNK):
            yield from self._chunk(start // CHUNK)[: total - start]


def _pack(events: list[Event]) -> bytes:
    return zstd.compress(_encode(events), _LEVEL)


@functools.lru_cache(_LOOKED_AT)
def _opened(packed: bytes) -> list[Event]:
    return _decode(zstd.decompress(packed))
