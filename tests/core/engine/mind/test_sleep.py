"""Sleep pressure and the context that drives it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.engine.mind.sleep import ContextGauge, SleepPressure
from core.events import Compaction
from core.settings.mind import ContextSettings, SleepSettings


@pytest.mark.parametrize(("load", "ticks"), [(0.2, 58), (0.9, 32), (1.0, 30)])
def test_ticks_to_trigger_as_published(load: float, ticks: int) -> None:
    sleep = SleepPressure(SleepSettings())
    assert sleep.forecast(load) == ticks
    taken = 0
    while not sleep.needed:
        sleep.update(load)
        taken += 1
    assert taken == ticks
    assert sleep.pressure == 1.0


def test_five_ticks_must_pass_between_two_consolidations() -> None:
    sleep = SleepPressure(SleepSettings(threshold=1.0))
    for _ in range(4):
        sleep.update(1.0)
    assert sleep.pressure == 1.0
    assert not sleep.needed
    assert sleep.forecast(1.0) == 1
    sleep.update(1.0)
    assert sleep.needed
    assert sleep.forecast(1.0) == 0
    sleep.reset()
    assert (sleep.pressure, sleep.needed) == (0.0, False)


def test_intensive_dreams_lower_the_threshold() -> None:
    sleep = SleepPressure(SleepSettings())
    for _ in range(21):
        sleep.update(1.0)
    assert not sleep.needed
    sleep.set_mode(True)
    assert sleep.threshold == pytest.approx(21.0)
    assert sleep.needed
    sleep.set_mode(False)
    assert not sleep.needed


def test_an_accumulator_can_be_taken_up_again() -> None:
    sleep = SleepPressure(SleepSettings())
    sleep.restore(15.0)
    assert sleep.pressure == 0.5
    sleep.restore(-3.0)
    assert sleep.pressure == 0.0


def test_no_flat_share_and_no_load_never_tires() -> None:
    assert SleepPressure(SleepSettings(complexity=1.0)).forecast(0.0) is None


@given(st.lists(st.floats(-1, 2), max_size=80), st.integers(0, 80), st.booleans())
def test_pressure_in_bounds_and_a_copy_goes_on_equal(loads: list[float], cut: int, intensive: bool) -> None:
    sleep, copy = SleepPressure(SleepSettings()), SleepPressure(SleepSettings())
    sleep.set_mode(intensive)
    for number, load in enumerate(loads):
        if number == cut:
            copy.load(sleep.dump())
        before = sleep.pressure
        sleep.update(load)
        assert 0.0 <= before <= sleep.pressure <= 1.0
        if number >= cut:
            copy.update(load)
            assert (copy.pressure, copy.needed, copy.dump()) == (sleep.pressure, sleep.needed, sleep.dump())


@pytest.mark.parametrize(
    ("window", "point"), [(0, 167_000), (200_000, 167_000), (1_000_000, 920_000), (32_000, 16_000)]
)
def test_compaction_point_fits_small_and_large_windows(window: int, point: int) -> None:
    gauge = ContextGauge(ContextSettings())
    gauge.turn(point // 2, window)
    assert gauge.point == point
    assert gauge.fill == pytest.approx(0.5)


@pytest.mark.parametrize(("left", "told"), [(9_999, 9_999), (10_000, 10_000), (10_001, None)])
def test_a_compaction_too_far_off_is_not_foreseen(left: int, told: int | None) -> None:
    gauge = ContextGauge(ContextSettings())
    gauge.turn(10, 1_000_000)
    gauge.turn(11, 1_000_000)
    gauge.tokens = gauge.point - left
    assert gauge.turns_left() == told


def test_the_gauge_counts_turns_to_compaction_and_compactions() -> None:
    gauge = ContextGauge(ContextSettings())
    gauge.turn(100_000, 200_000)
    assert gauge.turns_left() is None
    gauge.turn(110_000, 200_000)
    assert gauge.turns_left() == 6
    gauge.turn(0, 0)
    assert gauge.tokens == 110_000
    gauge.compacted(5.0, 20_000)
    assert (gauge.compactions, gauge.compacted_at, gauge.tokens) == (1, 5.0, 20_000)
    assert gauge.fill == pytest.approx(20 / 167)
    copy = ContextGauge(ContextSettings())
    copy.load(gauge.dump())
    assert (copy.fill, copy.point, copy.dump()) == (gauge.fill, gauge.point, gauge.dump())


def test_where_the_program_compacts_by_itself_is_the_point_from_then_on() -> None:
    gauge = ContextGauge(ContextSettings())
    gauge.turn(167_000, 1_000_000)
    assert gauge.point == 920_000
    gauge.compacted(5.0, 0)
    gauge.compacted(5.0, 0, 999)
    assert gauge.point == 920_000
    gauge.compacted(6.0, 0, 167_000)
    gauge.turn(83_500, 1_000_000)
    assert (gauge.point, gauge.fill) == (167_000, 0.5)
    copy = ContextGauge(ContextSettings())
    copy.load(gauge.dump())
    assert (copy.point, copy.fill) == (167_000, 0.5)
    gauge.compacted(7.0, 0, 950_000)
    assert gauge.point == 920_000
    gauge.turn(50_000, 200_000)
    assert gauge.point == 167_000


def test_the_most_a_window_was_seen_to_hold_is_known_until_the_window_is_another() -> None:
    gauge = ContextGauge(ContextSettings())
    gauge.turn(250_000, 1_000_000)
    gauge.turn(240_000, 1_000_000)
    assert gauge.most == 250_000
    gauge.record(Compaction(at=6.0, tokens_before=300_000, tokens_after=20_000, trigger="manual"))
    copy = ContextGauge(ContextSettings())
    copy.load(gauge.dump())
    assert gauge.most == copy.most == 300_000
    gauge.turn(50_000, 200_000)
    assert gauge.most == 50_000


def test_a_turn_that_tells_only_another_window_measures_the_context_against_it() -> None:
    gauge = ContextGauge(ContextSettings())
    gauge.turn(40_000, 200_000)
    gauge.turn(0, 1_000_000)
    again = ContextGauge(ContextSettings())
    again.load(gauge.dump())
    assert gauge.fill == again.fill == 40_000 / gauge.point
