"""Cuts a log of any size into lines, one chunk at a time, and decodes JSON and times without trusting them."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar, cast, overload

import msgspec

from core.events import Where
from core.logs.log_files import open_log

T = TypeVar("T")

FAULTS = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)  # Errors of decoding the content of a log.
OBJECT = dict[str, msgspec.Raw]  # An object whose values are left as they are.


@overload
def decoded(data: bytes | str | msgspec.Raw) -> Any: ...


@overload
def decoded(data: bytes | str | msgspec.Raw, kind: type[T]) -> T | None: ...


def decoded(data: bytes | str | msgspec.Raw, kind: Any = Any) -> Any:
    """Return the JSON value in some bytes; None if there is none of this kind."""
    try:
        return msgspec.json.decode(data, type=kind)
    except FAULTS:
        return None


_LATEST = 32_503_680_000.0  # The year 3000: a larger epoch number counts milliseconds, microseconds or nanoseconds.
_parsed = datetime.fromisoformat


def seconds(value: Any) -> float | None:
    """Return the epoch seconds of an ISO text (UTC by default) or an epoch number, else None."""
    if type(value) is str:
        return _from_text(value.strip())
    if type(value) is int or type(value) is float:
        return _from_number(float(value)) if abs(value) < 1e300 else None
    return None


def _from_text(text: str) -> float | None:
    try:
        moment = _parsed(text)
        at = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        try:
            return _from_number(float(text))
        except ValueError:
            return None
    return at if at >= 0.0 else None


def _from_number(at: float) -> float | None:
    if not math.isfinite(at) or at < 0.0:
        return None
    for _ in range(3):
        if at <= _LATEST:
            return at
        at /= 1000.0
    return at if at <= _LATEST else None


if sys.version_info >= (3, 14):
    from compression.zstd import ZstdError, ZstdFile, decompress
else:
    from backports.zstd import ZstdError, ZstdFile, decompress


_SEAM = re.compile(rb"\}[\0 \t\r]*[^\0 \t\r]")
_BLANK = re.compile(r"[\0 \t\r]*")
_MOST = 10_000  # Objects on one line; one with more was not written by an agent and stays a broken line.
# Only where an object ends matters, and a number may have more digits than Python turns into one.
_scan = json.JSONDecoder(parse_int=len, strict=False).raw_decode


def glued_objects(record: bytes, where: Where) -> list[tuple[bytes, Where]]:
    """Return each whole object at the start of a line, then the rest, each with its place in the file.

    Empty if the line is a single object, does not begin with one, or contains very many. A reader of a
    growing log sees the first object before the next is written; a later reader must see the same.
    """
    if b"\n" in record or not _SEAM.search(record):
        return []
    text = record.decode("latin-1")
    parts: list[tuple[bytes, Where]] = []
    begin = 0
    while begin < len(text):
        end = _end_of_object(text, begin)
        if not end:
            if not parts:
                return []
            end = len(text)
        place = Where(where.file, where.offset + begin, end - begin, where.entry)
        parts.append((record[begin:end], place))
        if len(parts) > _MOST:
            return []
        blank = _BLANK.match(text, end)
        begin = blank.end() if blank is not None else end
    return parts if len(parts) > 1 else []


def _end_of_object(text: str, begin: int) -> int:
    """Return where the object at a place ends; 0 if there is none, or only half of one."""
    if text[begin] != "{":
        return 0
    try:
        return int(_scan(text, begin)[1])
    except (ValueError, RecursionError):
        return 0


CHUNK = 1 << 20  # Bytes read from the file system at once.
PIECE = 1 << 18  # The same for a search, whose pieces are copied: memory of this size is used again at once.
LONGEST = 64 << 20  # A line of more bytes than this is passed over.

Note = Callable[[int, str], None]  # Receives the line's number and what is wrong with it.
# Whether a line from `{` to `}` can be ignored at a glance, with or without its line end.
Passes = Callable[[bytes], bool]

TOGETHER = 1 << 17  # Bytes whose lines are read together, few enough for the processor's cache.

_SHUT = ord("}")
_make = tuple.__new__  # Builds a named tuple without its Python-level constructor: one is made for every line.
PACKED = b"\x28\xb5\x2f\xfd"  # The first bytes of a file that is packed with zstd.
_MARK = b"\xef\xbb\xbf"


class Line(NamedTuple):
    """One line without its end, and its place in the (unpacked) file."""

    data: bytes
    offset: int
    number: int  # 1 is the first.


class LineCutter:
    """Turns chunks into complete lines and retains an unfinished last one.

    However a file is cut into chunks, the lines are the same. Blank lines are dropped; numbers count them.
    """

    __slots__ = ("_given", "_held", "_longest", "_note", "_number", "_offset", "_parts")

    def __init__(self, note: Note, longest: int = LONGEST, offset: int = 0, number: int = 1) -> None:
        self._note = note
        self._longest = longest
        self._parts: list[bytes] = []
        self._held = 0
        self._given = 0  # Bytes of the unfinished line that were given ahead of its end.
        self._offset = offset
        self._number = number

    @property
    def position(self) -> int:
        """The place of the next chunk."""
        return self._offset + self._held

    def feed(self, chunk: bytes) -> list[Line]:
        """The lines that this chunk completes."""
        return [line for lines in self.batches(chunk) for line in lines]

    def batches(self, chunk: bytes, passes: Passes | None = None) -> Iterator[list[Line]]:
        """Yield complete lines in batches, without the lines that `passes` skips.

        A fault of a line is reported after all lines before it.
        """
        lines: list[Line] = []
        begin, base, number, pending = 0, self.position, self._number, self._held
        full, longest, find = TOGETHER, self._longest, chunk.find
        while (end := find(b"\n", begin)) >= 0:
            piece = chunk[begin:end]
            if piece[:1] == b"{" and piece[-1] == _SHUT and end - begin <= longest and not pending:
                if passes is None or not passes(piece):
                    lines.append(_make(Line, (piece, base + begin, number)))
                    if end >= full:
                        yield lines
                        lines, full = [], end + TOGETHER
            else:
                if lines:
                    yield lines
                    lines = []
                line = self._close(piece, end - begin + pending, base + begin - pending, number)
                pending = 0
                if line is not None and not _is_ignored(line, passes):
                    yield [line]
            begin = end + 1
            number += 1
        if lines:
            yield lines
        if begin:
            self._offset, self._number = base + begin, number
        if begin < len(chunk):
            self._hold(chunk[begin:])

    def whole(self) -> Line | None:
        """Return the unfinished last line once if it is a whole object.

        What follows it is a line of its own.
        """
        last = self._parts[-1] if self._parts else b""
        if self._given or not last.rstrip(b"\0 \t\r").endswith(b"}"):
            return None
        line = _trim_line(b"".join(self._parts), self._offset, self._number, _ignore_fault)
        if line is None or not _is_object(line.data):
            return None
        self._given = self._held
        self._parts.clear()
        return line

    def rest(self) -> Line | None:
        """Return the text after the last line end as a line."""
        if not self._held:
            return None
        length = self._held
        line = self._close(b"", length, self._offset, self._number)
        self._offset += length
        return line

    def _hold(self, piece: bytes) -> None:
        self._held += len(piece)
        if self._held - self._given > self._longest:
            self._parts.clear()
        else:
            self._parts.append(piece)

    def _close(self, piece: bytes, length: int, offset: int, number: int) -> Line | None:
        """Return a line that may have come in parts, trimmed."""
        if self._parts:
            self._parts.append(piece)
            piece = b"".join(self._parts)
            self._parts.clear()
        early, self._held, self._given = self._given, 0, 0
        if length - early > self._longest:
            self._note(number, "line too long")
            return None
        return _trim_line(piece, offset + early, number, _ignore_fault if early else self._note)


def _ignore_fault(_number: int, _reason: str) -> None:
    """Ignore a fault of a line that is not complete, or of a blank one behind an object."""


def _is_object(data: bytes) -> bool:
    return decoded(data, OBJECT) is not None


def _trim_line(piece: bytes, offset: int, number: int, note: Note) -> Line | None:
    """Return a line without blanks around it; None if nothing is left."""
    start = len(_MARK) if not offset and piece.startswith(_MARK) else 0
    body = piece[start:].lstrip(b"\0 \t\r")
    start = len(piece) - len(body)
    body = body.rstrip(b"\0 \t\r")
    if not body:
        if b"\0" in piece:
            note(number, "only NUL bytes")
        return None
    return Line(body, offset + start, number)


def stretches(path: Path) -> Iterator[bytes]:
    """Yield a log in pieces that end where a line ends, for a search that needs no single lines; raises only `OSError`.

    A line that is too long to be read is left out.
    """
    held: list[bytes] = []
    for chunk in _chunks(path, PIECE, 0):
        if end := chunk.rfind(b"\n") + 1:
            yield b"".join((*held, memoryview(chunk)[:end]))
            held = [chunk[end:]]
        elif len(held) <= LONGEST // PIECE:
            held.append(chunk)
    yield b"".join(held)


def line_spans(piece: bytes) -> Iterator[tuple[int, int]]:
    """Yield where each line of a piece begins and ends."""
    begin, find = 0, piece.find
    while (end := find(b"\n", begin)) >= 0:
        yield begin, end
        begin = end + 1
    yield begin, len(piece)


@contextmanager
def open_unpacked(path: Path, size: int = -1) -> Iterator[BinaryIO]:
    """Open a log for reading, decompressed if it is packed with zstd."""
    with open_log(path, size) as raw:
        packed = raw.read(len(PACKED)) == PACKED
        raw.seek(0)
        if not packed:
            yield raw
            return
        with ZstdFile(raw) as stream:
            yield cast("BinaryIO", stream)


def is_packed(path: Path) -> bool:
    """Return whether a file is compressed with zstd; False if it cannot be read."""
    try:
        with open_log(path) as raw:
            return raw.read(len(PACKED)) == PACKED
    except OSError:
        return False


def unpacked(data: bytes) -> bytes:
    """Return bytes, decompressed if they are packed with zstd; null if they are damaged."""
    try:
        return decompress(data) if data.startswith(PACKED) else data
    except (ZstdError, EOFError):
        return b"null"


def read_bytes(stream: BinaryIO, size: int = -1) -> bytes:
    """The next bytes, fewer only at the end; a damaged packed file is an `OSError` too."""
    try:
        return stream.read(size)
    except (ZstdError, EOFError) as fault:
        raise OSError(f"damaged archive: {fault}") from fault


def _chunks(path: Path, size: int, start: int) -> Iterator[bytes]:
    """Yield the bytes of a log from `start` on, decompressed, in chunks."""
    with open_log(path, 0) as raw:
        chunk = read_bytes(raw, size)
        if chunk.startswith(PACKED):
            raw.seek(0)
            with ZstdFile(raw) as unpacked:
                unpacked.seek(start)
                while chunk := read_bytes(cast("BinaryIO", unpacked), size):
                    yield chunk
            return
        if start:
            raw.seek(start)
            chunk = read_bytes(raw, size)
        while more := read_bytes(raw, size):
            yield chunk
            chunk = more
    yield chunk


def line_batches(
    path: Path,
    note: Note,
    longest: int = LONGEST,
    size: int = CHUNK,
    start: int = 0,
    number: int = 1,
    passes: Passes | None = None,
) -> Iterator[list[Line]]:
    """Yield every line from `start` on in batches, the last with or without its end; raises only `OSError`.

    A file that is read in one go is closed before its first line is yielded, as very many may be read at
    once. Lines that `passes` ignores are left out. A fault of a line is reported after all lines before it.
    """
    cutter = LineCutter(note, longest, start, number)
    for chunk in _chunks(path, size, start):
        yield from cutter.batches(chunk, passes)
    last = cutter.rest()
    if last is not None and not _is_ignored(last, passes):
        yield [last]


def _is_ignored(line: Line, passes: Passes | None) -> bool:
    data = line.data
    return passes is not None and data.startswith(b"{") and data.endswith(b"}") and passes(data)


# Most bytes searched in a long first line, or in a document, whose keys may be anywhere in it.
LONG_HEAD = 16 * 1024 * 1024


def head(path: Path, size: int) -> bytes:
    """The first bytes of a file, unpacked; raises only `OSError`."""
    with open_unpacked(path) as stream:
        return read_bytes(stream, size)
