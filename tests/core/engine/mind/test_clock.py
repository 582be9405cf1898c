"""The three rhythms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.engine.mind.clock import NO_TICKS, Clock, Ticks
from core.settings.mind import ClockSettings


def clock(**given: float) -> Clock:
    return Clock(ClockSettings.parse(given))


@pytest.mark.parametrize(
    ("violations", "interval"), [(0, 15.0), (1, 15 / 1.3), (2, 15 / 1.6), (6, 15 / 2.8), (7, 5.0), (50, 5.0)]
)
def test_gamma_interval_shrinks_with_violations(violations: int, interval: float) -> None:
    ticking = clock()
    for _ in range(violations):
        ticking.violation(0.0)
    assert ticking.gamma_interval == pytest.approx(interval, abs=1e-6)
    assert ticking.gamma_in == pytest.approx(interval, abs=1e-6)


def test_a_theta_tick_forgives_violations() -> None:
    ticking = clock()
    ticking.violation(0.0)
    ticking.advance(31.0)
    assert (ticking.violations, ticking.gamma_interval) == (0, 15.0)


def test_quiet_thetas_slow_down_and_busy_ones_speed_up_within_bounds() -> None:
    ticking = clock()
    assert ticking.theta_interval == 30.0
    assert ticking.advance(30.0).theta == 1
    assert ticking.theta_interval == 60.0
    assert ticking.advance(90.0).theta == 1
    assert ticking.theta_interval == 120.0
    assert ticking.advance(210.0).theta == 1
    assert ticking.theta_interval == 120.0
    ticking.violation(211.0)
    assert ticking.advance(330.0).theta == 1
    assert ticking.theta_interval == 60.0


def test_delta_comes_every_fifty_thetas() -> None:
    ticking = clock(theta_shortest=10, theta_longest=10)
    assert ticking.advance(499.0).delta == 0
    assert ticking.delta_in == 1
    assert ticking.advance(500.0) == Ticks(0, 1, 1)
    assert ticking.advance(1000.0).delta == 1
    assert ticking.delta == 2


def test_no_time_no_ticks() -> None:
    ticking = clock()
    assert ticking.advance(14.9) is NO_TICKS
    assert ticking.advance(3.0) is NO_TICKS
    assert ticking.advance(15.0) == Ticks(1, 0, 0)
    assert ticking.advance(15.0) is NO_TICKS


@pytest.mark.parametrize(("used", "factor"), [(0.0, 1), (0.69, 1), (0.7, 2), (0.89, 2), (0.9, 4), (3.0, 4)])
def test_budget_slows_all_rhythms(used: float, factor: int) -> None:
    ticking = clock()
    ticking.throttle(used)
    assert (ticking.gamma_interval, ticking.theta_interval) == (15.0 * factor, 30.0 * factor)
    ticking.advance(30.0)
    assert ticking.theta_in == 60.0 * factor


class CountingClock(Clock):
    """Counts how often its theta rhythm is changed."""

    __slots__ = ("changes",)

    def _decelerate(self) -> None:
        self.changes: int = getattr(self, "changes", 0) + 1
        super()._decelerate()


@pytest.mark.plain
def test_a_gap_of_years_costs_no_more_than_a_few_doublings() -> None:
    ticking = CountingClock(ClockSettings())
    ticks = ticking.advance(3e8)
    assert ticks.gamma == 20_000_000
    assert ticks.theta == 3 + int((3e8 - 210) // 120)
    assert ticks.delta == ticks.theta // 50
    assert ticking.changes <= 3


def test_a_wakeup_close_to_a_theta_tick_is_left_to_it() -> None:
    ticking = clock()
    ticking.advance(20.0)
    assert ticking.wake("theta", 20.0, 10.0) is None
    assert ticking.wake("gamma", 20.0, 10.0) is None
    assert ticking.wake("gamma", 19.0, 10.0) == Ticks(1, 0, 0)
    assert ticking.wake("theta", 19.0, 10.0) == Ticks(0, 1, 0)
    assert ticking.theta_interval == 30.0
    assert ticking.advance(48.0).theta == 0
    assert ticking.advance(49.0).theta == 1


STEPS = st.lists(st.tuples(st.floats(0, 400), st.sampled_from(("none", "violation", "wake", "slow"))), max_size=30)


@given(STEPS, st.lists(st.floats(0, 1), max_size=5))
def test_ticks_do_not_depend_on_how_often_one_looks(steps: list[tuple[float, str]], looks: list[float]) -> None:
    once, often = clock(), clock()
    now = 0.0
    for gap, deed in steps:
        counted = [0, 0, 0]
        for share in sorted(looks):
            for place, ticks in enumerate(often.advance(now + share * gap)):
                counted[place] += ticks
        now += gap
        for place, ticks in enumerate(often.advance(now)):
            counted[place] += ticks
        assert once.advance(now) == tuple(counted)
        for each in (once, often):
            if deed == "violation":
                each.violation(now)
            elif deed == "wake":
                each.wake("theta", now, 10.0)
            elif deed == "slow":
                each.throttle(0.8)
    assert once.dump() == often.dump()


@given(STEPS, st.integers(0, 30))
def test_a_copy_goes_on_equal(steps: list[tuple[float, str]], cut: int) -> None:
    ticking, copy = clock(), clock()
    now = 0.0
    for number, (gap, deed) in enumerate(steps):
        if number == cut:
            copy.load(ticking.dump())
        now += gap
        ticks = ticking.advance(now)
        if deed == "violation":
            ticking.violation(now)
        if number >= cut:
            assert copy.advance(now) == ticks
            if deed == "violation":
                copy.violation(now)
            assert copy.dump() == ticking.dump()
