"""Reads what a log has gained since it was last looked at, and passes every event on once."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

from core.events import Event, ToolUse
from core.ingest.diagnostics import Diagnostics
from core.ingest.lines import LineCutter, packed, take
from core.ingest.reader import Kit, Reader
from core.ingest.records import Log, document, feed, finish, line_record, members, reason, records
from core.ingest.session import identity
from core.settings.ingest import LineSettings

_MARK = 64
"""Bytes before the reading position that must still be the same, or the log was rewritten."""


class Passed:
    """Lets each event through once, however often its log is read again from the start."""

    __slots__ = ("_owed", "_seen")

    def __init__(self) -> None:
        self._seen: Counter[int] = Counter()
        self._owed: Counter[int] = Counter()

    def again(self) -> None:
        """The log is read from its start: what was passed on is to be left out."""
        self._owed = Counter(self._seen)

    def new(self, event: Event) -> bool:
        """Whether this event is to be passed on."""
        key = hash(identity(event))
        if self._owed.get(key, 0):
            self._owed[key] -= 1
            return False
        self._seen[key] += 1
        return True


class Tail(ABC):
    """A log that grows."""

    def __init__(
        self, log: Log, kit: Kit, lines: LineSettings, session: str, passed: Passed | None = None
    ) -> None:
        self.log = log
        self.passed = passed or Passed()
        self.notices: list[str] = []
        self.gone = False
        self._kit = kit
        self._lines = lines
        self._session = session
        self._reader = self._new_reader(kit)
        self._in_flight: list[ToolUse] | None = []
        if passed is not None:
            passed.again()

    @abstractmethod
    def fresh(self) -> Iterator[Event]:
        """The events that came since; to be read to its end before the next call."""

    def finish(self) -> list[Event]:
        """What only the end of the log completes; nothing is read after it."""
        return [event for event in finish(self._reader, self.log.path) if self.passed.new(event)]

    def in_flight(self) -> list[ToolUse]:
        """Calls begun but not answered yet, for showing only: reading on is not touched by it."""
        if self._in_flight is None:
            silent = Kit(self._kit.normalizer, self._kit.models, Diagnostics())
            copy = deepcopy(self._reader, {id(self._reader.kit): silent})
            left = finish(copy, self.log.path)
            self._in_flight = [
                event for event in left if isinstance(event, ToolUse) and event.outcome == "pending"
            ]
        return self._in_flight

    def _status(self) -> os.stat_result | None:
        """How the log stands on disk; None, said once, while it cannot be looked at."""
        try:
            status = self.log.path.stat()
        except OSError as fault:
            if not self.gone:
                self.gone = True
                self._say(f"{reason(fault)}; waiting for it")
            return None
        if self.gone:
            self.gone = False
            self._say("is back")
        return status

    def _say(self, what: str) -> None:
        self.notices.append(f"{self.log.path.name}: {what}")

    def _new_reader(self, kit: Kit) -> Reader:
        return self.log.format.reader(kit, agent=self.log.agent, session=self._session)


class LineTail(Tail):
    """A line log: reads on from where it stopped, and holds back an unfinished line."""

    def __init__(
        self, log: Log, kit: Kit, lines: LineSettings, session: str, passed: Passed | None = None
    ) -> None:
        super().__init__(log, kit, lines, session, passed)
        self._file = str(log.path)
        self._inode = 0
        self._changed = 0
        self._mark = b""
        self._cutter = self._new_cutter()

    def fresh(self) -> Iterator[Event]:
        status = self._status()
        if status is None:
            return
        if self._inode and status.st_ino != self._inode:
            self._restart("was replaced; reading it anew")
        elif status.st_size < self._cutter.position:
            self._restart("was cut short; reading it anew")
        elif status.st_size == self._cutter.position and status.st_mtime_ns == self._changed:
            return
        self._inode = status.st_ino
        try:
            yield from self._read_on()
            self._changed = status.st_mtime_ns
        except OSError as fault:
            self._say(reason(fault))

    def finish(self) -> list[Event]:
        line = self._cutter.rest()
        events = feed(self._reader, line_record(self._file, line)) if line is not None else []
        return [event for event in events if self.passed.new(event)] + super().finish()

    def _read_on(self) -> Iterator[Event]:
        with self.log.path.open("rb") as stream:
            stream.seek(self._cutter.position - len(self._mark))
            if take(stream, len(self._mark)) != self._mark:
                self._restart("was rewritten; reading it anew")
                stream.seek(0)
            while chunk := take(stream, self._lines.chunk):
                lines = self._cutter.feed(chunk)
                self._mark = (self._mark + chunk[-_MARK:])[-_MARK:]
                self._in_flight = None
                for line in lines:
                    for event in feed(self._reader, line_record(self._file, line)):
                        if self.passed.new(event):
                            yield event

    def _restart(self, why: str) -> None:
        self._say(why)
        self._mark = b""
        self._cutter = self._new_cutter()
        self._reader = self._new_reader(self._kit)
        self.passed.again()

    def _new_cutter(self) -> LineCutter:
        return LineCutter(
            lambda number, reason: self._kit.diagnostics.note(self._file, number, reason), self._lines.longest
        )


class RereadTail(Tail):
    """A log that changes in place (a document, a packed file, a database): read whole whenever it changed."""

    def __init__(
        self, log: Log, kit: Kit, lines: LineSettings, session: str, passed: Passed | None = None
    ) -> None:
        super().__init__(log, kit, lines, session, passed)
        self._seen: object = None
        self._faults: dict[str, int] = {}
        self._waiting: list[ToolUse] = []

    def finish(self) -> list[Event]:
        return [event for event in self._waiting if self.passed.new(event)] + super().finish()

    def in_flight(self) -> list[ToolUse]:
        return self._waiting + super().in_flight()

    def fresh(self) -> Iterator[Event]:
        status = self._status()
        if status is None:
            return
        stands = self._stands(status)
        if stands == self._seen or self._unfinished():
            return
        self._seen = stands
        self.passed.again()
        kit = Kit(self._kit.normalizer, self._kit.models, Diagnostics())
        self._reader = self._new_reader(kit)
        self._in_flight = None
        self._waiting = []
        for record in records(self.log, kit.diagnostics, self._lines):
            for event in feed(self._reader, record):
                if isinstance(event, ToolUse) and event.outcome == "pending":
                    self._waiting.append(event)
                elif self.passed.new(event):
                    yield event
        self._count(kit.diagnostics)

    def _stands(self, status: os.stat_result) -> object:
        return status.st_ino, status.st_size, status.st_mtime_ns

    def _unfinished(self) -> bool:
        return self.log.format.style == "document" and not _whole(self.log.path)

    def _count(self, found: Diagnostics) -> None:
        """Count only the faults that an earlier reading did not meet."""
        for fault in found.first:
            if self._faults.get(fault.reason, 0) < found.counts[fault.reason]:
                self._faults[fault.reason] = self._faults.get(fault.reason, 0) + 1
                self._kit.diagnostics.note(fault.file, fault.line, fault.reason)


class FolderTail(Tail):
    """A folder of files: new ones are read as they come, and all again when an old one changed."""

    def __init__(
        self, log: Log, kit: Kit, lines: LineSettings, session: str, passed: Passed | None = None
    ) -> None:
        super().__init__(log, kit, lines, session, passed)
        self._fed: list[tuple[Path, int, int]] = []

    def fresh(self) -> Iterator[Event]:
        if self._status() is None:
            return
        try:
            files = [
                (path, (status := path.stat()).st_size, status.st_mtime_ns) for path in members(self.log)
            ]
        except OSError:
            return
        if files[: len(self._fed)] != self._fed:
            self._fed = []
            self._reader = self._new_reader(self._kit)
            self.passed.again()
        for number, file in enumerate(files[len(self._fed) :], len(self._fed) + 1):
            if not _whole(file[0]):
                return
            try:
                record = document(file[0], number)
            except OSError:
                return
            self._fed.append(file)
            self._in_flight = None
            for event in feed(self._reader, record):
                if self.passed.new(event):
                    yield event


def tail(log: Log, kit: Kit, lines: LineSettings, session: str, passed: Passed | None = None) -> Tail:
    """The way to follow this log."""
    if log.format.style == "folder":
        return FolderTail(log, kit, lines, session, passed)
    if log.format.style == "lines" and not packed(log.path):
        return LineTail(log, kit, lines, session, passed)
    return RereadTail(log, kit, lines, session, passed)


def _whole(path: Path) -> bool:
    """Whether a document ends as one does, and not in the middle of being written."""
    try:
        with path.open("rb") as stream:
            stream.seek(0, os.SEEK_END)
            stream.seek(max(0, stream.tell() - _MARK))
            return take(stream).rstrip(b"\0 \t\r\n").endswith((b"}", b"]"))
    except OSError:
        return False
