"""Thresholds and limits of the mind at, below and above the value that is set."""

from __future__ import annotations

import pytest

from core.events import ToolUse
from core.mind.forecast import Forecast
from core.mind.habituation import Habituation
from core.mind.homeostasis import Homeostasis
from core.mind.salience import Salience
from core.mind.stimulus import _WORDS, _name
from core.settings.mind import HabituationSettings, HomeostasisSettings, SalienceSettings
from core.settings.mind_state import ForecastSettings
from tests.core.mind.test_salience import push


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
    habituation = Habituation(HabituationSettings.model_validate({"forgetting": 50, "collect_every": 1000}))
    habituation.observe(b"a" * 16, 0)
    habituation.tick(tick)
    assert len(habituation) == patterns


@pytest.mark.parametrize(
    ("length", "shown"), [(_WORDS - 1, _WORDS - 1), (_WORDS, _WORDS), (_WORDS + 1, _WORDS)]
)
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
    regulating = Homeostasis(
        HomeostasisSettings.model_validate({"vitality": {"threshold": threshold}, "smoothing": 0.5})
    )
    regulating.update(0.5, 0.5, 0.5)
    regulating.update(1.0, 0.5, 0.5)
    assert regulating._straying[0] == straying
