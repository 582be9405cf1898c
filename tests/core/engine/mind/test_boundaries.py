"""Thresholds and limits of the mind at, below and above the value that is set."""

from __future__ import annotations

import pytest

from core.engine.mind.forecast import Forecast
from core.engine.mind.homeostasis import Homeostasis
from core.engine.mind.salience import Habituation, Salience
from core.engine.mind.stimulus import _WORDS, StimulusSource, _name
from core.events import ToolUse, Turn
from core.settings.mind import (
    ForecastSettings,
    HabituationSettings,
    HomeostasisSettings,
    SalienceSettings,
    StimulusSettings,
)
from tests.core.engine.mind.percepts import shell
from tests.core.engine.mind.test_salience import push

HABITS = HabituationSettings()


def call(program: str) -> ToolUse:
    return ToolUse(at=0.0, tool="Bash", action="shell_exec", program=program, outcome="success")


@pytest.mark.parametrize(("calls", "kept"), [(15, 15.0), (16, 8.0), (17, 9.0)])
def test_a_kind_of_call_is_halved_once_its_memory_is_full(calls: int, kept: float) -> None:
    forecast = Forecast(ForecastSettings(memory=16))
    for _ in range(calls):
        forecast.update(call("ls"))
    (row,) = forecast.dump()[0]
    assert row[4] == kept


@pytest.mark.parametrize(("calls", "kept"), [(63, 63.0), (64, 32.0), (65, 33.0)])
def test_all_calls_together_are_halved_at_four_times_that(calls: int, kept: float) -> None:
    forecast = Forecast(ForecastSettings(memory=16))
    for number in range(calls):
        forecast.update(call(f"p{number % 8}"))
    assert forecast.all_calls == kept


@pytest.mark.parametrize(("kinds", "known"), [(8, True), (9, False)])
def test_so_many_kinds_of_calls_are_remembered(kinds: int, known: bool) -> None:
    forecast = Forecast(ForecastSettings(classes=8))
    for number in range(kinds):
        forecast.update(call(f"p{number}"))
    assert ("p0" in {row[1] for row in forecast.dump()[0]}) is known


@pytest.mark.parametrize(("tick", "patterns"), [(999, 1), (1000, 0), (1001, 0)])
def test_habituation_is_cleaned_up_every_so_many_ticks(tick: int, patterns: int) -> None:
    habituation = Habituation(HabituationSettings.parse({"forgetting": 50, "collect_every": 1000}))
    habituation.observe(b"a" * 16, 0)
    habituation.tick(tick)
    assert len(habituation) == patterns


@pytest.mark.parametrize(("length", "shown"), [(_WORDS - 1, _WORDS - 1), (_WORDS, _WORDS), (_WORDS + 1, _WORDS)])
def test_a_long_name_is_cut_and_one_that_fits_is_not(length: int, shown: int) -> None:
    name = _name(call("x" * length))
    assert len(name) == shown
    assert name.endswith("…") is (length > _WORDS)


@pytest.mark.parametrize(("pushed", "kept"), [(7, 7), (8, 8), (9, 6)])
def test_the_queue_is_thinned_out_once_it_is_longer_than_it_may_be(pushed: int, kept: int) -> None:
    salience = Salience(SalienceSettings(length=8))
    for number in range(pushed):
        push(salience, 0.5, pattern=number)
    assert len(salience.ranked(0.0)) == kept


@pytest.mark.parametrize(("threshold", "straying"), [(0.24, 1), (0.25, 1), (0.26, 0)])
def test_a_signal_strays_from_its_threshold_on(threshold: float, straying: int) -> None:
    regulating = Homeostasis(HomeostasisSettings.parse({"vitality": {"threshold": threshold}, "smoothing": 0.5}))
    regulating.update(0.5, 0.5, 0.5)
    regulating.update(1.0, 0.5, 0.5)
    assert regulating._straying[0] == straying


