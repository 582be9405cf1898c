"""The baseline and the thresholds above it."""

from __future__ import annotations

from math import exp

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.engine.percept import AXES, Axis
from core.engine.receptor.emotion import FATIGUE, FLOW, ZERO, Vector
from core.engine.receptor.triangle import AmbientEstimator, EmotionNeuron, Field, FlowGate, effective
from core.settings.receptor import AmbientSettings, NeuronSettings


def level(value: float) -> Vector:
    return (value, value, value, value, value, value)


def estimator() -> AmbientEstimator:
    return AmbientEstimator(AmbientSettings())


def test_the_first_event_seeds_the_average() -> None:
    made = estimator()
    made.update(0.0, level(0.4), 0.3)
    assert made.baseline == [0.4, 0.4, 0.4, 0.4, 0.3, 0.4]


def test_the_average_follows_by_its_time_constant() -> None:
    made = estimator()
    made.update(0.0, level(0.2), 0.2)
    made.update(30.0, level(0.8), 0.8)
    assert made.baseline == pytest.approx([0.2 + (1 - exp(-30 / 600)) * 0.6] * 6)
    for number in range(1, 20):
        made.update(30.0 + 30 * number, level(0.8), 0.8)
    assert made.baseline == pytest.approx([0.8 - 0.6 * exp(-1)] * 6)


def test_small_values_do_not_move_it_but_for_fatigue() -> None:
    made = estimator()
    made.update(0.0, level(0.5), 0.5)
    made.update(30.0, level(0.049), 0.049)
    assert [value for axis, value in enumerate(made.baseline) if axis != FATIGUE] == [0.5] * 5
    assert made.baseline[FATIGUE] < 0.5
    made.update(60.0, level(0.05), 0.05)
    assert all(value < 0.5 for value in made.baseline)


def test_after_a_silence_the_next_event_seeds_it_again() -> None:
    made = estimator()
    made.update(0.0, level(0.5), 0.5)
    made.freeze()
    assert made.baseline == [0.5] * 6
    made.update(0.0, level(0.1), 0.1)
    assert made.baseline == [0.1] * 6


def test_a_prior_stands_in_for_the_first_event_and_is_soon_outweighed() -> None:
    made = estimator()
    made.seed({"frustration": 0.3, "flow": 7.0})
    made.update(0.0, level(0.8), 0.8)
    assert made.baseline == [0.3, 0.0, 0.0, 0.0, 1.0, 0.0]
    for number in range(100):
        made.update(30.0 * number, level(0.8), 0.8)
    assert made.baseline == pytest.approx([0.8] * 6, abs=0.02)
    made.reset()
    assert made.baseline == [0.3, 0.0, 0.0, 0.0, 1.0, 0.0]


def test_a_shift_of_context_takes_it_back_to_the_beginning() -> None:
    made = estimator()
    made.update(0.0, level(0.6), 0.6)
    made.reset()
    assert made.baseline == [0.0] * 6
    made.update(30.0, level(0.6), 0.6)
    assert 0.0 < made.baseline[0] < 0.1


OFFSETS: list[tuple[Axis, float]] = [
    ("frustration", 0.20),
    ("seeking", 0.25),
    ("confidence", 0.25),
    ("fatigue", 0.30),
    ("flow", 0.20),
    ("uncertainty", 0.25),
]


@pytest.mark.parametrize(("axis", "offset"), OFFSETS)
def test_a_threshold_has_three_terms(axis: Axis, offset: float) -> None:
    neuron = EmotionNeuron(NeuronSettings(), AmbientSettings())
    field = Field()
    lift = 0.0
    if hasattr(Field(), axis):
        setattr(field, axis, -0.06)
        lift = -0.06
    terms = neuron.terms(AXES.index(axis), [0.3] * 6, field)
    assert terms == pytest.approx((0.3 + offset + lift, 0.3, offset, lift))


@pytest.mark.parametrize(
    ("baseline", "field", "threshold"),
    [(0.0, 0.0, 0.25), (0.05, 0.0, 0.25), (0.1, 0.0, 0.3), (0.65, 0.0, 0.85), (0.7, 0.15, 0.85), (0.0, -0.15, 0.25)],
)
def test_a_threshold_is_kept_within_its_clamp(baseline: float, field: float, threshold: float) -> None:
    assert effective(baseline, 0.2, field, 0.25, 0.85) == pytest.approx(threshold)


@settings(max_examples=200)
@given(st.floats(0, 1), st.floats(0, 0.8), st.floats(-0.5, 0.5))
def test_thresholds_lie_between_a_quarter_and_85(baseline: float, offset: float, field: float) -> None:
    assert 0.25 <= effective(baseline, offset, field, 0.25, 0.85) <= 0.85
    gate = FlowGate(AmbientSettings.parse({"offset": {"flow": offset}}))
    assert gate.threshold(baseline) == effective(baseline, offset, 0.0, 0.25, 0.85)


def test_seeding_copies_what_it_is_given() -> None:
    made = estimator()
    made.update(0.0, ZERO, 0.0)
    state = made.dump()
    made.update(30.0, level(1.0), 1.0)
    assert state[2] == ZERO
    assert made.baseline[FLOW] > 0
