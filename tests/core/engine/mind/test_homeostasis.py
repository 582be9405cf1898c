"""Corrections that are proportional, bounded, and never fight the operator."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.engine.mind.homeostasis import Correction, Homeostasis
from core.settings.mind import HomeostasisSettings


def regulator(**given: object) -> Homeostasis:
    return Homeostasis(HomeostasisSettings.parse(given))


def feed(
    regulating: Homeostasis, ticks: int, vitality: float = 0.8, accuracy: float = 0.8, pleasure: float = 0.5
) -> list[Correction]:
    return [each for _ in range(ticks) for each in regulating.update(vitality, accuracy, pleasure)]


def test_falling_vitality_tightens_trust_only_after_ten_ticks() -> None:
    regulating = regulator()
    feed(regulating, 20)
    assert feed(regulating, 9, vitality=0.4) == []
    assert regulating.tool_trust == 0.5
    (correction,) = feed(regulating, 1, vitality=0.4)
    assert (correction.signal, correction.knob) == ("vitality", "tool_trust")
    assert correction.deviation < -0.15
    assert 0.5 < regulating.tool_trust <= 0.6
    assert correction.value == regulating.tool_trust


def test_falling_accuracy_leans_to_stronger_models_after_fifteen_ticks() -> None:
    regulating = regulator()
    feed(regulating, 30)
    feed(regulating, 14, accuracy=0.2)
    assert regulating.tier_bias == 0.0
    feed(regulating, 1, accuracy=0.2)
    assert 0.0 < regulating.tier_bias <= 0.2


def test_low_pleasure_makes_dreams_intensive_until_it_is_back() -> None:
    regulating = regulator()
    feed(regulating, 40, pleasure=0.5)
    feed(regulating, 19, pleasure=-0.5)
    assert not regulating.intensive
    (correction,) = feed(regulating, 1, pleasure=-0.5)
    assert (correction.knob, correction.value) == ("dream_mode", 1.0)
    assert regulating.intensive
    feed(regulating, 1, pleasure=0.5)
    assert not regulating.intensive


@pytest.mark.parametrize(("pleasure", "intensive"), [(-0.19, False), (-0.2, True), (-0.21, True)])
def test_pleasure_that_stays_low_is_not_taken_for_its_usual_level(pleasure: float, intensive: bool) -> None:
    regulating = regulator()
    feed(regulating, 40, pleasure=0.0)
    feed(regulating, 19, pleasure=pleasure)
    assert not regulating.intensive
    feed(regulating, 1, pleasure=pleasure)
    assert regulating.intensive is intensive
    feed(regulating, 100, pleasure=pleasure)
    assert regulating.intensive is intensive


def test_one_better_tick_starts_the_count_of_low_ticks_again() -> None:
    regulating = regulator()
    feed(regulating, 40, pleasure=0.0)
    feed(regulating, 19, pleasure=-0.4)
    feed(regulating, 1, pleasure=-0.1)
    feed(regulating, 19, pleasure=-0.4)
    assert not regulating.intensive
    feed(regulating, 1, pleasure=-0.4)
    assert regulating.intensive


def test_high_pleasure_changes_nothing() -> None:
    regulating = regulator()
    feed(regulating, 40, pleasure=-0.5)
    feed(regulating, 60, pleasure=0.9)
    assert not regulating.intensive


def test_correction_is_proportional_and_does_not_add_up() -> None:
    small, large = regulator(), regulator()
    feed(small, 40, vitality=0.8)
    feed(large, 40, vitality=0.8)
    feed(small, 10, vitality=0.52)
    feed(large, 10, vitality=0.50)
    ratio = (large.tool_trust - 0.5) / (small.tool_trust - 0.5)
    assert ratio == pytest.approx(0.30 / 0.28)
    before = small.tool_trust
    feed(small, 1, vitality=0.52)
    assert small.tool_trust <= before


def test_correction_ends_with_the_deviation() -> None:
    regulating = regulator()
    feed(regulating, 40)
    feed(regulating, 12, vitality=0.3)
    assert regulating.tool_trust > 0.5
    (correction,) = feed(regulating, 1, vitality=0.62)
    assert regulating.tool_trust == correction.value == 0.5


def test_one_average_update_a_tick() -> None:
    regulating = regulator()
    regulating.update(0.0, 0.0, 0.0)
    regulating.update(1.0, 1.0, 1.0)
    assert [rule.average for rule in regulating.rules()] == pytest.approx([0.05] * 3)


def test_an_operator_who_holds_a_knob_wins() -> None:
    held = regulator(tool_trust=0.95, tool_trust_held=True, tier_bias_held=True, dream_mode="standard")
    feed(held, 40)
    corrections = feed(held, 40, vitality=0.1, accuracy=0.1, pleasure=-0.9)
    assert corrections == []
    assert (held.tool_trust, held.tier_bias, held.intensive) == (0.95, 0.0, False)
    assert held.read().held == ("tool_trust", "tier_bias", "dream_mode")
    assert regulator(dream_mode="intensive").intensive
    assert regulator().read().held == ()


def test_a_rule_can_be_switched_off() -> None:
    off = regulator(vitality={"on": False}, accuracy={"on": False}, pleasure={"on": False})
    feed(off, 40)
    assert feed(off, 40, 0.0, 0.0, -1.0) == []


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(-1, 1)), max_size=120),
    st.integers(1, 30),
    st.integers(0, 120),
)
def test_knobs_stay_in_bounds_and_a_copy_goes_on_equal(
    signals: list[tuple[float, float, float]], held_for: int, cut: int
) -> None:
    regulating, copy = regulator(gain=5), regulator(gain=5)
    for number, signal in enumerate(signals):
        if number == cut:
            copy.load(regulating.dump())
        for _ in range(held_for):
            moved = regulating.update(*signal)
            assert abs(regulating.tool_trust - 0.5) <= 0.1 + 1e-12
            assert abs(regulating.tier_bias) <= 0.2 + 1e-12
            if number >= cut:
                assert copy.update(*signal) == moved
    if cut < len(signals):
        assert copy.dump() == regulating.dump()
