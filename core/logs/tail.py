"""Tails: each reads what one log has gained since the last look, and emits every event once."""

from __future__ import annotations

import os
import re
import time
from abc import ABC, abstractmethod
from array import array
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from math import inf
from pathlib import Path

from core.events import MAIN, Event, SessionStart, ToolUse
from core.logs import records
from core.logs.database import RowsRead
from core.logs.format import Diagnostics, Kit, Reader
from core.logs.lines import Line, LineCutter, is_packed, read_bytes
from core.logs.log_files import HeldLog, open_log, size_and_change
from core.logs.records import Log, Record
from core.logs.session import Row, identity, place_of_agent, with_session_name
from core.settings.program import LineSettings

_MARK = 64  # Bytes before the reading position that must still be the same, or the log was rewritten.
_COPIES = 8  # Copies of a log that are looked at when it was cut short.


class SeenEvents:
    """Lets each event through once, however often its log is read from the start.

    It takes eight bytes per event, so that a log may grow for days.
    """

    __slots__ = ("_back", "_owed", "_seen")

    def __init__(self) -> None:
        self._seen = array("q")
        self._back: Counter[int] = Counter()
        self._owed: Counter[int] = Counter()

    def again(self) -> None:
        """Read the log from its start: events that were emitted are dropped."""
        self._owed = Counter(self._seen)
        if self._back:
            self._owed -= self._back
            self._seen, self._back = array("q", self._owed.elements()), Counter()

    def new(self, event: Event) -> bool:
        """Whether this event must be emitted."""
        key = hash(identity(event))
        owed = self._owed
        if owed and owed.get(key, 0) > 0:
            owed[key] -= 1
            if not owed[key]:
                del owed[key]
            return False
        self._seen.append(key)
        return True

    @property
    def lost(self) -> bool:
        """Whether none of the emitted events has been read again."""
        return 0 < len(self._seen) <= self._owed.total()

    def forget(self, event: Event) -> None:
        """Forget an event that `new` let through, because it was held back after all."""
        self._back[hash(identity(event))] += 1


class Tail(ABC):
    """A log that grows."""

    def __init__(
        self, log: Log, kit: Kit, lines: LineSettings, session: str, seen_events: SeenEvents | None = None
    ) -> None:
        self.log = log
        self.seen_events = seen_events or SeenEvents()
        self.notices: list[str] = []
        self.gone = False
        self._kit = kit
        self._lines = lines
        self._session = session
        self._reader = self._new_reader(kit)
        self.place: int | None = None  # Bytes of the log whose events were emitted; None if it is not a file of lines.
        self._in_flight: list[ToolUse] | None = []
        self.helper = False  # Whether it contains only the spending of a fork of the agent's program.
        self.reached = -inf  # The latest time of its emitted events.
        self._agent = place_of_agent(log)
        if seen_events is not None:
            seen_events.again()
        self._start()

    def _start(self) -> None:
        """Initialise the state of reading."""
        self._run = -1
        self._trouble = ""  # Why the log cannot be read although it is there.

    @abstractmethod
    def fresh(self) -> Iterator[Row]:
        """The events that came since, with their places; to be read to its end before the next call."""

    def row(self, event: Event) -> Row:
        """An event with its place, counted on from the events before it."""
        self.reached = max(self.reached, event.at)
        return self.reached, self._agent, event

    def finish(self) -> list[Event]:
        """Return the events that only the end of the log completes; nothing is read after it."""
        if not self._in_run:
            return []
        return [event for event in records.finish(self._reader, self.log.path) if self.seen_events.new(event)]

    def pending_events(self) -> list[Event]:
        """Return what the log has begun and not ended: open calls, a last turn; nothing is changed."""
        return records.pending_events(self._reader, self.log.path) if self._in_run else []

    def in_flight(self) -> list[ToolUse]:
        """Return the open calls, for display only; nothing is changed."""
        if self._in_flight is None:
            calls = [event for event in self.pending_events() if isinstance(event, ToolUse)]
            self._in_flight = [call for call in calls if call.outcome == "pending"]
        return self._in_flight

    def _news(self, record: Record) -> Iterator[Event]:
        """Yield the new events of a record that belong to this session."""
        for event in records.feed(self._reader, record):
            if isinstance(event, SessionStart) and event.agent == MAIN:
                self._run += 1
                if self.log.part:
                    event = with_session_name(event, self._session)
            if self._in_run and self.seen_events.new(event):
                yield event

    @property
    def _in_run(self) -> bool:
        """Whether the log is at its session; what precedes any start belongs to the first."""
        return self.log.run in (None, max(self._run, 0))

    def _again(self, kit: Kit) -> None:
        """From the log's start, with a new reader."""
        self._reader = self._new_reader(kit)
        self._run = -1
        self._in_flight = None
        self.seen_events.again()

    def _status(self) -> os.stat_result | None:
        """Return the log's status on disk; None, reported once, while it cannot be read."""
        try:
            status = self.log.path.stat()
        except OSError as fault:
            if not self.gone:
                self.gone = True
                self._say(f"{records.reason(fault)}; waiting for it")
            return None
        if self.gone:
            self.gone = False
            self._say("is back")
        return status

    def _fail(self, why: str) -> None:
        """Say once that the log cannot be read."""
        if why != self._trouble:
            self._trouble = why
            self._say(f"{why}; trying again")

    def _mend(self) -> None:
        """Report once that the log can be read again."""
        if self._trouble:
            self._trouble = ""
            self._say("is back")

    def _say(self, what: str) -> None:
        self.notices.append(f"{self.log.path.name}: {what}")

    def _new_reader(self, kit: Kit) -> Reader:
        return self.log.format.reader(kit, agent=self.log.agent, session=self._session)


