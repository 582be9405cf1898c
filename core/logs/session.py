"""One session: the logs it lies in, and its events in one order."""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import NamedTuple

from core.events import (
    MAIN,
    Advice,
    AgentEnd,
    AgentStart,
    Compaction,
    Event,
    Prompt,
    SessionEnd,
    SessionStart,
    ToolUse,
    Turn,
)
from core.logs.diagnostics import Diagnostics
from core.logs.reader import Kit
from core.logs.records import Log, admit, finish, records, stem
from core.settings.logs import LineSettings


class LogSession(NamedTuple):
    """The logs of one session, the main agent's first."""

    id: str
    tool: str
    logs: tuple[Log, ...]
    copied: tuple[Log, ...] = ()
    """Older logs whose events this one repeats, because it was forked or resumed from them."""

    @property
    def path(self) -> Path:
        """The main agent's log."""
        return self.logs[0].path


def read(session: LogSession, kit: Kit, lines: LineSettings | None = None) -> Iterator[Event]:
    """All events of a saved session: by file position within a log, by time across logs.

    Never raises; what cannot be read is counted in the kit's diagnostics.
    """
    limits = lines or LineSettings()
    merged = merge([log_events(log, kit, limits, session.id) for log in session.logs])
    return _without(merged, identities(session.copied, kit, limits)) if session.copied else merged


def merge(streams: list[Iterator[Event]]) -> Iterator[Event]:
    """Streams laid together: always the one whose next event is earliest, the first of equals."""
    return streams[0] if len(streams) == 1 else heapq.merge(*streams, key=_time)


def log_events(log: Log, kit: Kit, lines: LineSettings, session: str = "") -> Iterator[Event]:
    """The events of one log, in its order."""
    events = _through(log, kit, lines, session or stem(log.path))
    return events if log.run is None else _run(events, log.run)


def identity(event: Event) -> Hashable:
    """What makes an event the same one when another log, or a later reading, tells it again."""
    match event:
        case ToolUse():
            return (
                ("tool", event.agent, event.id) if event.id else ("tool", event.agent, event.at, event.call)
            )
        case Turn():
            return ("turn", event.agent, event.id) if event.id else ("turn", event.at, event.context_tokens)
        case Prompt():
            return "prompt", event.agent, event.at, event.call
        case Compaction():
            return "compaction", event.agent, event.at
        case Advice():
            return "advice", event.agent, event.at, event.call
        case AgentStart():
            return "agent", event.child
        case AgentEnd():
            return "agent end", event.child, event.at
        case SessionStart():
            return "session", event.agent, event.session
        case SessionEnd():
            return "session end", event.agent, event.at


def identities(logs: tuple[Log, ...], kit: Kit, lines: LineSettings) -> set[Hashable]:
    """What other logs tell to its end, their own faults left uncounted."""
    silent = kit.counting(Diagnostics())
    return {
        identity(event)
        for log in logs
        for event in log_events(log, silent, lines)
        if not (isinstance(event, ToolUse) and event.outcome == "pending")
    }


def _through(log: Log, kit: Kit, lines: LineSettings, session: str) -> Iterator[Event]:
    reader = log.format.reader(kit, agent=log.agent, session=session)
    for record in records(log, kit.diagnostics, lines, reader.passes):
        if events := admit(reader, record):
            yield from events
    yield from finish(reader, log.path)


def _run(events: Iterator[Event], wanted: int) -> Iterator[Event]:
    run = -1
    for event in events:
        if isinstance(event, SessionStart) and event.agent == MAIN:
            run += 1
        if run > wanted:
            return
        if max(run, 0) == wanted:
            yield event


def _without(events: Iterator[Event], told: set[Hashable]) -> Iterator[Event]:
    return (event for event in events if isinstance(event, SessionStart) or identity(event) not in told)


def _time(event: Event) -> float:
    return event.at
