"""Turn a saved session into a recording: read its logs, or load the recording from the cache."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import cbor2
import msgspec
from blake3 import blake3
from platformdirs import user_cache_path

from core import __version__
from core.engine.society import Society
from core.engine.society.engine import Engine
from core.errors import NooscopeError, StoreError
from core.events import Event
from core.logs.format import Diagnostics, Kit
from core.logs.session import LogSession, read_session
from core.settings import Settings
from core.settings.group import canonical
from core.store import atomic
from core.timeline.columns import Columns
from core.timeline.initial_state import PLAIN, InitialState
from core.timeline.keyframes import KeyFrame
from core.timeline.marks import RecordedMarks
from core.timeline.run import NAMES, Track
from core.timeline.timeline import RecordedEvents, SettingsChange, Timeline
from core.zstd import zstd

VERSION = 18
_SUFFIX = ".recording"
_CHECK = 32
_NOT_MODELLED = frozenset(("screen", "timeline", "narrator", "extensions"))  # Settings on which no recording depends.


class LogStamp(NamedTuple):
    """A log at the time its recording was stored."""

    path: str
    size: int
    modified: int  # Nanoseconds.

    @classmethod
    def of(cls, path: Path) -> LogStamp | None:
        """Return the log as it is now; None if it is gone."""
        try:
            status = path.stat()
        except OSError:
            return None
        return cls(str(path), status.st_size, status.st_mtime_ns)


class KeptRecording(NamedTuple):
    """A stored recording, and the logs it was made from."""

    timeline: Timeline
    sources: tuple[LogStamp, ...]


class Cache:
    """A folder of recordings, each checked when it is read; damaged ones are deleted."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder = folder
        self.limit = limit  # Bytes.

    def load(
        self, session: str, settings: Settings, initial: InitialState, later: Sequence[SettingsChange] = ()
    ) -> KeptRecording | None:
        """The recording of a session that was given the same, if there is a whole one."""
        path = self._path(session, settings, initial, later)
        try:
            content = path.read_bytes()
            recording = _unpack_recording(content, settings, initial, later)
            os.utime(path)
        except OSError:
            return None
        except NooscopeError:
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        return recording

    def save(
        self, session: str, timeline: Timeline, sources: tuple[LogStamp, ...], later: Sequence[SettingsChange] = ()
    ) -> bool:
        """Store a recording; return False if it cannot be written or was run with other settings than
        these."""
        applied = [change for change in later if change.after <= len(timeline)]
        if not _same_settings(timeline.changes[1:], timeline.changes[0].settings, applied):
            return False
        timeline.keep()
        try:
            content = _pack_recording(timeline, sources)
            if len(content) > self.limit:
                return False
            atomic.replace(self._path(session, timeline.changes[0].settings, timeline.initial, later), content)
            self._tidy()
        except (OSError, UnicodeEncodeError):
            return False
        return True

    def _path(self, session: str, settings: Settings, initial: InitialState, later: Sequence[SettingsChange]) -> Path:
        about = f"{VERSION} {Engine.VERSION} {Society.VERSION} {__version__}\n{session}\n{initial.seed}\n"
        name = blake3(about.encode("utf-8", "surrogatepass"))
        name.update(canonical(settings, _NOT_MODELLED))
        if not initial.plain:
            name.update(b"given\n" + initial.packed())
        for change in later:
            name.update(b"later %d\n" % change.after + canonical(change.settings, _NOT_MODELLED))
            if change.news:
                name.update(msgspec.msgpack.encode((change.reports, change.changed)))
        return self.folder / (name.hexdigest(16) + _SUFFIX)

    def _tidy(self) -> None:
        """Delete the recordings that were not used for longest until the rest fits."""
        files: list[tuple[int, int, Path]] = []
        for path in self.folder.glob(f"*{_SUFFIX}"):
            with contextlib.suppress(OSError):
                status = path.stat()
                files.append((status.st_mtime_ns, status.st_size, path))
        total = sum(size for _, size, _ in files)
        for _, size, path in sorted(files):
            if total <= self.limit:
                break
            with contextlib.suppress(OSError):
                path.unlink()
            total -= size


def _pack_recording(timeline: Timeline, sources: tuple[LogStamp, ...]) -> bytes:
    tracks = timeline.tracks.items()
    body = cbor2.dumps(
        {
            "sources": [list(source) for source in sources],
            "columns": list(NAMES),
            "events": timeline.events.packed(),
            "tracks": {name: (one.origin, one.indexes.tobytes(), one.columns.packed()) for name, one in tracks},
            "marks": timeline.marks.packed(),
            "frames": [list(frame) for frame in timeline.frames],
        }
    )
    packed = zstd.compress(body, 1)
    return blake3(packed).digest(_CHECK) + packed


def _same_settings(changes: Sequence[SettingsChange], first: Settings, applied: Sequence[SettingsChange]) -> bool:
    """Whether a recording was run with just the settings it was given."""
    expected: list[SettingsChange] = []
    for change in applied:
        if change.news or change.settings != (expected[-1].settings if expected else first):
            expected.append(change)
    return list(changes) == expected