class LineTail(Tail):
    """A line log: resumes at its last place, and retains an unfinished line."""

    def _start(self) -> None:
        super()._start()
        log = self.log
        self._file = str(log.path)
        self._held: HeldLog | None = None
        self._stands: tuple[int, int] | None = None
        self._changed = 0
        self._mark = b""
        self._cutter = self._new_cutter(log.start, log.line)
        self.place = log.start

    def fresh(self) -> Iterator[Row]:
        """The events on the lines that were completed since."""
        status = self._status()
        file_id = None if status is None else (status.st_dev, status.st_ino)
        try:
            if self._held is not None and file_id != self._held.stands:
                yield from self._read_on(self._held)
            if status is None:
                return
            if self._stands is not None and file_id != self._stands:
                yield from self._leave()
                self._restart("was replaced; reading it from the start")
            elif status.st_size < self._cutter.position:
                yield from self._from_copy()
                self._restart("was cut short; reading it from the start")
            elif status.st_size == self._cutter.position and status.st_mtime_ns == self._changed:
                return
            yield from self._read_on(self._named_file())
            self._changed = status.st_mtime_ns
            self._mend()
        except OSError as fault:
            self._fail(records.reason(fault))

    def finish(self) -> list[Event]:
        """Return the events of the unfinished last line, and the events that the end completes."""
        line = self._cutter.rest()
        events = list(self._line_events(line)) if line is not None else []
        return events + super().finish()

    def _named_file(self) -> HeldLog:
        """Return the file under the log's name; it stays open, so that its end is not lost when the name moves on."""
        file = self._held or HeldLog(self.log.path)
        if self._stands is not None and file.stands != self._stands:
            self._restart("was replaced; reading it from the start")
        self._stands = file.stands
        if file.read(self._cutter.position - len(self._mark), len(self._mark)) != self._mark:
            self._restart("was rewritten; reading it from the start")
        self._held = file if self._held is file or file.keep() else None
        return file

    def _read_on(self, file: HeldLog) -> Iterator[Row]:
        """Yield the events on the lines of a file that were not read yet."""
        while chunk := file.read(self._cutter.position, self._room()):
            lines = self._cutter.feed(chunk)
            self._mark = (self._mark + chunk[-_MARK:])[-_MARK:]
            self._in_flight = None
            for line in lines:
                self.place = line.offset + len(line.data) + 1
                yield from map(self.row, self._line_events(line))
        last = None if self.log.format.opening else self._cutter.whole()
        if last is not None:
            self.place = self._cutter.position
            yield from map(self.row, self._line_events(last))

    def _line_events(self, line: Line) -> Iterator[Event]:
        """Yield the events of a line that belong to this session."""
        record = records.line_record(self._file, line)
        for own in records.own_records(record, self.log.session) if self.log.session else [record]:
            yield from self._news(own)

    def _leave(self) -> Iterator[Row]:
        """Go from a file that lost its name: its last line will not be ended any more."""
        self._held = None
        line = self._cutter.rest()
        if line is not None:
            yield from map(self.row, self._line_events(line))

    def _from_copy(self) -> Iterator[Row]:
        """Yield events that were written between the last look and the truncation of the log, from its
        copy."""
        position, mark = self._cutter.position, self._mark
        for path in _copies_beside(self.log.path) if mark else ():
            try:
                copy = HeldLog(path)
                if copy.read(position - len(mark), len(mark)) == mark:
                    yield from self._read_on(copy)
                    return
            except OSError:
                continue

    def _fail(self, why: str) -> None:
        """Say once that the log cannot be read, and count it."""
        if why != self._trouble:
            self._kit.diagnostics.note(self._file, 0, why)
        super()._fail(why)

    def _room(self) -> int:
        """Return how much to read at once: up to the end of this session's stretch."""
        if self.log.end is None:
            return self._lines.chunk
        return min(self._lines.chunk, max(0, self.log.end - self._cutter.position))

    def _restart(self, why: str) -> None:
        self._say(why)
        self._stands = None
        self._mark = b""
        self._cutter = self._new_cutter(0, 1)
        self.place = 0
        self._again(self._kit)

    def _new_cutter(self, start: int, number: int) -> LineCutter:
        def note(line: int, why: str) -> None:
            self._kit.diagnostics.note(self._file, line, why)

        return LineCutter(note, self._lines.longest, start, number)


