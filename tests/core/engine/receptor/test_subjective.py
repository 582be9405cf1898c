"""Subjective time."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.engine.receptor.receptor import SubjectiveTime
from core.settings.receptor import TimeSettings
from tests.core.engine.receptor.acts import START


def clock() -> SubjectiveTime:
    return SubjectiveTime(TimeSettings())


@pytest.mark.parametrize(
    ("gap", "elapsed", "silence"),
    [
        (0.0, 0.0, False),
        (12.0, 12.0, False),
        (30.0, 30.0, False),
        (31.0, 30.0, False),
        (179.0, 30.0, False),
        (180.0, 30.0, False),
        (180.5, 0.0, True),
        (86400.0, 0.0, True),
        (-50.0, 0.0, False),
    ],
)
def test_a_pause_counts_in_full_then_capped_then_not_at_all(gap: float, elapsed: float, silence: bool) -> None:
    time = clock()
    time.update(START, True)
    assert time.ahead(START + gap)[1] == elapsed
    time.update(START + gap, True)
    assert (time.elapsed, time.now, time.silence) == (elapsed, elapsed, silence)


def test_the_first_event_is_the_beginning() -> None:
    time = clock()
    time.update(START, False)
    assert (time.now, time.elapsed, time.wall, time.silence) == (0.0, 0.0, 0.0, False)


def test_turns_let_time_pass_without_stretching_the_pause_between_two_acts() -> None:
    time = clock()
    time.update(START, True)
    elapsed = []
    for at, act in ((20, False), (60, False), (100, True), (110, True)):
        time.update(START + at, act)
        elapsed.append(time.elapsed)
    assert elapsed == [20.0, 10.0, 0.0, 10.0]


def test_a_clock_set_back_goes_on_from_there() -> None:
    time = clock()
    for at in (0, 10, -1000, -995):
        time.update(START + at, True)
    assert (time.now, time.wall) == (15.0, 15.0)


@settings(max_examples=100)
@given(st.lists(st.tuples(st.floats(-300, 300), st.booleans()), max_size=30))
def test_time_never_runs_back_nor_faster_than_the_wall(gaps: list[tuple[float, bool]]) -> None:
    time = clock()
    at = START
    for gap, act in gaps:
        before, at = time.now, at + gap
        ahead = time.ahead(at)[1]
        time.update(at, act)
        assert 0.0 <= time.elapsed <= 30.0
        assert ahead == time.elapsed
        assert time.now == before + time.elapsed <= time.wall + 1e-6


def test_a_stretch_that_is_run_through_again_is_not_lived_again() -> None:
    time = SubjectiveTime(TimeSettings())
    for at in (100.0, 120.0, 110.0, 125.0):
        time.update(at, True)
    assert time.now == 25.0
    time.update(-9000.0, True)
    time.update(-8995.0, True)
    assert time.now == 30.0
