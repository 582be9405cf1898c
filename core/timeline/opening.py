"""A saved session from its logs to a recording, with progress, and its last screen first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from blake3 import blake3

from core.events import Event
from core.logs.diagnostics import Diagnostics
from core.logs.reader import Kit
from core.logs.session import LogSession, read_session
from core.settings import Settings
from core.timeline.cache import Cache, LogStamp
from core.timeline.initial_state import PLAIN, InitialState
from core.timeline.timeline import SettingsChange, Timeline

TAIL = 64 << 20
"""Bytes of a log's end from which its last screen is made."""
_REPORT = 512


class Progress(NamedTuple):
    """How far the reading is."""

    read: int
    """Bytes."""
    size: int
    events: int

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return min(1.0, self.read / self.size) if self.size else 1.0


Report = Callable[[Progress], bool]
"""Told now and then how far it is; a False answer stops the reading."""


def seed_of(session: str) -> int:
    """A number of its own for each session, the same on every machine."""
    return int.from_bytes(blake3(session.encode("utf-8", "surrogatepass")).digest(8), "big")


def session_stamps(session: LogSession) -> tuple[LogStamp, ...]:
    """How all logs of a session stand that its events come from."""
    logs = (*session.logs, *session.helpers)
    return tuple(found for log in logs if (found := LogStamp.of(log.path)) is not None)


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
    """The whole session as a recording, begun from its own seed; None where the reading was stopped."""
    begun = initial._replace(seed=seed_of(session.id))
    sources = session_stamps(session)
    kept = cache.load(session.id, settings, begun, later) if cache is not None else None
    if kept is not None and kept.sources == sources:
        return kept.timeline
    events = read_session(session, kit, settings.ingest.lines)
    timeline = Timeline(settings, initial=begun, later=later)
    if kept is not None:
        timeline, events = _resume(kept.timeline, events, timeline)
    size = sum(source.size for source in sources)
    places: dict[str, int] = {}
    for number, event in enumerate(events):
        timeline.add(event)
        if event.where is not None:
            places[event.where.file] = event.where.offset + event.where.length
        due = report is not None and number % _REPORT == 0
        if due and report is not None and not report(Progress(sum(places.values()), size, len(timeline))):
            return None
    if report is not None:
        report(Progress(size, size, len(timeline)))
    if cache is not None and len(timeline) >= settings.timeline.cache.least:
        cache.save(session.id, timeline, sources, later)
    return timeline


def _resume(kept: Timeline, events: Iterator[Event], fresh: Timeline) -> tuple[Timeline, Iterator[Event]]:
    """Go on from what was kept if the log still begins with it, else start over."""
    seen: list[Event] = []
    for expected in kept.events:
        event = next(events, None)
        if event is None:
            return fresh, iter(seen)
        seen.append(event)
        if event != expected:
            return fresh, _chain(seen, events)
    return kept, events


def _chain(seen: list[Event], events: Iterator[Event]) -> Iterator[Event]:
    yield from seen
    yield from events


_RARELY = 8192
"""Events between two kept states where a recording is looked at, not scrubbed."""


def last_screen(
    session: LogSession, settings: Settings, kit: Kit, tail: int = TAIL, initial: InitialState = PLAIN
) -> Timeline:
    """A recording of only the end of a large log: near enough to look at while the rest is read."""
    cut = []
    for log in session.logs:
        source = LogStamp.of(log.path)
        long = source is not None and source.size > tail and log.format.style == "lines"
        cut.append(
            log._replace(start=max(log.start, source.size - tail)) if long and source is not None else log
        )
    timeline = Timeline(settings, initial=initial._replace(seed=seed_of(session.id)), every=_RARELY)
    silent = kit.counting(Diagnostics())
    timeline.extend(read_session(session._replace(logs=tuple(cut)), silent, settings.ingest.lines))
    return timeline
