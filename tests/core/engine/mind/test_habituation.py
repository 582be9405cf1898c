"""Habituation: attenuation, recovery, bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.engine.mind.salience import Habituation
from core.settings.mind import HabituationSettings

A, B = b"a" * 16, b"b" * 16


def mask(**given: float) -> Habituation:
    return Habituation(HabituationSettings.parse(given))


@pytest.mark.parametrize(
    ("exposures", "attenuation"), [(1, 1.0), (5, 0.71), (10, 0.53), (25, 0.29), (50, 0.17), (100, 0.09)]
)
def test_attenuation_as_published(exposures: int, attenuation: float) -> None:
    habituation = mask()
    for _ in range(exposures):
        kept = habituation.observe(A, 7)
    assert kept == pytest.approx(attenuation, abs=0.006)


@pytest.mark.parametrize(("ticks", "retained"), [(200, 0.90), (1000, 0.61), (2000, 0.37), (5000, 0.08)])
def test_retained_fraction_as_published(ticks: int, retained: float) -> None:
    habituation = mask()
    habituation.observe(A, 0)
    assert habituation.count(A, ticks) == pytest.approx(retained, abs=0.006)


def test_nothing_becomes_invisible() -> None:
    habituation = mask()
    kept = [habituation.observe(A, 0) for _ in range(10_000)]
    assert min(kept) == kept[-1] == 0.05


def test_reset_restores_full_novelty() -> None:
    habituation = mask()
    for _ in range(30):
        habituation.observe(A, 0)
        habituation.observe(B, 0)
    habituation.reset_pattern(A)
    assert habituation.observe(A, 0) == 1.0
    assert habituation.observe(B, 0) < 0.3


def test_faded_patterns_are_collected_every_hundred_ticks() -> None:
    habituation = mask(forgetting=50)
    habituation.observe(A, 0)
    habituation.observe(B, 99)
    habituation.tick(99)
    assert len(habituation) == 2
    habituation.tick(300)
    assert len(habituation) == 1
    habituation.tick(399)
    assert len(habituation) == 1
    habituation.tick(400)
    assert len(habituation) == 0


def test_the_longest_unseen_goes_when_full() -> None:
    habituation = mask(patterns=16)
    for number in range(16):
        habituation.observe(bytes([number]) * 16, 0)
    habituation.observe(bytes([0]) * 16, 1)
    habituation.observe(A, 1)
    assert len(habituation) == 16
    assert habituation.count(bytes([1]) * 16, 1) == 0.0
    assert habituation.count(bytes([0]) * 16, 1) > 1.0


def test_most_familiar_first() -> None:
    habituation = mask()
    habituation.observe(A, 0, "rare")
    for _ in range(4):
        habituation.observe(B, 0, "common")
    first, second = habituation.most_familiar(0, 5)
    assert (first.what, first.exposures) == ("common", 4.0)
    assert first.attenuation == pytest.approx(10 / 14)
    assert second.what == "rare"


@given(st.lists(st.tuples(st.sampled_from((A, B)), st.integers(0, 3000)), max_size=60), st.integers(0, 60))
def test_attenuation_stays_in_bounds_and_a_copy_goes_on_equal(seen: list[tuple[bytes, int]], cut: int) -> None:
    habituation, copy = mask(), mask()
    tick = 0
    for number, (pattern, gap) in enumerate(seen):
        tick += gap
        if number == cut:
            copy.load(habituation.dump())
        kept = habituation.observe(pattern, tick)
        assert 0.05 <= kept <= 1.0
        if number >= cut:
            assert copy.observe(pattern, tick) == kept
    if cut < len(seen):
        assert copy.dump() == habituation.dump()


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 400)), max_size=60), st.integers(0, 2000))
def test_collecting_drops_exactly_what_has_faded(seen: list[tuple[int, int]], later: int) -> None:
    habituation = mask(forgetting=50, collect_every=10_000)
    tick = 0
    for number, gap in seen:
        tick += gap
        habituation.observe(bytes([number]) * 16, tick)
    tick += later
    patterns = [bytes([number]) * 16 for number in range(6)]
    faded = [p for p in patterns if 0.0 < habituation.count(p, tick) < 0.01]
    left = [p for p in patterns if habituation.count(p, tick) >= 0.01]
    assert habituation.collect(tick) == len(faded)
    assert len(habituation) == len(left)
    assert all(habituation.count(p, tick) >= 0.01 for p in left)
