"""What sessions cost: sums by day, project, model, agent or session, and where today is heading."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from core.events import MAIN, SessionStart, Turn

if TYPE_CHECKING:
    from core.logs.session import LogSession
    from core.settings import Settings
    from core.settings.cost import CostSettings

Axis = Literal["day", "project", "model", "agent", "session"]
UNDATED = "undated"
"""The day of a session whose log holds no times."""
UNKNOWN = "unknown"
_LEAST = 300.0
"""Seconds of work below which there is no pace yet."""


class Charge(msgspec.Struct, array_like=True):
    """The turns of one minute with one model, by the main agent or by its sub-agents."""

    minute: int
    """Since the epoch."""
    model: str
    sub: bool
    dollars: float = 0.0
    priced: int = 0
    """Turns whose price is known."""
    unpriced: int = 0
    tokens: int = 0
    unpriced_tokens: int = 0


class SessionCost(msgspec.Struct, array_like=True):
    """What one session and its sub-agents were charged."""

    session: str
    agent: str
    project: str
    title: str
    path: str
    dated: bool
    subs: int
    """How many sub-agents took turns."""
    charges: list[Charge]


class Budget(msgspec.Struct, array_like=True):
    """What a day may cost, and how its pace is carried on: what a forecast needs of the settings."""

    dollars: float
    evening: float
    """Hour until which the pace is carried on."""
    stretch: float
    """Minutes over which the pace is taken."""

    @classmethod
    def of(cls, settings: CostSettings) -> Budget:
        """Those the person has set."""
        return cls(settings.budget, settings.evening, settings.stretch)


class Sum(msgspec.Struct):
    """Charges added up."""

    dollars: float = 0.0
    sub_dollars: float = 0.0
    """The part of it that sub-agents cost."""
    priced: int = 0
    unpriced: int = 0
    tokens: int = 0
    unpriced_tokens: int = 0

    def add(self, charge: Charge) -> None:
        """Take one more in."""
        self.dollars += charge.dollars
        self.sub_dollars += charge.dollars if charge.sub else 0.0
        self.priced += charge.priced
        self.unpriced += charge.unpriced
        self.tokens += charge.tokens
        self.unpriced_tokens += charge.unpriced_tokens

    @property
    def unknown(self) -> float:
        """Share of the tokens whose price is unknown; of the turns, where no tokens are told either."""
        if self.unpriced_tokens:
            return self.unpriced_tokens / self.tokens
        return self.unpriced / (self.priced + self.unpriced) if self.unpriced else 0.0


class CostForecast(NamedTuple):
    """What today costs so far, and what it comes to at this pace."""

    spent: Sum
    rate: float | None
    """Dollars an hour lately; None where that cannot be said yet."""
    until: float
    """The hour of the day up to which it is carried on."""
    expected: float | None
    budget: float
    """Dollars for the day; 0 where there is no limit."""

    @property
    def over(self) -> bool:
        """Whether the day costs, or will cost, more than it may."""
        return self.budget > 0 and max(self.spent.dollars, self.expected or 0.0) > self.budget


def session_cost(session: LogSession, settings: Settings) -> SessionCost:
    """Read one session for what it was charged."""
    from core.logs.session import read_session
    from core.logs.titles import title_of
    from core.store.kept_events import reading_kit

    made = SessionCost(session.id, session.tool, "", title_of(session), str(session.path), True, 0, [])
    sums: dict[tuple[int, str, bool], Charge] = {}
    subs: set[str] = set()
    for event in read_session(session, reading_kit(settings), settings.ingest.lines):
        if isinstance(event, Turn):
            sub = event.agent != MAIN
            if sub:
                subs.add(event.agent)
            key = (int(event.at // 60), event.model, sub)
            charge = sums.get(key)
            if charge is None:
                charge = sums[key] = Charge(*key)
            _count(charge, event)
        elif isinstance(event, SessionStart) and event.agent == MAIN:
            made.project = made.project or event.project
            made.agent = event.tool or made.agent
            made.dated = made.dated and not event.synthetic_time
    made.subs = len(subs)
    made.charges = list(sums.values())
    return made


def charge_of(turn: Turn) -> Charge:
    """One turn alone."""
    charge = Charge(int(turn.at // 60), turn.model, turn.agent != MAIN)
    _count(charge, turn)
    return charge


def _count(charge: Charge, turn: Turn) -> None:
    tokens = turn.input_tokens + turn.output_tokens + turn.cache_read + turn.cache_write
    charge.tokens += tokens
    if turn.cost is None:
        charge.unpriced += 1
        charge.unpriced_tokens += tokens
    else:
        charge.priced += 1
        charge.dollars += turn.cost


def by(
    axis: Axis, costs: Iterable[SessionCost], zone: tzinfo | None, since: float | None = None
) -> dict[str, Sum]:
    """Sums along one axis: days the newest first, all else the most expensive first."""
    sums: dict[str, Sum] = {}
    name = _namer(axis, zone)
    for cost in costs:
        for charge in cost.charges:
            if since is None or (cost.dated and charge.minute * 60 >= since):
                sums.setdefault(name(cost, charge), Sum()).add(charge)
    if axis == "day":
        return dict(sorted(sums.items(), key=lambda item: (item[0] != UNDATED, item[0]), reverse=True))
    return dict(sorted(sums.items(), key=lambda item: (-item[1].dollars, -item[1].tokens, item[0])))


def total(sums: Iterable[Sum]) -> Sum:
    """All of them as one."""
    whole = Sum()
    for one in sums:
        for field in Sum.__struct_fields__:
            setattr(whole, field, getattr(whole, field) + getattr(one, field))
    return whole


def forecast(costs: Sequence[SessionCost], budget: Budget, now: float, zone: tzinfo | None) -> CostForecast:
    """Where today is heading at a moment that is handed in: to the evening, after it to midnight."""
    moment = datetime.fromtimestamp(now, zone)
    hour = moment.hour + moment.minute / 60 + moment.second / 3600
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
    spent, lately = Sum(), 0.0
    begin = max(midnight, now - budget.stretch * 60)
    first = now
    for cost in costs:
        for charge in cost.charges if cost.dated else ():
            at = charge.minute * 60
            if midnight <= at <= now:
                spent.add(charge)
                first = min(first, at)
                if at > begin - 60:
                    lately += charge.dollars
    until = budget.evening if hour < budget.evening else 24.0
    worked = now - max(begin, first)
    if not spent.priced or worked < _LEAST:
        return CostForecast(spent, None, until, None, budget.dollars)
    rate = lately * 3600 / worked
    return CostForecast(spent, rate, until, spent.dollars + rate * (until - hour), budget.dollars)


def _namer(axis: Axis, zone: tzinfo | None) -> Callable[[SessionCost, Charge], str]:
    days: dict[int, str] = {}

    def day(cost: SessionCost, charge: Charge) -> str:
        if not cost.dated:
            return UNDATED
        quarter = charge.minute // 15
        if quarter not in days:
            days[quarter] = datetime.fromtimestamp(charge.minute * 60, zone).strftime("%Y-%m-%d")
        return days[quarter]

    names: dict[Axis, Callable[[SessionCost, Charge], str]] = {
        "day": day,
        "project": lambda cost, _: cost.project or UNKNOWN,
        "model": lambda _, charge: charge.model or UNKNOWN,
        "agent": lambda cost, _: cost.agent or UNKNOWN,
        "session": lambda cost, _: cost.path + "\n" + cost.session,
    }
    return names[axis]
