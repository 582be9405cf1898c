"""Records of logs (lines, documents, files of a folder, rows), and the passage behind an event."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from core.events import MAIN, Event, Where
from core.logs import lines as log_lines
from core.logs.database import RowsRead, content, split_entry, wal_bytes
from core.logs.format import Diagnostics, Format, Reader
from core.logs.lines import FAULTS, Line, Passes, decoded
from core.logs.log_files import HeldLog
from core.logs.redact.text import redact, redact_torn
from core.logs.redact.values import redact_event, redact_value
from core.settings.program import LineSettings


class Log(NamedTuple):
    """One file, folder or database with an agent's session, or a stretch of one."""

    path: Path
    format: Format
    agent: str = MAIN
    start: int = 0  # The first byte of this session, in a file with several.
    line: int = 1
    end: int | None = None
    run: int | None = None  # The number of this session, from 0, in a document or folder with several.
    session: str = ""  # The id of this session, in a database or a file of mixed lines.

    @property
    def whole(self) -> bool:
        """Whether it is all of its file."""
        return not (self.part or self.session)

    @property
    def part(self) -> bool:
        """Whether it is one stretch of a file with several sessions."""
        return bool(self.start) or self.end is not None or self.run is not None


NO_PERMISSION = "no permission"
_BLANKS = b"\0 \t\r\n"  # Bytes that may follow a document: a lost write leaves NUL bytes.

_make = tuple.__new__  # Builds a named tuple without its Python-level constructor: one is made for every line.


class Record(NamedTuple):
    """The unit a reader receives."""

    data: bytes
    where: Where
    line: int


class _Named(msgspec.Struct):
    session: Any = None


def records(log: Log, diagnostics: Diagnostics, lines: LineSettings) -> Iterator[Record]:
    """Yield the records of a log; a log that fails on the way ends there, counted."""
    for batch in batches(log, diagnostics, lines):
        yield from batch


def batches(
    log: Log, diagnostics: Diagnostics, lines: LineSettings, passes: Passes | None = None
) -> Iterator[list[Record]]:
    """Yield the records of a log in batches that are best read together."""
    try:
        if log.format.style == "lines":
            yield from _lines(log, diagnostics, lines, passes)
        elif log.format.style == "document":
            yield [document(log.path)]
        elif log.format.style == "folder":
            for number, file in enumerate(members(log), 1):
                try:
                    yield [document(file, number)]
                except OSError as fault:
                    diagnostics.note(str(file), 0, reason(fault))
        else:
            for row in database_rows(log):
                yield [row]
    except OSError as fault:
        diagnostics.note(str(log.path), 0, reason(fault))


def feed(reader: Reader, record: Record) -> list[Event]:
    """Return the events of a record; a reader that fails costs one record, counted."""
    try:
        return [redact_event(event) for event in reader.feed(*record)]
    except Exception as fault:  # noqa: BLE001 a log may hold anything, and the rest must still be read
        _count_fault(reader, record.where.file, record.line, fault)
        return []


def finish(reader: Reader, path: Path) -> list[Event]:
    """Return the events that only the end of a log completes."""
    return _redacted(reader.finish, reader, path)


def pending_events(reader: Reader, path: Path) -> list[Event]:
    """Return what a log has begun and not ended so far; the reader does not change."""
    return _redacted(reader.pending_events, reader, path)


def _redacted(ask: Callable[[], list[Event]], reader: Reader, path: Path) -> list[Event]:
    try:
        return [redact_event(event) for event in ask()]
    except Exception as fault:  # noqa: BLE001 as above
        _count_fault(reader, str(path), 0, fault)
        return []


def document(path: Path, number: int = 1) -> Record:
    """A whole file as one record; raises only `OSError`."""
    with log_lines.open_unpacked(path) as stream:
        whole = log_lines.read_bytes(stream)
    data = whole.removeprefix(b"\xef\xbb\xbf")
    begin = len(whole) - len(data)
    data = data.rstrip(_BLANKS)
    return Record(data, Where(str(path), begin, len(data)), number)


def members(log: Log) -> list[Path]:
    """The files of a folder log, in the order its reader wants them."""
    ordered = getattr(log.format.reader, "members", None)
    if ordered is not None:
        return list(ordered(log.path))
    return sorted(path for path in log.path.iterdir() if path.suffix == ".json")


def database_rows(log: Log, read: RowsRead | None = None, *, heads: bool = False) -> Iterator[Record]:
    """Yield the rows of a database; after an earlier `read`, only rows that are new or may have changed.

    With `heads`, only the row of each session itself. Raises only `OSError`.
    """
    read_rows = getattr(log.format.reader, "rows", None)
    if read_rows is None:
        return
    for number, (data, entry) in enumerate(read_rows(log.path, log.session, read, heads=heads), 1):
        yield Record(data, Where(str(log.path), 0, 0, entry), number)


def line_record(file: str, line: Line) -> Record:
    """A line as a record."""
    return Record(line.data, Where(file, line.offset, len(line.data)), line.number)


def stem(path: Path) -> str:
    """A file's name without what comes after its first dot."""
    return path.name.lstrip(".").split(".", 1)[0] or path.name


