"""Costs at any place equal a sum from the start; the pace is that of the last hour."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.events import Event, Prompt, Turn
from core.report.cost import Spending, Spent

COSTS = st.lists(st.none() | st.floats(0, 5) | st.just(-1.0), max_size=40)


@given(COSTS, st.integers(0, 40), st.integers(0, 40))
def test_any_place_equals_a_sum_from_the_start(costs: list[float | None], index: int, first: int) -> None:
    events: list[Event] = []
    spending = Spending(events)
    for place, cost in enumerate(costs):
        turn = Turn(at=float(place), cost=cost, output_tokens=1)
        events.append(Prompt(at=float(place), characters=1) if cost == -1.0 else turn)
        if place == first:
            spending.at(place, float(place))
    seen = [event for event in events[:index] if isinstance(event, Turn)]
    spent = spending.at(min(index, len(events)), 1e9)
    assert spent.dollars == pytest.approx(sum(turn.cost or 0.0 for turn in seen))
    assert spent.priced == sum(turn.cost is not None for turn in seen)
    assert spent.priced + spent.unpriced == len(seen)


@pytest.mark.parametrize(
    ("index", "moment", "rate"),
    [
        (1, 0.0, None),
        (1, 299.0, None),
        (1, 300.0, 12.0),
        (2, 1800.0, 6.0),
        (3, 3600.0, 4.0),
        (3, 3601.0, 3.0),
        (3, 7201.0, 0.0),
    ],
)
def test_the_pace_is_that_of_the_last_hour(index: int, moment: float, rate: float | None) -> None:
    events: list[Event] = [Turn(at=0.0, cost=1.0), Turn(at=1800.0, cost=2.0), Turn(at=3600.0, cost=1.0)]
    found = Spending(events).at(index, moment).rate
    assert found is None if rate is None else found == pytest.approx(rate, rel=0.01)


def test_without_prices_nothing_is_claimed() -> None:
    assert Spending([Turn(at=0.0), Turn(at=900.0)]).at(2, 900.0) == Spent(0.0, 0, 2, None)
    assert Spending([]).at(0, 0.0) == Spent()
