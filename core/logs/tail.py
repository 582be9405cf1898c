"""Reads what a line log has gained since it was last looked at, and passes every event on once."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from array import array
from collections import Counter
from collections.abc import Iterator

from core.events import MAIN, Event, SessionStart, ToolUse
from core.logs.lines import LineCutter, take
from core.logs.reader import Kit, Reader
from core.logs.records import Log, Record, feed, finish, line_record, reason
from core.logs.session import identity
from core.settings.logs import LineSettings

_MARK = 64
"""Bytes before the reading position that must still be the same, or the log was rewritten."""


class Passed:
    """Lets each event through once, however often its log is read again from the start.

    Eight bytes an event, so that a log may grow for days.
    """

    __slots__ = ("_back", "_owed", "_seen")

    def __init__(self) -> None:
        self._seen = array("q")
        self._back: Counter[int] = Counter()
        self._owed: Counter[int] = Counter()

    def again(self) -> None:
        """The log is read from its start: what was passed on is to be left out."""
        self._owed = Counter(self._seen)
        if self._back:
            self._owed -= self._back
            self._seen, self._back = array("q", self._owed.elements()), Counter()

    def new(self, event: Event) -> bool:
        """Whether this event is to be passed on."""
        key = hash(identity(event))
        owed = self._owed
        if owed and owed.get(key, 0) > 0:
            owed[key] -= 1
            if not owed[key]:
                del owed[key]
            return False
        self._seen.append(key)
        return True

    def forget(self, event: Event) -> None:
        """An event that `new` let through was held back after all."""
        self._back[hash(identity(event))] += 1


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
        self.place: int | None = None
        """Bytes of the log whose events were handed on; None where it is no file of lines."""
        self._in_flight: list[ToolUse] | None = []
        self._run = -1
        if passed is not None:
            passed.again()

    @abstractmethod
    def fresh(self) -> Iterator[Event]:
        """The events that came since; to be read to its end before the next call."""

    def finish(self) -> list[Event]:
        """What only the end of the log completes; nothing is read after it."""
        return [event for event in finish(self._reader, self.log.path) if self.passed.new(event)]

    def held(self) -> list[Event]:
        """What the log has begun and not ended: open calls, a last turn; reading on is not touched by it."""
        return finish(self._reader, self.log.path)

    def in_flight(self) -> list[ToolUse]:
        """Calls begun but not answered yet, for showing only: reading on is not touched by it."""
        if self._in_flight is None:
            self._in_flight = [
                event for event in self.held() if isinstance(event, ToolUse) and event.outcome == "pending"
            ]
        return self._in_flight

    def _news(self, record: Record) -> Iterator[Event]:
        """What a record tells of this session that was not passed on before."""
        for event in feed(self._reader, record):
            if isinstance(event, SessionStart) and event.agent == MAIN:
                self._run += 1
            if self.log.run in (None, self._run) and self.passed.new(event):
                yield event

    def _again(self, kit: Kit) -> None:
        """From the log's start, with a new reader."""
        self._reader = self._new_reader(kit)
        self._run = -1
        self._in_flight = None
        self.passed.again()

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
        self._cutter = self._new_cutter(log.start, log.line)
        self.place = log.start

    def fresh(self) -> Iterator[Event]:
        """The events on the lines that were completed since."""
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
        """The unended last line taken as a line, and what the end completes."""
        line = self._cutter.rest()
        events = list(self._news(line_record(self._file, line))) if line is not None else []
        return events + super().finish()

    def _read_on(self) -> Iterator[Event]:
        with self.log.path.open("rb") as stream:
            stream.seek(self._cutter.position - len(self._mark))
            if take(stream, len(self._mark)) != self._mark:
                self._restart("was rewritten; reading it anew")
                stream.seek(0)
            while chunk := take(stream, self._room()):
                lines = self._cutter.feed(chunk)
                self._mark = (self._mark + chunk[-_MARK:])[-_MARK:]
                self._in_flight = None
                for line in lines:
                    self.place = line.offset + len(line.data) + 1
                    yield from self._news(line_record(self._file, line))

    def _room(self) -> int:
        """How much to read at once: up to the end of this session's stretch."""
        if self.log.end is None:
            return self._lines.chunk
        return min(self._lines.chunk, max(0, self.log.end - self._cutter.position))

    def _restart(self, why: str) -> None:
        self._say(why)
        self._mark = b""
        self._cutter = self._new_cutter(0, 1)
        self.place = 0
        self._again(self._kit)

    def _new_cutter(self, start: int, number: int) -> LineCutter:
        def note(line: int, why: str) -> None:
            self._kit.diagnostics.note(self._file, line, why)

        return LineCutter(note, self._lines.longest, start, number)
