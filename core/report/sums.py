"""Sums of what sessions cost by day, project, model, agent or session, and where today is heading.

Nothing here needs more than Python itself: an answer that is kept is summed up before anything is imported.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from core.report.cost import Charge, SessionCost
    from core.settings.program import CostSettings

    SummedCharge: TypeAlias = "Charge | KeptCharge"  # Fresh, or read from the cache.
    SummedCost: TypeAlias = "SessionCost | KeptCost"


Axis = Literal["day", "project", "model", "agent", "session"]
UNDATED = "undated"  # The day of a session whose log has no times.
UNKNOWN = "unknown"
_LEAST = 300.0  # Seconds of work below which there is no pace yet.


class KeptCharge(NamedTuple):
    """A `Charge` as it is cached."""

    minute: int
    model: str
    sub: bool
    dollars: float
    priced: int
    unpriced: int
    tokens: int
    unpriced_tokens: int


class KeptCost(NamedTuple):
    """A `SessionCost` as it is cached."""

    session: str
    agent: str
    project: str
    title: str
    path: str
    dated: bool
    subs: int
    charges: list[KeptCharge]
    calls: int
    failures: int
    compaction_point: int
    turns_left: int | None

    @classmethod
    def of(cls, fields: list[Any]) -> KeptCost:
        """Build it from plain JSON values."""
        cost = cls._make(fields)
        return cost._replace(charges=list(map(KeptCharge._make, cost.charges)))


class Budget(NamedTuple):
    """The settings a forecast needs: what a day may cost, and how its pace is extrapolated."""

    dollars: float
    evening: float  # Hour up to which the pace is extrapolated.
    stretch: float  # Minutes over which the pace is measured.

    @classmethod
    def of(cls, settings: CostSettings) -> Budget:
        """Return the budget from the settings."""
        return cls(settings.budget, settings.evening, settings.stretch)


class Sum:
    """Charges added up."""

    __slots__ = ("dollars", "priced", "sub_dollars", "tokens", "unpriced", "unpriced_tokens")

    def __init__(self) -> None:
        self.dollars = self.sub_dollars = 0.0  # Of all agents, and of sub-agents alone.
        self.priced = self.unpriced = 0  # Turns whose price is known, and other turns.
        self.tokens = self.unpriced_tokens = 0

    def add(self, charge: SummedCharge) -> None:
        """Add one charge."""
        self.dollars += charge.dollars
        self.sub_dollars += charge.dollars if charge.sub else 0.0
        self.priced += charge.priced
        self.unpriced += charge.unpriced
        self.tokens += charge.tokens
        self.unpriced_tokens += charge.unpriced_tokens

    @property
    def unknown(self) -> float:
        """Return the share of tokens without a price, or of turns if there are no tokens."""
        if self.unpriced_tokens:
            return self.unpriced_tokens / self.tokens
        return self.unpriced / (self.priced + self.unpriced) if self.unpriced else 0.0


class CostForecast(NamedTuple):
    """Today's cost so far, and its forecast at this pace."""

    spent: Sum
    rate: float | None  # Dollars per hour lately; None if unknown.
    until: float  # The hour up to which it is extrapolated.
    expected: float | None
    budget: float  # Dollars per day; 0 for no limit.

    @property
    def over(self) -> bool:
        """Whether today is, or will be, over budget."""
        return self.budget > 0 and round(max(self.spent.dollars, self.expected or 0.0), 2) > self.budget

    @property
    def when(self) -> str:
        """The end of the forecast, in a word."""
        return "midnight" if self.until == 24 else "evening"


class DaySpent(NamedTuple):
    """Today's cost for one line of a screen, from the longest way to say it to the shortest."""

    ways: tuple[str, ...]
    over: bool