def _copies_beside(path: Path) -> list[Path]:
    """Return files beside a log whose names mark them as copies of it, newest first."""
    copy_name = re.compile(re.escape(path.name) + r"[.-][\w.-]{1,40}")
    try:
        beside = [entry for entry in os.scandir(path.parent) if copy_name.fullmatch(entry.name)]
        beside.sort(key=lambda entry: (-entry.stat().st_mtime_ns, entry.name))
    except OSError:
        return []
    return [path.parent / entry.name for entry in beside[:_COPIES]]


_END = 65_536  # Bytes in which the end of a document is looked for.
PATIENCE = 5.0  # Seconds for which a document that is being written may lack its end.
_WRITTEN = 30.0  # Seconds without a change after which a document is no longer being written.


def open_tail(log: Log, kit: Kit, lines: LineSettings, session: str, seen_events: SeenEvents | None = None) -> Tail:
    """The way to follow this log."""
    kind: type[Tail] = RereadTail
    if log.format.style == "folder":
        kind = FolderTail
    elif log.format.style == "database":
        kind = DatabaseTail
    elif log.format.style == "lines" and not is_packed(log.path):
        kind = LineTail
    return kind(log, kit, lines, session, seen_events)


class WaitingTail(Tail):
    """A log that repeats a call once it is over: until then the call is only displayed."""

    def _start(self) -> None:
        super()._start()
        self._waiting: dict[str, ToolUse] = {}

    def finish(self) -> list[Event]:
        """The calls that never got over, and what the end completes."""
        return [event for event in self._waiting.values() if self.seen_events.new(event)] + super().finish()

    def pending_events(self) -> list[Event]:
        """The calls that are not over, and what the end would complete."""
        more = [event for event in super().pending_events() if getattr(event, "id", None) not in self._waiting]
        return [*self._waiting.values(), *more]

    def _settled(self, record: Record) -> Iterator[Row]:
        for event in self._news(record):
            if isinstance(event, ToolUse):
                self._waiting.pop(event.id, None)
                if event.outcome == "pending":
                    self._waiting[event.id] = event
                    self.seen_events.forget(event)
                    continue
            yield self.row(event)


