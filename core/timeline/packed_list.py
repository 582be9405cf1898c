"""Lists that only grow, and the rows they contain: new rows as objects, older ones compressed until read."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import eq
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeVar, get_args, overload

import msgspec

from core.engine.percept import Cause
from core.zstd import zstd

# For pieces of a few kilobytes: what does not repeat is left as it is, which takes half the time of the usual level and
# a tenth more room.
_PIECES: dict[int, int] = {
    zstd.CompressionParameter.strategy: zstd.Strategy.fast,
    zstd.CompressionParameter.window_log: 18,
    zstd.CompressionParameter.hash_log: 9,
    zstd.CompressionParameter.min_match: 4,
    zstd.CompressionParameter.target_length: 3,
}
# One compressor for all: creating one takes longer than compressing a piece. It admits one thread at a time.
_packer = zstd.ZstdCompressor(options=_PIECES)


def compress_piece(content: bytes) -> bytes:
    """Compress a piece so that `zstd.decompress` knows its size."""
    return _packer.compress(content, _packer.FLUSH_FRAME)


T = TypeVar("T")
_encode = msgspec.msgpack.Encoder().encode


class _Packing:
    """Decodes rows of one kind."""

    __slots__ = ("decode", "opened")

    def __init__(self, kind: Any, looked_at: int) -> None:
        decode: Callable[[bytes], list[Any]] = msgspec.msgpack.Decoder(list[kind]).decode
        self.decode = decode
        self.opened = functools.lru_cache(looked_at)(lambda packed: decode(zstd.decompress(packed)))


# This file is not compiled: a compiled class cannot take the keywords that declare such a list.
class PackedList(Sequence[T]):
    """Rows of one kind in the order they came; looking at one gives back exactly what was added.

    One thread may add while others read: a chunk is replaced whole, and nothing counts before it is there.
    """

    __slots__ = ("_chunks", "_count", "_last")
    CHUNK: ClassVar[int]  # Rows that are packed together.
    FRESH: ClassVar[int]  # Chunks that are not packed, the newest.
    _packing: ClassVar[_Packing]

    def __init_subclass__(cls, *, kind: Any, chunk: int, fresh: int, looked_at: int) -> None:
        """Declare a list of one kind; `looked_at` chunks of all lists of the kind stay open after use."""
        super().__init_subclass__()
        cls.CHUNK, cls.FRESH, cls._packing = chunk, fresh, _Packing(kind, looked_at)

    def __init__(self, rows: Iterable[T] = ()) -> None:
        self._chunks: list[list[T] | bytes] = []
        self._last: list[T] = []  # The chunk that is being filled; none before the first row.
        self._count = 0
        for row in rows:
            self.append(row)

    @classmethod
    def unpacked(cls, chunks: Sequence[bytes]) -> Self:
        """Return the list that `packed` wrote; every row is checked."""
        unpacked_list = cls()
        fresh = len(chunks) - cls.FRESH
        for number, chunk in enumerate(chunks):
            rows = cls._packing.opened(chunk)
            if unpacked_list._count % cls.CHUNK or not 0 < len(rows) <= cls.CHUNK:
                raise ValueError("rows are missing")
            unpacked_list._last = list(rows)
            unpacked_list._chunks.append(unpacked_list._last if number >= fresh else chunk)
            unpacked_list._count += len(rows)
        return unpacked_list

    def packed(self) -> list[bytes]:
        """Return all rows, compressed, to be stored on disk."""
        return [chunk if isinstance(chunk, bytes) else compress_piece(_encode(chunk)) for chunk in self._chunks]

    def append(self, row: T) -> None:
        """Add one at the end."""
        if self._count % self.CHUNK == 0:
            self._last = []
            self._chunks.append(self._last)
            self._settle(len(self._chunks) - self.FRESH - 1)
        self._last.append(row)
        self._count += 1

    def head(self, count: int) -> Self:
        """The first `count` rows as a list of their own."""
        head, whole = type(self)(), count // self.CHUNK
        head._chunks, head._count = self._chunks[:whole], whole * self.CHUNK
        for row in self._between(head._count, count):
            head.append(row)
        return head

    def _settle(self, number: int) -> None:
        """Compress a chunk once newer chunks follow it, if it decodes to the same rows."""
        chunk = self._chunks[number] if number >= 0 else b""
        if isinstance(chunk, bytes):
            return
        try:
            raw = _encode(chunk)
            again = self._packing.decode(raw)
        except (msgspec.MsgspecError, OverflowError, UnicodeEncodeError, TypeError):
            return
        if again == chunk and _encode(again) == raw:
            self._chunks[number] = compress_piece(raw)

    def _chunk(self, number: int) -> list[T]:
        chunk = self._chunks[number]
        return self._packing.opened(chunk) if isinstance(chunk, bytes) else chunk

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> list[T]: ...
    def __getitem__(self, place: int | slice) -> T | list[T]:
        if isinstance(place, slice):
            start, stop, step = place.indices(self._count)
            if step != 1:
                return [self[each] for each in range(start, stop, step)]
            return self._between(start, stop)
        if place < 0:
            place += self._count
        if not 0 <= place < self._count:
            raise IndexError("no such row in the recording")
        chunk = self._chunks[place // self.CHUNK]
        if isinstance(chunk, bytes):
            chunk = self._packing.opened(chunk)
        return chunk[place % self.CHUNK]

    def _between(self, start: int, stop: int) -> list[T]:
        rows: list[T] = []
        while start < stop:
            first = start % self.CHUNK
            piece = self._chunk(start // self.CHUNK)[first : first + stop - start]
            rows += piece
            start += len(piece)
        return rows

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PackedList | list):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Iterator[T]:
        """Iterate over the rows present at the start."""
        total = self._count
        for start in range(0, total, self.CHUNK):
            yield from self._chunk(start // self.CHUNK)[: total - start]


MarkKind = Literal[
    "prompt", "signal", "state", "regime", "halt", "compaction", "shift", "quarantine", "dream", "agent", "advice",
    "method", "background",
]  # fmt: skip
MARK_KINDS: tuple[MarkKind, ...] = get_args(MarkKind)


class Mark(NamedTuple):
    """Something that happened with one event."""

    place: int  # The event's place in the recording, from 0.
    at: float
    agent: str
    kind: MarkKind
    name: str
    weight: float = 0.0  # Its strength, if known.
    causes: tuple[Cause, ...] = ()  # What moved a signal's axes most.


class RecordedMarks(PackedList[Mark], kind=Mark, chunk=128, fresh=4, looked_at=512):
    """Marks in the order they came."""

    __slots__ = ()


class MethodText(NamedTuple):
    """The text of a method at one event."""

    place: int
    method: str
    text: str


class MethodTexts(PackedList[MethodText], kind=MethodText, chunk=128, fresh=2, looked_at=2):
    """Texts of methods in order."""

    __slots__ = ()