def day_spent(today: CostForecast, *, open_end: bool = False) -> DaySpent:
    """Say what today costs, of how much, and what it comes to; what has no price is said to be unknown."""
    total = today.spent
    if not total.priced:
        return DaySpent(("today: cost unknown" if total.unpriced else "",), False)
    least = "≥" if total.unpriced or open_end else ""
    sentence = f"today {least}${total.dollars:,.2f}"
    ways = [sentence]
    if today.budget:
        over = f" ▲ {'over' if total.dollars > today.budget else 'will pass'} budget" if today.over else ""
        sentence += f" of ${today.budget:,.0f}" if today.budget == int(today.budget) else f" of ${today.budget:,.2f}"
        ways = [sentence + over, f"{sentence} ▲" if over else sentence]
    if today.expected is not None and today.expected >= total.dollars + 0.005:
        ways.insert(0, f"{sentence}, at this pace ${today.expected:,.2f} by {today.when}{over if today.budget else ''}")
    return DaySpent(tuple(ways), today.over)


def by(axis: Axis, costs: Iterable[SummedCost], zone: tzinfo | None, since: float | None = None) -> dict[str, Sum]:
    """Return sums by one axis: days newest first, everything else most expensive first."""
    sums: defaultdict[str, Sum] = defaultdict(Sum)
    name = _namer(axis, zone)
    for cost in costs:
        for charge in cost.charges:
            if since is None or (cost.dated and charge.minute * 60 >= since):
                sums[name(cost, charge)].add(charge)
    if axis == "day":
        return dict(sorted(sums.items(), key=lambda item: (item[0] != UNDATED, item[0]), reverse=True))
    return dict(sorted(sums.items(), key=lambda item: (-item[1].dollars, -item[1].tokens, item[0])))


def total(sums: Iterable[Sum]) -> Sum:
    """Return the total of several sums."""
    whole = Sum()
    for one in sums:
        for field in Sum.__slots__:
            setattr(whole, field, getattr(whole, field) + getattr(one, field))
    return whole


def added(charges: Iterable[SummedCharge]) -> Sum:
    """Return charges as one sum."""
    whole = Sum()
    for charge in charges:
        whole.add(charge)
    return whole


def dated_charges(costs: Iterable[SummedCost]) -> Iterator[SummedCharge]:
    """Yield every charge with a known time."""
    return (charge for cost in costs if cost.dated for charge in cost.charges)


def forecast(charges: Iterable[SummedCharge], budget: Budget, now: float, zone: tzinfo | None) -> CostForecast:
    """Forecast today's cost at a given moment: until the evening, later until midnight."""
    moment = datetime.fromtimestamp(now, zone)
    hour = moment.hour + moment.minute / 60 + moment.second / 3600
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
    today, lately = Sum(), 0.0
    begin = max(midnight, now - budget.stretch * 60)
    first = now
    for charge in charges:
        at = charge.minute * 60
        if midnight <= at <= now:
            today.add(charge)
            first = min(first, at)
            if at > begin - 60:
                lately += charge.dollars
    until = budget.evening if hour < budget.evening else 24.0
    worked = now - max(begin, first)
    if not today.priced or worked < _LEAST:
        return CostForecast(today, None, until, None, budget.dollars)
    rate = lately * 3600 / worked
    return CostForecast(today, rate, until, today.dollars + rate * (until - hour), budget.dollars)


def _namer(axis: Axis, zone: tzinfo | None) -> Callable[[SummedCost, SummedCharge], str]:
    days: dict[int, str] = {}

    def day(cost: SummedCost, charge: SummedCharge) -> str:
        if not cost.dated:
            return UNDATED
        quarter = charge.minute // 15
        if quarter not in days:
            days[quarter] = datetime.fromtimestamp(charge.minute * 60, zone).date().isoformat()
        return days[quarter]

    names: dict[Axis, Callable[[SummedCost, SummedCharge], str]] = {
        "day": day,
        "project": lambda cost, _: cost.project or UNKNOWN,
        "model": lambda _, charge: charge.model or UNKNOWN,
        "agent": lambda cost, _: cost.agent or UNKNOWN,
        "session": lambda cost, _: cost.path + "\n" + cost.session,
    }
    return names[axis]
