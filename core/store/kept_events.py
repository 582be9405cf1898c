"""Events of logs that were read before, in a compact form; a log that grew is resumed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec
from blake3 import blake3

from core.agents.registry import make_kit
from core.events import Event
from core.logs.format import Diagnostics, PausingReader
from core.logs.lines import is_packed
from core.logs.log_files import HeldLog
from core.logs.records import Record, batches, feed, finish
from core.store.kept_answers import FileStamp, has_grown, reading_stamp, stamp
from core.store.reading_cache import ReadingCache, reading_cache

if TYPE_CHECKING:
    from pathlib import Path

    from core.agents.normalizer import AgentKit
    from core.logs.format import Kit, Reader
    from core.logs.records import Log
    from core.settings import Settings
    from core.settings.logs import LineSettings

VERSION = 13  # Raised when the same log gives other events.
_LEAST = 100_000  # Bytes of a log that is worth keeping.
_MOST = 32_000_000  # Bytes of events of one log that may be stored.
_CHUNK = 256  # Events that are packed at once.
_PARTS = 64  # A log is cut into so many parts; in each of the last few its reader may pause once.
_LAST = 8

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[Event]).decode


class Pause(msgspec.Struct, array_like=True):
    """A place between two lines from which a log can be read on."""

    events: int
    notes: int
    offset: int
    line: int
    reader: bytes


class KeptLog(msgspec.Struct, array_like=True):
    """The stored events of one log."""

    stamp: FileStamp
    chunks: list[bytes]  # Its events, so many together, those at the end that only the end completes among them.
    notes: list[tuple[int, int, str]]  # Faults: the events before each, its line, and what is wrong.
    pause: Pause | None


class KeptEvents:
    """Returns a log's events from the cache if the log is unchanged, and reads what is missing."""

    def __init__(self, cache: ReadingCache, about: bytes) -> None:
        self._cache = cache
        self._about = about

    def events(self, log: Log, kit: Kit, lines: LineSettings, session: str) -> Iterator[Event] | None:
        """All events of a log of lines that is long enough; None of any other."""
        if log.format.style != "lines" or not log.whole:
            return None
        now = stamp(log.path)
        if now is None or now.size < _LEAST:
            return None
        return self._stored_or_read(log, kit, lines, session, now)

    def _stored_or_read(self, log: Log, kit: Kit, lines: LineSettings, session: str, now: FileStamp) -> Iterator[Event]:
        key = self._key(log, lines, session)
        stored = self._load(key)
        if stored is not None and stored.stamp == now:
            yield from _replay_stored(stored, kit, log, len(stored.notes), None)
            return
        reading = _Reading(log, kit, lines, session, now.size)
        pause = stored.pause if stored is not None else None
        goes_on = pause is not None and reading.pausing is not None and _between_lines(log, pause)
        if stored is not None and pause is not None and goes_on and has_grown(stored.stamp):
            yield from _replay_stored(stored, kit, log, pause.notes, reading.take_over(stored, pause))
        yield from reading.events()
        if reading.complete(now):
            self._cache.save({key: msgspec.msgpack.encode(reading.to_store(now))})

    def _load(self, key: str) -> KeptLog | None:
        value = self._cache.load([key]).get(key)
        try:
            return None if value is None else msgspec.msgpack.decode(value, type=KeptLog)
        except msgspec.DecodeError:
            return None

    def _key(self, log: Log, lines: LineSettings, session: str) -> str:
        kind = f"{log.format.name} {log.format.reader.__module__}.{log.format.reader.__qualname__}"
        parts = (VERSION, str(log.path), kind, log.agent, session, lines.longest)
        name = repr(parts).encode("utf-8", "surrogatepass")
        return blake3(b"events\n" + self._about + name).hexdigest(length=16)


