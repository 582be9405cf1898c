"""The forecast learns, is scored honestly, and stays small."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.engine.mind.forecast import Forecast
from core.events import Outcome, ToolUse
from core.settings.mind import ForecastSettings
from tests.core import strategies


def call(program: str = "pytest", outcome: Outcome = "success") -> ToolUse:
    return ToolUse(at=0.0, action="shell_exec", tool="Bash", program=program, outcome=outcome)


def test_the_score_is_taken_before_the_outcome_is_learnt() -> None:
    forecast = Forecast(ForecastSettings(smoothing=1.0))
    expected = forecast.expect("shell_exec", "pytest")
    forecast.update(call(outcome="failure"))
    assert forecast.brier == pytest.approx((expected - 1.0) ** 2)
    assert forecast.surprise == pytest.approx(1.0 - expected)
    assert forecast.expect("shell_exec", "pytest") > expected


@pytest.mark.parametrize("outcome", ["rejected", "collateral", "pending"])
def test_an_outcome_that_says_nothing_is_not_scored(outcome: Outcome) -> None:
    forecast = Forecast(ForecastSettings())
    before = forecast.dump()
    assert forecast.update(call(outcome=outcome)) is False
    assert forecast.dump() == before


def test_kinds_of_calls_are_told_apart() -> None:
    forecast = Forecast(ForecastSettings())
    for _ in range(40):
        forecast.update(call("pytest", "failure"))
        forecast.update(call("ls"))
    assert forecast.expect("shell_exec", "pytest") > 0.9
    assert forecast.expect("shell_exec", "ls") < 0.15
    reading = forecast.read()
    assert reading.accuracy > 0.9
    assert reading.skill > 0.8
    assert reading.next_failure == pytest.approx(0.5, abs=0.05)


def test_the_last_outcomes_count() -> None:
    forecast = Forecast(ForecastSettings())
    for turn in range(60):
        forecast.update(call(outcome="failure" if turn % 2 else "success"))
    after_failure = forecast.expect("shell_exec", "pytest")
    forecast.update(call())
    assert after_failure < 0.2 and forecast.expect("shell_exec", "pytest") > 0.8


def test_a_coin_gives_no_accuracy_and_certainty_gives_all() -> None:
    forecast = Forecast(ForecastSettings(ignorance=0.25, initial_accuracy=0.5))
    assert forecast.accuracy == pytest.approx(0.5)
    forecast.brier = 0.25
    assert forecast.accuracy == 0.0
    forecast.brier = 0.9
    assert forecast.accuracy == 0.0
    forecast.brier = 0.0
    assert forecast.accuracy == 1.0


def test_the_trend_follows_a_change_of_luck() -> None:
    forecast = Forecast(ForecastSettings())
    for _ in range(80):
        forecast.update(call())
    assert forecast.trend == 1
    for _ in range(400):
        forecast.update(call())
    assert forecast.trend == 0
    for _ in range(3):
        forecast.update(call(outcome="failure"))
    assert forecast.trend == -1


def test_memory_is_bounded_and_the_longest_unused_kind_goes() -> None:
    forecast = Forecast(ForecastSettings(classes=8, memory=16))
    for number in range(2000):
        forecast.update(call("kept"))
        forecast.update(call(f"program-{number}", "failure"))
    rows = forecast.dump()[0]
    assert [row[1] for row in rows] == [
        "program-1993",
        *(f"program-{n}" for n in range(1994, 1999)),
        "kept",
        "program-1999",
    ]
    assert all(row[4] <= 16 for row in rows)


@given(st.lists(strategies.tool_uses(), max_size=80), st.integers(0, 80))
@settings(max_examples=40)
def test_a_loaded_forecast_goes_on_equal(calls: list[ToolUse], cut: int) -> None:
    kept = ForecastSettings(classes=4, memory=8)
    one, other = Forecast(kept), Forecast(kept)
    for event in calls[:cut]:
        one.update(event)
    state = one.dump()
    other.load([[list(row) for row in state[0]], *state[1:]])
    for event in calls[cut:]:
        assert one.update(event) == other.update(event)
        assert 0.0 < one.expected < 1.0 and 0.0 <= one.accuracy <= 1.0
    assert one.dump() == other.dump()
    assert one.read() == other.read()


def test_no_chance_is_said_to_be_smaller_than_the_least() -> None:
    forecast = Forecast(ForecastSettings(least=0.06))
    for _ in range(40):
        forecast.update(call("ls"))
    assert forecast.expect("shell_exec", "ls") == 0.06
    bold = Forecast(ForecastSettings(least=0.0))
    for _ in range(40):
        bold.update(call("ls"))
    assert bold.expect("shell_exec", "ls") < 0.06


def test_a_kind_that_hardly_failed_leans_on_all_calls_and_one_that_fails_does_not() -> None:
    leaning, upright = Forecast(ForecastSettings(lean=0.5)), Forecast(ForecastSettings(lean=0.0))
    for forecast in (leaning, upright):
        for _ in range(12):
            forecast.update(call("pytest", "failure"))
            forecast.update(call("ls"))
    assert leaning.expect("shell_exec", "ls") > upright.expect("shell_exec", "ls")
    assert leaning.expect("shell_exec", "pytest") == upright.expect("shell_exec", "pytest")
