"""What sessions cost, along every axis, and where a day is heading."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from core.report.cost import Charge, SessionCost
from core.report.sums import UNDATED, Budget, Sum, by, dated_charges, day_spent, forecast, total
from core.settings.program import CostSettings
from tests.core.logs import log_lines as logs
from tests.core.report.trees import Tree, tree

__all__ = ["tree"]

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC).timestamp()
MINUTE = int(NOON // 60)


def charge(minute: int = 0, dollars: float | None = 1.0, *, model: str = "m", sub: bool = False) -> Charge:
    """One turn of a hundred tokens, so many minutes after noon."""
    known = dollars is not None
    return Charge(MINUTE + minute, model, sub, dollars or 0.0, int(known), int(not known), 100, 0 if known else 100)


def cost(
    *charges: Charge, name: str = "s", project: str = "/p", agent: str = "codex", dated: bool = True
) -> SessionCost:
    return SessionCost(name, agent, project, "", f"/logs/{name}", dated, 0, list(charges))


def test_axes() -> None:
    costs = [
        cost(charge(0), charge(1, 2.0, model="n", sub=True), name="a"),
        cost(charge(-24 * 60, 4.0), name="b", project="/q", agent="pi"),
    ]
    assert {name: one.dollars for name, one in by("day", costs, UTC).items()} == {"2026-03-04": 3.0, "2026-03-03": 4.0}
    assert list(by("day", costs, UTC)) == ["2026-03-04", "2026-03-03"], "the newest first"
    assert {name: one.dollars for name, one in by("project", costs, UTC).items()} == {"/q": 4.0, "/p": 3.0}
    assert {name: one.dollars for name, one in by("model", costs, UTC).items()} == {"m": 5.0, "n": 2.0}
    assert list(by("agent", costs, UTC)) == ["pi", "codex"], "the most expensive first"
    rolled = by("session", costs, UTC)["/logs/a\na"]
    assert (rolled.dollars, rolled.sub_dollars) == (3.0, 2.0)
    assert total(by("day", costs, UTC).values()).dollars == 7.0


def test_since_is_taken_at_its_minute() -> None:
    costs = [cost(charge(-1), charge(0), charge(1)), cost(charge(9), name="u", dated=False)]
    assert sum(one.priced for one in by("day", costs, UTC, NOON).values()) == 2
    assert sum(one.priced for one in by("day", costs, UTC, NOON + 1).values()) == 1
    assert by("day", costs, UTC)[UNDATED].priced == 1
    assert list(by("day", costs, UTC))[-1] == UNDATED


def test_days_are_those_of_the_zone() -> None:
    zone = timezone(timedelta(hours=5, minutes=45))
    late = cost(charge(6 * 60 + 14), charge(6 * 60 + 15))
    assert [one.priced for one in by("day", [late], zone).values()] == [1, 1]


def test_what_has_no_price_is_unknown() -> None:
    one = Sum()
    assert one.unknown == 0.0
    one.add(charge(0, None))
    assert one.unknown == 1.0
    one.add(charge(0))
    assert one.unknown == 0.5
    silent = Sum()
    silent.add(Charge(0, "m", False, 0.0, 3, 1, 0, 0))
    assert silent.unknown == 0.25, "turns count where tokens are not told"


@pytest.mark.parametrize(
    ("hour", "until", "expected"), [(17.5, 18.0, 4.0), (18.0, 24.0, 3.0 + 6 * 2.0), (23.0, 24.0, 3.0 + 2.0)]
)
def test_the_pace_goes_on_to_the_evening_and_then_to_midnight(hour: float, until: float, expected: float) -> None:
    now = NOON + (hour - 12) * 3600
    early = int((hour - 12) * 60)
    costs = [cost(charge(early - 120), charge(early - 59), charge(early - 1))]
    told = forecast(dated_charges(costs), Budget.of(CostSettings()), now, UTC)
    assert told.until == until
    assert told.spent.dollars == 3.0
    assert told.rate == pytest.approx(2.0)
    assert told.expected == pytest.approx(expected)


def test_there_is_no_pace_before_some_minutes_went_by() -> None:
    assert forecast([charge(0)], Budget.of(CostSettings()), NOON + 299, UTC).rate is None
    assert forecast([charge(0)], Budget.of(CostSettings()), NOON + 300, UTC).rate == pytest.approx(12.0)
    assert forecast([charge(0, None)], Budget.of(CostSettings()), NOON + 900, UTC).expected is None
    assert forecast([charge(-24 * 60)], Budget.of(CostSettings()), NOON, UTC).spent.priced == 0, "that was yesterday"
    assert forecast([charge(1)], Budget.of(CostSettings()), NOON, UTC).spent.priced == 0, "that has not been yet"
    midnight = [charge(-12 * 60), charge(-12 * 60 - 1)]
    assert forecast(midnight, Budget.of(CostSettings()), NOON, UTC).spent.priced == 1


@pytest.mark.parametrize(("budget", "over"), [(0.0, False), (1.0, True), (2.0, True), (1000.0, False)])
def test_a_budget_is_held_against_what_is_spent_and_expected(budget: float, over: bool) -> None:
    told = forecast([charge(0, 1.5)], Budget.of(CostSettings(budget=budget)), NOON + 600, UTC)
    assert told.over is over


@pytest.mark.parametrize(
    ("budget", "longest", "shortest", "over"),
    [
        (0, "today $1.50, at this pace $54.00 by evening", "today $1.50", False),
        (55, "today $1.50 of $55, at this pace $54.00 by evening", "today $1.50 of $55", False),
        (54.0, "today $1.50 of $54, at this pace $54.00 by evening", "today $1.50 of $54", False),
        (40, "today $1.50 of $40, at this pace $54.00 by evening ▲ will pass budget", "today $1.50 of $40 ▲", True),
        (1, "today $1.50 of $1, at this pace $54.00 by evening ▲ over budget", "today $1.50 of $1 ▲", True),
    ],
)
def test_the_day_is_said_in_one_line(budget: float, longest: str, shortest: str, over: bool) -> None:
    told = day_spent(forecast([charge(0, 1.5)], Budget(budget, 18.0, 60.0), NOON + 600, UTC))
    assert (told.ways[0], told.ways[-1], told.over) == (longest, shortest, over)


def test_a_day_without_prices_is_unknown_and_never_within_a_budget() -> None:
    nothing = forecast([], Budget(5.0, 18.0, 60.0), NOON + 600, UTC)
    assert day_spent(nothing).ways == ("",)
    unknown = forecast([charge(0, None)], Budget(5.0, 18.0, 60.0), NOON + 600, UTC)
    assert day_spent(unknown).ways == ("today: cost unknown",)
    some = forecast([charge(0, None), charge(0, 1.5)], Budget(5.0, 18.0, 60.0), NOON + 200, UTC)
    assert day_spent(some).ways[-1] == "today ≥$1.50 of $5"
    known = forecast([charge(0, 1.5)], Budget(0.0, 18.0, 60.0), NOON + 200, UTC)
    assert day_spent(known, open_end=True).ways == ("today ≥$1.50",)


def test_a_session_is_read_with_its_sub_agents(tree: Tree) -> None:
    main = tree.folder / "s-1.jsonl"
    main.write_bytes(logs.session(3))
    inner = tree.folder / "s-1" / "subagents" / "agent-x.jsonl"
    inner.parent.mkdir(parents=True)
    inner.write_bytes(logs.call(3, "t9", isSidechain=True, agentId="x") + logs.result(4, "t9", agentId="x"))
    (read,) = tree.costs()
    assert (read.session, read.agent, read.project) == ("s-1", "claude-code", "/srv/project")
    assert read.title == "go on"
    assert sum(one.priced for one in read.charges if not one.sub) == 3
    assert (read.subs, sum(one.priced for one in read.charges if one.sub)) == (1, 1)
