"""One session: its logs, and its events in one order."""

from __future__ import annotations

import heapq
import threading
from collections.abc import Hashable, Iterable, Iterator
from itertools import chain, islice
from math import inf
from pathlib import Path
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from core import events
from core.events import MAIN, Event, SessionStart, ToolUse
from core.logs.format import Diagnostics, Kit
from core.logs.records import Log, batches, feed, finish, stem
from core.settings.program import LineSettings

_AHEAD = 512  # Events that are read before the first of them is handed on.


class LogSession(NamedTuple):
    """The logs of one session, the main agent's first."""

    id: str
    tool: str
    logs: tuple[Log, ...]
    # Older logs whose events this one repeats, because it was forked or resumed from them.
    copied: tuple[Log, ...] = ()
    repeated: bool = False  # Whether newer logs repeat events of this one.
    # Logs of forks that the agent's program makes for itself; only their spending counts.
    helpers: tuple[Log, ...] = ()

    @property
    def path(self) -> Path:
        """The main agent's log."""
        return self.logs[0].path

    @property
    def family(self) -> tuple[Path, int]:
        """Return the oldest log that shares a beginning with this one, and this one's rank by age."""
        return (self.copied[0].path if self.copied else self.path), len(self.copied)


def read_session(session: LogSession, kit: Kit, lines: LineSettings | None = None) -> Iterator[Event]:
    """All events of a saved session: by file position within a log, by time across logs.

    What helpers spent comes at the end, as of a log that is followed it is known beside its events.
    Never raises; what cannot be read is counted in the kit's diagnostics. Events are read many at a time, which
    suits the processor's cache.
    """
    limits = lines or LineSettings()
    streams = [log_events(log, kit, limits, session.id) for log in session.logs]
    if session.repeated:
        streams[0] = shared_beginnings.noting(session.logs[0], limits, streams[0])
    merged = streams[0] if len(streams) == 1 else (row[2] for row in merge(map(rows, session.logs, streams)))
    if session.copied:
        seen_ids = identities(session.copied, kit, limits)
        merged = (event for event in merged if isinstance(event, SessionStart) or seen_ids.isdisjoint(_marks(event)))
    spending = [log_events(log, kit, limits, session.id) for log in session.helpers]
    events = _with_spent(merged, spending) if spending else merged
    return chain.from_iterable(iter(lambda: list(islice(events, _AHEAD)), []))


def _with_spent(events: Iterator[Event], spending: list[Iterator[Event]]) -> Iterator[Event]:
    """The events of a session, then what its helpers spent."""
    last = 0.0
    for event in events:
        last = max(last, event.at)
        yield event
    yield from as_of(last, chain(*spending))


def as_of(last: float, spending: Iterable[Event]) -> Iterator[Event]:
    """Return the spending of helpers, dated at the session's last moment or later."""
    return (replace(event, at=max(last, event.at)) for event in spending)


# An event after the two values that decide its place among the events of all logs of its session.
Row: TypeAlias = tuple[float, str, Event]


def row_place(row: Row) -> tuple[float, str]:
    """Return the sort key of a row."""
    return row[:2]


def place_of_agent(log: Log) -> str:
    """The place of a log among those of the same moment: that of the main agent comes first."""
    return "" if log.agent == MAIN else log.agent


def rows(log: Log, events: Iterable[Event]) -> Iterator[Row]:
    """A log's events with their places: the time that the log has reached, then the agent, main first.

    Both come from the logs alone, so the order does not depend on when they were looked at.
    """
    agent = place_of_agent(log)
    reached = -inf
    for event in events:
        if event.at > reached:
            reached = event.at
        yield reached, agent, event


def merge(streams: Iterable[Iterator[Row]]) -> Iterator[Row]:
    """The rows of several logs in the one order that all readings have."""
    return heapq.merge(*streams, key=row_place)


def log_events(log: Log, kit: Kit, lines: LineSettings, session: str = "") -> Iterator[Event]:
    """The events of one log, in its order."""
    session = session or stem(log.path)
    events = _record_events(log, kit, lines, session)
    if log.run is not None:
        events = _run(events, log.run)
    return (with_session_name(event, session) for event in events) if log.part else events


