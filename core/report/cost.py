"""Costs of sessions, read from their logs."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import chain, islice
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from core.events import MAIN, Compaction, Event, SessionStart, ToolUse, Turn

if TYPE_CHECKING:
    from core.logs.format import Kit
    from core.logs.session import LogSession
    from core.settings import Settings


class Charge(msgspec.Struct, array_like=True):
    """The turns of one minute with one model, by the main agent or by its sub-agents."""

    minute: int  # Since the epoch.
    model: str
    sub: bool
    dollars: float = 0.0
    priced: int = 0  # Turns whose price is known.
    unpriced: int = 0
    tokens: int = 0
    unpriced_tokens: int = 0

    def add(self, other: Charge) -> None:
        """Take in more of the same minute and model."""
        self.dollars += other.dollars
        self.priced += other.priced
        self.unpriced += other.unpriced
        self.tokens += other.tokens
        self.unpriced_tokens += other.unpriced_tokens


class SessionCost(msgspec.Struct, array_like=True):
    """The charges of one session and its sub-agents."""

    session: str
    agent: str
    project: str
    title: str
    path: str
    dated: bool
    subs: int = 0  # How many sub-agents took turns.
    charges: list[Charge] = msgspec.field(default_factory=list)
    calls: int = 0
    failures: int = 0
    # Tokens at which the main agent's context is compacted, as the whole log tells; 0 where unread.
    compaction_point: int = 0
    turns_left: int | None = None  # Turns until then, at the usual growth.


_AT_ONCE = 1024  # Events read before a fault is looked for.
_HARMLESS = {"not JSON"}  # Faults of lines that no reader gets anything from.


class CostReader:
    """Reads one session for what it was charged, a piece at a time."""

    def __init__(self, session: LogSession, settings: Settings, kit: Kit | None = None) -> None:
        from core.agents.registry import make_kit
        from core.engine.mind.sleep import ContextGauge
        from core.logs.glimpse import title_of
        from core.logs.session import log_events, read_session

        # Whole once `advance` has told so.
        self.made = SessionCost(session.id, session.tool, "", title_of(session), str(session.path), True)
        kit, lines = kit or make_kit(settings.ingest), settings.ingest.lines
        helpers = (log_events(log, kit, lines, session.id) for log in session.helpers)
        self._events = chain(read_session(session._replace(helpers=()), kit, lines), *helpers)
        self._sums: dict[tuple[int, str, str], Charge] = {}  # By minute, model and agent.
        self._gauge = ContextGauge(settings.mind.context)

    def advance(self, most: int | None = None) -> bool:
        """Read up to `most` further events; return whether it is done."""
        read = 0
        for event in islice(self._events, most):
            read += 1
            self._take(event)
        done = most is None or read < most
        if done:
            self.made.subs = len({agent for _, _, agent in self._sums} - {MAIN})
            self.made.charges = _joined(self._sums)
            self.made.compaction_point, self.made.turns_left = self._gauge.point, self._gauge.turns_left()
        return done

    def _take(self, event: Event) -> None:
        cost = self.made
        if isinstance(event, Turn):
            charge = charge_of(event)
            if not charge.sub:
                self._gauge.turn(event.context_tokens, event.context_window)
            charged = self._sums.setdefault((charge.minute, charge.model, event.agent), charge)
            if charged is not charge:
                charged.add(charge)
        elif isinstance(event, ToolUse):
            cost.calls += 1
            cost.failures += event.outcome == "failure"
        elif isinstance(event, Compaction) and event.agent == MAIN:
            self._gauge.record(event)
        elif isinstance(event, SessionStart) and event.agent == MAIN:
            cost.project = cost.project or event.project
            cost.agent = event.tool or cost.agent
            cost.dated = cost.dated and not event.synthetic_time


def session_cost(session: LogSession, settings: Settings) -> SessionCost:
    """Read one session for what it was charged; its calls are counted only if that needs them read."""
    from core.agents.registry import make_kit

    if (spending := _spending(session)) is not None:
        kit = make_kit(settings.ingest)
        reader = CostReader(spending, settings, kit)
        done = unsure = False
        while not (done or unsure):
            done = reader.advance(_AT_ONCE)
            unsure = not kit.diagnostics.counts.keys() <= _HARMLESS
        if not unsure:
            return reader.made
    reader = CostReader(session, settings)
    reader.advance()
    return reader.made


def _spending(session: LogSession) -> LogSession | None:
    """Return the session as logs of spending alone; None if the format has no such reader, or only its calls reveal
    copies."""
    logs = (*session.logs, *session.helpers)
    if session.copied or session.repeated or any(log.format.spending is None for log in logs):
        return None
    logs, helpers = (
        tuple(log._replace(format=log.format._replace(reader=log.format.spending or log.format.reader)) for log in some)
        for some in (session.logs, session.helpers)
    )
    return session._replace(logs=logs, helpers=helpers)


def _joined(sums: dict[tuple[int, str, str], Charge]) -> list[Charge]:
    """Add up charges by minute, model and main or sub-agent, ordered whatever the order of reading."""
    joined: dict[tuple[int, str, bool], Charge] = {}
    for _, charge in sorted(sums.items(), key=itemgetter(0)):
        if charge.priced or charge.unpriced or charge.tokens or charge.dollars:
            key = (charge.minute, charge.model, charge.sub)
            joined.setdefault(key, Charge(*key)).add(charge)
    return list(joined.values())


def charge_of(turn: Turn) -> Charge:
    """One turn alone: the only place where a turn becomes a sum of dollars."""
    tokens = turn.input_tokens + turn.output_tokens + turn.cache_read + turn.cache_write
    priced = turn.cost is not None
    return Charge(
        int(turn.at // 60),
        turn.model,
        turn.agent != MAIN,
        turn.cost or 0.0,
        int(priced and not turn.only_ends),
        int(not priced),
        tokens,
        0 if priced else tokens,
    )


_STRETCH = 3600.0  # Seconds over which the pace is taken.
_SHORTEST = 300.0  # Seconds below which there is no rate yet.


class Spent(NamedTuple):
    """US dollars of all agents of a session so far."""

    dollars: float = 0.0
    priced: int = 0  # Turns whose price is known.
    unpriced: int = 0
    rate: float | None = None  # Dollars per hour, recently; None if it is too early.


class Spending:
    """Running sums over a recording's turns; each event is looked at once."""

    __slots__ = ("_dollars", "_events", "_places", "_priced", "_seen", "_times")

    def __init__(self, events: Sequence[Event]) -> None:
        self._events = events
        self._seen = 0
        self._places: list[int] = []
        self._times: list[float] = []
        self._dollars: list[float] = [0.0]
        self._priced: list[int] = [0]

    def at(self, index: int, moment: float, pending: Sequence[Event] = ()) -> Spent:
        """After the first `index` events, at a moment that is not before the last of them.

        `pending` events have begun and not ended: a turn among them has its price already.
        """
        self._grow()
        turns = bisect_left(self._places, index)
        charges = [charge_of(event) for event in pending if isinstance(event, Turn)]
        dollars = self._dollars[turns] + sum([charge.dollars for charge in charges])
        priced = self._priced[turns] + sum([charge.priced for charge in charges])
        unpriced = turns - self._priced[turns] + sum([charge.unpriced for charge in charges])
        return Spent(dollars, priced, unpriced, self._rate_a_minute(turns, moment))

    def _rate_a_minute(self, turns: int, moment: float) -> float | None:
        if not turns or not self._priced[turns]:
            return None
        since = max(self._times[0], moment - _STRETCH)
        if moment - since < _SHORTEST:
            return None
        first = min(turns, bisect_right(self._times, since) - (since == self._times[0]))
        return (self._dollars[turns] - self._dollars[max(0, first)]) * 3600.0 / (moment - since)

    def _grow(self) -> None:
        events = self._events
        for place in range(self._seen, len(events)):
            event = events[place]
            if isinstance(event, Turn) and not event.only_ends:
                self._places.append(place)
                self._times.append(max(event.at, self._times[-1] if self._times else event.at))
                charge = charge_of(event)
                self._dollars.append(self._dollars[-1] + charge.dollars)
                self._priced.append(self._priced[-1] + charge.priced)
        self._seen = len(events)
