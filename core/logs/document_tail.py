"""Follows logs that are not lines: documents, packed files, folders and databases."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

from core.events import Event, ToolUse
from core.logs.diagnostics import Diagnostics
from core.logs.lines import is_packed, take
from core.logs.log_files import open_log
from core.logs.reader import Kit
from core.logs.records import Log, Record, database_rows, document, members, reason, records
from core.logs.rows_read import RowsRead
from core.logs.tail import LineTail, Passed, Tail
from core.settings.logs import LineSettings

_END = 65_536
"""Bytes in which the end of a document is looked for."""
PATIENCE = 5.0
"""Seconds for which a document that is being written may stand without its end."""
_WRITTEN = 30.0
"""Seconds without a change after which nobody is taken to be writing a document any more."""


def tail(log: Log, kit: Kit, lines: LineSettings, session: str, passed: Passed | None = None) -> Tail:
    """The way to follow this log."""
    kind: type[Tail] = RereadTail
    if log.format.style == "folder":
        kind = FolderTail
    elif log.format.style == "database":
        kind = DatabaseTail
    elif log.format.style == "lines" and not is_packed(log.path):
        kind = LineTail
    return kind(log, kit, lines, session, passed)


class WaitingTail(Tail):
    """A log that tells of a call again once it is over: until then the call is only shown."""

    def __init__(
        self, log: Log, kit: Kit, lines: LineSettings, session: str, passed: Passed | None = None
    ) -> None:
        super().__init__(log, kit, lines, session, passed)
        self._waiting: dict[str, ToolUse] = {}

    def finish(self) -> list[Event]:
        """The calls that never got over, and what the end completes."""
        return [event for event in self._waiting.values() if self.passed.new(event)] + super().finish()

    def held(self) -> list[Event]:
        """The calls that are not over, and what the end would complete."""
        more = [event for event in super().held() if getattr(event, "id", None) not in self._waiting]
        return [*self._waiting.values(), *more]

    def _settled(self, record: Record) -> Iterator[Event]:
        for event in self._news(record):
            if isinstance(event, ToolUse):
                self._waiting.pop(event.id, None)
                if event.outcome == "pending":
                    self._waiting[event.id] = event
                    self.passed.forget(event)
                    continue
            yield event


class RereadTail(WaitingTail):
    """A document or a packed file: read whole whenever it changed."""

    def __init__(
        self, log: Log, kit: Kit, lines: LineSettings, session: str, passed: Passed | None = None
    ) -> None:
        super().__init__(log, kit, lines, session, passed)
        self._seen: tuple[int, int, int] | None = None
        self._half: tuple[tuple[int, int, int], float] | None = None
        """The version that lacks its end, and when it was first seen."""
        self._faults: dict[str, int] = {}

    def fresh(self) -> Iterator[Event]:
        """What the new version tells and no older one did."""
        status = self._status()
        if status is None:
            return
        stands = (status.st_ino, status.st_size, status.st_mtime_ns)
        if stands == self._seen or (self.log.format.style == "document" and self._is_written(status, stands)):
            return
        self._seen = stands
        kit = self._kit.counting(Diagnostics())
        self._again(kit)
        self._waiting.clear()
        for record in records(self.log, kit.diagnostics, self._lines):
            yield from self._settled(record)
        self._count(kit.diagnostics)
        if self._half is not None and self._half[0] == stands:
            self._fail(_lacking(status))
        elif kit.diagnostics.total and self.passed.lost:
            self._fail(kit.diagnostics.first[0].reason)
        else:
            self._mend()

    def _is_written(self, status: os.stat_result, stands: tuple[int, int, int]) -> bool:
        """Whether a document without its end is being written; one that stays cut off is read as it is."""
        try:
            if _whole(self.log.path):
                return False
        except OSError as fault:
            self._seen = None
            self._fail(reason(fault))
            return True
        if self._half is None or self._half[0] != stands:
            self._half = stands, time.monotonic()
        elif time.monotonic() - self._half[1] >= PATIENCE:
            self._seen = None
            self._fail(_lacking(status))
        return time.time() - status.st_mtime < _WRITTEN

    def _count(self, found: Diagnostics) -> None:
        """Count only the faults that an earlier reading did not meet."""
        for fault in found.first:
            met = self._faults.get(fault.reason, 0)
            if met < found.counts[fault.reason]:
                self._faults[fault.reason] = met + 1
                self._kit.diagnostics.note(fault.file, fault.line, fault.reason)


class FolderTail(WaitingTail):
    """A folder of files: new ones are read as they come, and all again when an old one changed."""

    def __init__(
        self, log: Log, kit: Kit, lines: LineSettings, session: str, passed: Passed | None = None
    ) -> None:
        super().__init__(log, kit, lines, session, passed)
        self._fed: list[tuple[Path, int, int]] = []

    def fresh(self) -> Iterator[Event]:
        """What new files tell."""
        if self._status() is None:
            return
        try:
            files = [
                (path, (status := path.stat()).st_size, status.st_mtime_ns) for path in members(self.log)
            ]
        except FileNotFoundError:
            return
        except OSError as fault:
            self._fail(reason(fault))
            return
        self._mend()
        if files[: len(self._fed)] != self._fed:
            self._fed = []
            self._waiting.clear()
            self._again(self._kit)
        for number, file in enumerate(files[len(self._fed) :], len(self._fed) + 1):
            try:
                record = document(file[0], number)
            except FileNotFoundError:
                return
            except OSError as fault:
                self._kit.diagnostics.note(str(file[0]), 0, reason(fault))
                self._fed.append(file)
                continue
            if number == len(files) and not _closes(record.data):
                return
            self._fed.append(file)
            self._in_flight = None
            yield from self._settled(record)


class DatabaseTail(Tail):
    """A database whose rows change in place: a look reads what came and what may have changed."""

    def __init__(
        self, log: Log, kit: Kit, lines: LineSettings, session: str, passed: Passed | None = None
    ) -> None:
        super().__init__(log, kit, lines, session, passed)
        self._seen: list[tuple[int, int]] = []
        self._read = RowsRead()

    def fresh(self) -> Iterator[Event]:
        """What changed rows tell."""
        if self._status() is None:
            return
        stands = [_stands(self.log.path), _stands(self.log.path.with_name(self.log.path.name + "-wal"))]
        if stands == self._seen:
            return
        read = deepcopy(self._read)
        try:
            for record in database_rows(self.log, read):
                self._in_flight = None
                yield from self._news(record)
        except OSError as fault:
            self._seen = []
            self._fail(reason(fault))
            return
        self._seen, self._read = stands, read
        self._mend()


def _lacking(status: os.stat_result) -> str:
    """What is wrong with a document that lacks its end."""
    return "ends in the middle" if status.st_size else "is empty"


def _stands(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_size, status.st_mtime_ns


def _whole(path: Path) -> bool:
    """Whether a document ends as one does, and not in the middle of being written; raises only `OSError`."""
    with open_log(path) as stream:
        stream.seek(0, os.SEEK_END)
        stream.seek(max(0, stream.tell() - _END))
        return _closes(take(stream))


def _closes(data: bytes) -> bool:
    return data.rstrip(b"\0 \t\r\n").endswith((b"}", b"]"))