def with_session_name(event: Event, session: str) -> Event:
    """Return an event of one of several sessions in a file, with the session's name in its start."""
    first = type(event) is SessionStart and event.agent == MAIN and event.session != session
    return replace(event, session=session) if first else event


def identity(event: Event) -> Hashable:
    """Return what identifies an event when another log, or a later reading, contains it again."""
    match event:
        case ToolUse():
            return ("tool", event.agent, event.id) if event.id else ("tool", event.agent, event.at, event.call)
        case events.Turn():
            return ("turn", event.agent, event.id) if event.id else ("turn", event.at, event.context_tokens)
        case events.Prompt():
            return "prompt", event.agent, event.at, event.call
        case events.Compaction():
            return "compaction", event.agent, event.at
        case events.Advice():
            return "advice", event.agent, event.at, event.call
        case events.AgentStart():
            return "agent", event.child
        case events.AgentEnd():
            return "agent end", event.child, event.at
        case SessionStart():
            return "session", event.agent, event.session
        case events.Rollback():
            return "rollback", event.agent, event.at
        case events.SessionEnd():
            return "session end", event.agent, event.at


def is_settled(event: Event) -> bool:
    """Whether an event is final, so that another log cannot add to it."""
    return type(event) is not ToolUse or event.outcome != "pending"


def _marks(event: Event) -> tuple[Hashable, ...]:
    """Return the identities under which another log may contain an event; an open call has one of its own beside."""
    return (identity(event),) if is_settled(event) else (identity(event), ("open", identity(event)))


class SharedBeginnings:
    """Identities of events in logs that others repeat, so that each log is read once; the oldest are dropped."""

    MOST = 500_000  # Most identities in memory.

    def __init__(self) -> None:
        self._known: dict[Hashable, frozenset[Hashable]] = {}
        self._kept = 0
        self._keeping = threading.Lock()

    def of(self, log: Log, kit: Kit, lines: LineSettings) -> frozenset[Hashable]:
        """A log's events by their identities, read unless that was done and it has not changed since."""
        cached = self._known.get(_stamp(log, lines))
        if cached is not None:
            return cached
        seen_ids: set[Hashable] = set()
        for _ in self.noting(log, lines, log_events(log, kit, lines), seen_ids):
            pass
        return frozenset(seen_ids)

    def noting(
        self, log: Log, lines: LineSettings, events: Iterator[Event], seen_ids: set[Hashable] | None = None
    ) -> Iterator[Event]:
        """Yield the events, and remember their identities once all were read."""
        seen_ids = set() if seen_ids is None else seen_ids
        stamp = _stamp(log, lines)
        for event in events:
            seen_ids.add(_marks(event)[-1])
            yield event
        if stamp is not None and stamp == _stamp(log, lines) and len(seen_ids) <= self.MOST:
            self._keep(stamp, frozenset(seen_ids))

    def _keep(self, stamp: Hashable, ids: frozenset[Hashable]) -> None:
        with self._keeping:
            self._kept += len(ids) - len(self._known.pop(stamp, ()))
            self._known[stamp] = ids
            while self._kept > self.MOST:
                self._kept -= len(self._known.pop(next(iter(self._known))))


shared_beginnings = SharedBeginnings()


def _stamp(log: Log, lines: LineSettings) -> Hashable:
    """Return what must be equal for a log to have the same events; None if it cannot be read."""
    try:
        status = log.path.stat()
    except OSError:
        return None
    return log, status.st_ino, status.st_size, status.st_mtime_ns, lines.longest


def identities(logs: tuple[Log, ...], kit: Kit, lines: LineSettings) -> set[Hashable]:
    """Return the identities of other logs' events, without counting their faults."""
    silent = kit.counting(Diagnostics())
    return set().union(*(shared_beginnings.of(log, silent, lines) for log in logs))


def _record_events(log: Log, kit: Kit, lines: LineSettings, session: str) -> Iterator[Event]:
    reader = log.format.reader(kit, agent=log.agent, session=session)
    for batch in batches(log, kit.diagnostics, lines, reader.passes):
        for record in batch:
            yield from feed(reader, record)
    yield from finish(reader, log.path)


def _run(events: Iterator[Event], number: int) -> Iterator[Event]:
    run = -1
    for event in events:
        if isinstance(event, SessionStart) and event.agent == MAIN:
            run += 1
        if run > number:
            return
        if max(run, 0) == number:
            yield event