class RereadTail(WaitingTail):
    """A document or a packed file: read whole whenever it changed."""

    def _start(self) -> None:
        super()._start()
        self._seen: tuple[int, int, int] | None = None
        # The version that lacks its end, and when it was first seen.
        self._half: tuple[tuple[int, int, int], float] | None = None
        self._faults: dict[str, int] = {}

    def fresh(self) -> Iterator[Row]:
        """Yield the events that the new version adds."""
        status = self._status()
        if status is None:
            return
        version = (status.st_ino, status.st_size, status.st_mtime_ns)
        if version == self._seen or (self.log.format.style == "document" and self._is_written(status, version)):
            return
        self._seen = version
        kit = self._kit.counting(Diagnostics())
        self._again(kit)
        self._waiting.clear()
        for record in records.records(self.log, kit.diagnostics, self._lines):
            yield from self._settled(record)
        self._count(kit.diagnostics)
        if self._half is not None and self._half[0] == version:
            self._fail(_missing_end(status))
        elif kit.diagnostics.total and self.seen_events.lost:
            self._fail(kit.diagnostics.first[0].reason)
        else:
            self._mend()

    def _is_written(self, status: os.stat_result, version: tuple[int, int, int]) -> bool:
        """Return whether a document without its end is still being written; one left cut off is read as it is."""
        try:
            if _has_end(self.log.path):
                return False
        except OSError as fault:
            self._seen = None
            self._fail(records.reason(fault))
            return True
        if self._half is None or self._half[0] != version:
            self._half = version, time.monotonic()
        elif time.monotonic() - self._half[1] >= PATIENCE:
            self._seen = None
            self._fail(_missing_end(status))
        return time.time() - status.st_mtime < _WRITTEN

    def _count(self, diagnostics: Diagnostics) -> None:
        """Count only the faults that an earlier reading did not meet."""
        for fault in diagnostics.first:
            count = self._faults.get(fault.reason, 0)
            if count < diagnostics.counts[fault.reason]:
                self._faults[fault.reason] = count + 1
                self._kit.diagnostics.note(fault.file, fault.line, fault.reason)


class FolderTail(WaitingTail):
    """A folder of files: new ones are read as they come, and all again when an old one changed."""

    def _start(self) -> None:
        super()._start()
        self._fed: list[tuple[Path, int, int]] = []

    def fresh(self) -> Iterator[Row]:
        """Yield the events of new files."""
        if self._status() is None:
            return
        try:
            files = [(path, (status := path.stat()).st_size, status.st_mtime_ns) for path in records.members(self.log)]
        except FileNotFoundError:
            return
        except OSError as fault:
            self._fail(records.reason(fault))
            return
        self._mend()
        if files[: len(self._fed)] != self._fed:
            self._fed = []
            self._waiting.clear()
            self._again(self._kit)
        for number, file in enumerate(files[len(self._fed) :], len(self._fed) + 1):
            try:
                record = records.document(file[0], number)
            except FileNotFoundError:
                return
            except OSError as fault:
                self._kit.diagnostics.note(str(file[0]), 0, records.reason(fault))
                self._fed.append(file)
                continue
            if number == len(files) and not _closes(record.data):
                return
            self._fed.append(file)
            self._in_flight = None
            yield from self._settled(record)


class DatabaseTail(Tail):
    """A database whose rows change in place: each look reads new rows and rows that may have changed."""

    def _start(self) -> None:
        super()._start()
        self._seen: list[tuple[int, int]] = []
        self._read = RowsRead()

    def fresh(self) -> Iterator[Row]:
        """Yield the events of changed rows."""
        if self._status() is None:
            return
        paths = self.log.path, self.log.path.with_name(self.log.path.name + "-wal")
        versions = list(map(size_and_change, paths))
        if versions == self._seen:
            return
        read = deepcopy(self._read)
        try:
            for record in records.database_rows(self.log, read):
                self._in_flight = None
                yield from map(self.row, self._news(record))
        except OSError as fault:
            self._seen = []
            self._fail(records.reason(fault))
            return
        self._seen, self._read = versions, read
        self._mend()


def _missing_end(status: os.stat_result) -> str:
    """Return what is wrong with a document that lacks its end."""
    return "ends in the middle" if status.st_size else "is empty"


def _has_end(path: Path) -> bool:
    """Whether a document ends as one does, and not in the middle of being written; raises only `OSError`."""
    with open_log(path) as stream:
        stream.seek(0, os.SEEK_END)
        stream.seek(max(0, stream.tell() - _END))
        return _closes(read_bytes(stream))


def _closes(data: bytes) -> bool:
    return data.rstrip(b"\0 \t\r\n").endswith((b"}", b"]"))