def reason(fault: OSError) -> str:
    """Why a file could not be read, in a few words that do not name the file."""
    if fault.errno in (errno.EACCES, errno.EPERM):
        return NO_PERMISSION
    if fault.errno == errno.ENOENT:
        return "vanished"
    return (fault.strerror or str(fault)).lower()


def _lines(log: Log, diagnostics: Diagnostics, lines: LineSettings, passes: Passes | None) -> Iterator[list[Record]]:
    file = str(log.path)

    def note(number: int, reason: str) -> None:
        diagnostics.note(file, number, reason)

    for batch in log_lines.line_batches(log.path, note, lines.longest, lines.chunk, log.start, log.line, passes):
        over = log.end is not None and batch[-1].offset >= log.end
        if over:
            batch = [line for line in batch if log.end is None or line.offset < log.end]
        batch_records = [
            _make(Record, (data, Where(file, offset, len(data)), number)) for data, offset, number in batch
        ]
        if log.session:
            batch_records = [own for record in batch_records for own in own_records(record, log.session)]
        if batch_records:
            yield batch_records
        if over:
            return


def own_records(record: Record, session: str) -> list[Record]:
    """Return the parts of a line that belong to this session; an unreadable line is returned, to be counted."""
    named = decoded(record.data, _Named)
    if named is None:
        parts = [Record(data, place, record.line) for data, place in log_lines.glued_objects(record.data, record.where)]
        return [own for part in parts for own in own_records(part, session)] if parts else [record]
    return [record] if str(named.session) == session else []


def _count_fault(reader: Reader, file: str, line: int, fault: Exception) -> None:
    reader.kit.diagnostics.note(file, line, f"not understood ({type(fault).__name__})")


LONGEST_SHOWN = 65_536  # Characters of a passage at most.
_MARGIN = 16_384  # Bytes read beyond what is shown, so that a secret across the cut is still seen as one.


class Passage(msgspec.Struct, frozen=True):
    """The text behind an event."""

    text: str = ""
    cut: bool = False  # Whether there is more of it than is shown.
    fault: str = ""  # Why it could not be read; blank if it could.


def read_excerpt(where: Where, longest: int = LONGEST_SHOWN) -> Passage:
    """Return the text of a place in a log, redacted and bounded; never raises on what is on disk."""
    try:
        if where.entry.startswith("/") and where.length > log_lines.LONGEST:
            return Passage(fault="too long to inspect")
        if where.entry:
            return _passage(Documents().raw(where), False, longest)
        size = min(where.length, longest * 4 + _MARGIN)
        return _passage(_bytes(where, size), where.length > size, longest)
    except OSError as fault:
        return Passage(fault=reason(fault))


def raw(where: Where) -> bytes:
    """Return the bytes of a place, bounded and not redacted; callers redact what they show."""
    return Documents().raw(where)


class Documents:
    """Reads places of logs; the last record that was read in part stays decoded."""

    def __init__(self) -> None:
        self._last: tuple[tuple[str | int, ...], Any] | None = None

    def raw(self, where: Where) -> bytes:
        """Return the bytes of a place, bounded; blank if it is gone."""
        row, pointer = split_entry(where.entry)
        if not pointer:
            return content(Path(where.file), row) if row else _bytes(where, min(where.length, log_lines.LONGEST))
        try:
            return msgspec.json.encode(_point(self._whole(where, row), pointer))
        except (*FAULTS, LookupError, ValueError):
            return b""

    def _whole(self, where: Where, row: str) -> Any:
        path = Path(where.file)
        status = path.stat()
        size = status.st_size + (wal_bytes(path) if row else 0)
        key = where.file, row, where.offset, where.length, status.st_mtime_ns, size
        last = self._last
        if last is None or last[0] != key:
            data = content(path, row) if row else _bytes(where, min(where.length, log_lines.LONGEST))
            last = self._last = key, msgspec.json.decode(data)
        return last[1]


_held: tuple[str, HeldLog | None] = "", None  # The last log that was read in part, which many reads in a row name.


def _bytes(where: Where, length: int) -> bytes:
    log = _held_log(where.file)
    if log is not None:
        return log.read(where.offset, length)
    with log_lines.open_unpacked(Path(where.file)) as stream:
        stream.seek(where.offset)
        return log_lines.read_bytes(stream, length)


def _held_log(file: str) -> HeldLog | None:
    """Return a log that stays open until another is read; None if it is packed."""
    global _held
    name, log = _held
    if name != file or log is None or not log.is_at(file):
        log = HeldLog(file)
        _held = file, log if not log.read(0, len(log_lines.PACKED)).startswith(log_lines.PACKED) else None
    return _held[1]


def _passage(data: bytes, more: bool, longest: int) -> Passage:
    if not data:
        return Passage(fault="changed since it was read")
    whole = (data if more else _hide_named_secrets(data)).decode("utf-8", "replace")
    text = redact_torn(whole) if more else redact(whole)
    return Passage(text[:longest], more or len(text) > longest)


def _hide_named_secrets(data: bytes) -> bytes:
    """Hide secrets that only a reader of JSON recognises, by their names."""
    value = decoded(data)
    hidden = redact_value(value)
    return data if hidden is value else msgspec.json.encode(hidden)


def _point(value: Any, pointer: str) -> Any:
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value