def _unpack_recording(
    content: bytes, settings: Settings, initial: InitialState, later: Sequence[SettingsChange]
) -> KeptRecording:
    check, packed = content[:_CHECK], content[_CHECK:]
    if blake3(packed).digest(_CHECK) != check:
        raise StoreError("the stored recording is damaged")
    try:
        body: dict[str, Any] = cbor2.loads(zstd.decompress(packed))
        if tuple(body["columns"]) != NAMES:
            raise StoreError("the stored recording has other columns")
        timeline = Timeline(settings, initial=initial, later=later)
        timeline.adopt(
            RecordedEvents.unpacked(body["events"]),
            {agent: _track(*rows) for agent, rows in body["tracks"].items()},
            RecordedMarks.unpacked(body["marks"]),
            [KeyFrame(*row) for row in body["frames"]],
        )
        sources = tuple(LogStamp(*row) for row in body["sources"])
    except (zstd.ZstdError, cbor2.CBORDecodeError, msgspec.DecodeError, LookupError, TypeError, ValueError) as error:
        raise StoreError(f"the stored recording is damaged ({error})") from error
    return KeptRecording(timeline, sources)


def _track(origin: float, indexes: bytes, blocks: list[list[bytes]]) -> Track:
    track = Track(origin)
    track.indexes.frombytes(indexes)
    track.columns = Columns.unpacked(NAMES, blocks)
    if len(track.columns) != len(track.indexes):
        raise ValueError("readings are missing")
    return track


def user_cache(settings: Settings) -> Cache | None:
    """The cache on this machine, unless it is switched off."""
    chosen = settings.timeline.cache
    if not chosen.on or chosen.limit == 0:
        return None
    return Cache(user_cache_path("nooscope", appauthor=False), chosen.limit * 1_000_000)


_REPORT = 512


class Progress(NamedTuple):
    """Progress of reading a log."""

    read: int  # Bytes.
    size: int
    events: int

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return min(1.0, self.read / self.size) if self.size else 1.0


Report = Callable[[Progress], bool]  # Receives the progress now and then; False stops the reading.


def seed_of(session: str) -> int:
    """Return the seed of a session, the same on every machine."""
    return int.from_bytes(blake3(session.encode("utf-8", "surrogatepass")).digest(8), "big")


def session_stamps(session: LogSession) -> tuple[LogStamp, ...]:
    """Return the stamps of all logs of a session."""
    logs = (*session.logs, *session.helpers)
    return tuple(stamp for log in logs if (stamp := LogStamp.of(log.path)) is not None)


def record(
    session: LogSession,
    settings: Settings,
    kit: Kit,
    *,
    cache: Cache | None = None,
    report: Report | None = None,
    initial: InitialState = PLAIN,
    later: tuple[SettingsChange, ...] = (),
) -> Timeline | None:
    """Record the whole session from its own seed; None if the reading was stopped."""
    start = initial._replace(seed=seed_of(session.id))
    sources = session_stamps(session)
    cached = cache.load(session.id, settings, start, later) if cache is not None else None
    if cached is not None and cached.sources == sources:
        return cached.timeline
    events = read_session(session, kit, settings.ingest.lines)
    timeline = Timeline(settings, initial=start, later=later)
    if cached is not None:
        timeline, events = _resume(cached.timeline, events, timeline)
    size = sum(source.size for source in sources)
    places: dict[str, int] = {}
    for number, event in enumerate(events):
        timeline.add(event)
        if event.where is not None:
            places[event.where.file] = event.where.offset + event.where.length
        due = number % _REPORT == 0
        if due and report is not None and not report(Progress(sum(places.values()), size, len(timeline))):
            return None
    if report is not None:
        report(Progress(size, size, len(timeline)))
    if cache is not None and len(timeline) >= settings.timeline.cache.least:
        cache.save(session.id, timeline, sources, later)
    return timeline


def _resume(cached: Timeline, events: Iterator[Event], fresh: Timeline) -> tuple[Timeline, Iterator[Event]]:
    """Resume a stored recording if the log still begins with its events, else start over."""
    read_events: list[Event] = []
    for expected in cached.events:
        event = next(events, None)
        if event is None:
            return fresh, iter(read_events)
        read_events.append(event)
        if event != expected:
            return fresh, chain(read_events, events)
    return cached, events


_RARELY = 8192  # Events between two key frames of a recording that is viewed, not scrubbed.


def last_screen(
    session: LogSession, settings: Settings, kit: Kit, tail: int, initial: InitialState = PLAIN
) -> Timeline:
    """A recording of only the last `tail` bytes of a large log: near enough to look at while the rest is read."""
    cut = []
    for log in session.logs:
        size = stamped.size if log.format.style == "lines" and (stamped := LogStamp.of(log.path)) else 0
        cut.append(log._replace(start=max(log.start, size - tail)) if size > tail else log)
    timeline = Timeline(settings, initial=initial._replace(seed=seed_of(session.id)), every=_RARELY)
    silent = kit.counting(Diagnostics())
    timeline.extend(read_session(session._replace(logs=tuple(cut)), silent, settings.ingest.lines))
    return timeline