class _Reading(Diagnostics):
    """One log being read, and all that is needed to store it; it is its reader's fault counter too."""

    def __init__(self, log: Log, kit: Kit, lines: LineSettings, session: str, size: int) -> None:
        super().__init__(0)
        self._log, self._kit, self._lines, self._size = log, kit, lines, size
        self._reader: Reader = log.format.reader(kit.counting(self), agent=log.agent, session=session)
        # The reader, if its state can be stored.
        self.pausing = self._reader if isinstance(self._reader, PausingReader) else None
        self._chunks: list[bytes] = []
        self._open: list[Event] = []
        self._packed = 0 if _has_encodable_name(log.path) else _MOST + 1
        self._notes: list[tuple[int, int, str]] = []
        self._pause: Pause | None = None

    @property
    def _count(self) -> int:
        return len(self._chunks) * _CHUNK + len(self._open)

    def note(self, file: str, line: int, reason: str) -> None:
        """Count a fault in the run's own counter, and remember it."""
        self._kit.diagnostics.note(file, line, reason)
        self._notes.append((self._count, line, reason))

    def take_over(self, stored: KeptLog, pause: Pause) -> list[Event]:
        """Resume where an earlier reading paused; return the events up to there."""
        events = [event for chunk in stored.chunks for event in _decode(chunk)][: pause.events]
        if self.pausing is not None:
            self.pausing.resume(pause.reader)
        self._notes = stored.notes[: pause.notes]
        self._pause = pause
        self._keep(events)
        return events

    def events(self) -> Iterator[Event]:
        """Yield the events from here on."""
        log, reader, size = self._log, self._reader, self._size
        pausing = self.pausing
        due = size * (_PARTS - _LAST) // _PARTS
        if self._pause is not None:
            log = log._replace(start=self._pause.offset, line=self._pause.line)
        for batch in batches(log, self, self._lines, reader.passes):
            alone = pausing is not None and _line_end(batch[-1]) >= due
            for some in [[record] for record in batch] if alone else [batch]:
                events = [event for record in some for event in feed(reader, record)]
                self._keep(events)
                yield from events
                place = _line_end(some[-1])
                if pausing is not None and due <= place <= size and (state := pausing.pause()) is not None:
                    due = place + size // _PARTS
                    self._pause = Pause(self._count, len(self._notes), place, some[-1].line + 1, state)
        events = finish(reader, self._log.path)
        self._keep(events)
        yield from events

    def complete(self, now: FileStamp) -> bool:
        """Whether the file is unchanged and its events are few enough to be stored."""
        return self._packed <= _MOST and stamp(self._log.path) == now

    def to_store(self, now: FileStamp) -> KeptLog:
        """All of it."""
        chunks = [*self._chunks, _encode(self._open)] if self._open else self._chunks
        return KeptLog(now, chunks, self._notes, self._pause)

    def _keep(self, events: list[Event]) -> None:
        if self._packed > _MOST:
            return
        self._open += events
        while len(self._open) >= _CHUNK:
            self._chunks.append(_encode(self._open[:_CHUNK]))
            self._packed += len(self._chunks[-1])
            del self._open[:_CHUNK]


def _line_end(record: Record) -> int:
    """Return where the line after a record begins."""
    return record.where.offset + len(record.data) + 1


def _replay_stored(stored: KeptLog, kit: Kit, log: Log, notes: int, events: list[Event] | None) -> Iterator[Event]:
    """Yield stored events, and count each fault at its place."""
    place, noted, file = 0, 0, str(log.path)
    for chunk in [events] if events is not None else map(_decode, stored.chunks):
        for event in chunk:
            while noted < notes and stored.notes[noted][0] <= place:
                kit.diagnostics.note(file, *stored.notes[noted][1:])
                noted += 1
            yield event
            place += 1
    for _, line, reason in stored.notes[noted:notes]:
        kit.diagnostics.note(file, line, reason)


def _between_lines(log: Log, pause: Pause) -> bool:
    """Whether a plain file has the end of a line right before a place."""
    try:
        return HeldLog(log.path).read(pause.offset - 1, 1) == b"\n" and not is_packed(log.path)
    except OSError:
        return False


def reading_kit(settings: Settings) -> AgentKit:
    """Return a kit whose readers use the cache, unless it is switched off."""
    kit = make_kit(settings.ingest)
    cache = reading_cache(settings)
    if cache is not None:
        kit.memory = KeptEvents(cache, reading_stamp(settings, VERSION)).events
    return kit


def _has_encodable_name(path: Path) -> bool:
    """Whether a log's name can be encoded; events of others are not stored."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True