@pytest.mark.parametrize(("off", "promoted"), [(-1e-9, True), (0.0, True), (1e-9, False)])
def test_an_item_is_promoted_from_the_threshold_on(off: float, promoted: bool) -> None:
    score = push(Salience(SalienceSettings()), 0.5).score
    assert push(Salience(SalienceSettings()), 0.5, threshold=score + off).promoted is promoted


@pytest.mark.parametrize(("now", "waiting"), [(299.0, 1), (300.0, 0), (301.0, 0)])
def test_an_item_waits_until_it_expires(now: float, waiting: int) -> None:
    salience = Salience(SalienceSettings(expiry=300.0))
    push(salience, 0.5)
    assert salience.waiting(now) == len(salience.ranked(now)) == waiting


@pytest.mark.parametrize(("pushed", "kept"), [(7, 7), (8, 8), (9, 8), (10, 6)])
def test_only_a_queue_that_is_too_long_lets_go_of_what_expired(pushed: int, kept: int) -> None:
    salience, habituation = Salience(SalienceSettings(length=8, expiry=300.0)), Habituation(HABITS)
    push(salience, 0.5)
    for number in range(1, pushed):
        push(salience, 0.5, pattern=number, now=300.0)
    assert salience.dishabituate(habituation) == kept


@pytest.mark.parametrize(("times", "looping"), [(2, False), (3, True), (4, True)])
@pytest.mark.parametrize("outcome", ["success", "failure"])
def test_so_many_equal_calls_are_a_repetition(times: int, looping: bool, outcome: str) -> None:
    source = StimulusSource(StimulusSettings(repeats=3, streak=20))
    for _ in range(times):
        found = source.update(shell(outcome=outcome, call=1, result=1), 0.0, False)
    assert source.looping is looping
    assert ("repeat" in {stimulus.cause for stimulus in found}) is looping


@pytest.mark.parametrize(("others", "known"), [(3, True), (4, False)])
def test_so_many_calls_are_remembered(others: int, known: bool) -> None:
    source = StimulusSource(StimulusSettings(repeats=2, repeat_memory=4))
    for each in (1, *range(2, 2 + others), 1):
        source.update(shell(call=each, result=1), 0.0, False)
    assert source.looping is known


def burnt(*turns: int) -> set[str]:
    """Why attention was drawn by the last of turns that took so many tokens each."""
    source = StimulusSource(StimulusSettings(burn_warmup=3, burn_factor=4.0, burn_floor=5000))
    for burn in (1, *turns):  # the first turn reads the whole context and is left out
        found = source.turn(Turn(at=0.0), burn, 0.0)
    return {stimulus.cause for stimulus in found}


@pytest.mark.parametrize(
    ("turns", "spike"),
    [
        ((2000, 2000, 9000), False),
        ((2000, 2000, 2000, 9000), True),
        ((2000, 2000, 2000, 2000, 9000), True),
        ((2000, 2000, 2000, 7999), False),
        ((2000, 2000, 2000, 8000), True),
        ((2000, 2000, 2000, 8001), True),
        ((1000, 1000, 1000, 4999), False),
        ((1000, 1000, 1000, 5000), True),
        ((1000, 1000, 1000, 5001), True),
    ],
)
def test_a_turn_burns_from_its_limits_on(turns: tuple[int, ...], spike: bool) -> None:
    assert ("burn" in burnt(*turns)) is spike


@pytest.mark.parametrize(("context", "told"), [(0.79, False), (0.8, True), (0.81, True)])
def test_a_context_is_near_compaction_from_a_share_on(context: float, told: bool) -> None:
    source = StimulusSource(StimulusSettings(context_near=0.8))
    causes = {stimulus.cause for stimulus in source.turn(Turn(at=0.0), 0, context)}
    assert ("context" in causes) is told


def test_a_log_that_tells_of_fewer_than_no_tokens_breaks_nothing() -> None:
    settings = StimulusSettings(burn_warmup=1, burn_smoothing=0.5, burn_floor=5000)
    source = StimulusSource(settings)
    for burn in (1, -1000, 1000, 9000):
        found = source.turn(Turn(at=0.0), burn, 0.0)
    assert [stimulus.measure for stimulus in found] == [1.0]
