"""What sessions teach: sensitivity moves, bounded, and the sensor never does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bench.workload import session
from core.engine.percept import Axis
from core.engine.response.rules import LEARNING_AXES, NOTHING_LEARNED, Learned, cue_deltas, learn
from core.engine.society.engine import Engine, Step
from core.settings import Settings
from core.settings.response import LearningSettings

FIGURES = LearningSettings()
HOUR = 3600.0


def test_the_figures_are_the_published_ones() -> None:
    assert (FIGURES.rate, FIGURES.memory, FIGURES.least, FIGURES.bound) == (0.03, 0.3, 300.0, 0.3)
    assert "flow" not in LEARNING_AXES and len(LEARNING_AXES) == 5


def test_the_first_stretch_only_says_what_to_expect() -> None:
    first = learn(NOTHING_LEARNED, {"frustration": 4}, HOUR, 10.0, FIGURES)
    assert first.deltas == {}
    assert first.expected["frustration"] == 4.0
    assert (first.stretches, first.until) == (1, 10.0)


@pytest.mark.parametrize(
    ("expected", "fires", "seconds", "delta"),
    [
        (4.0, 8, HOUR, -0.03),
        (4.0, 4, HOUR, 0.0),
        (4.0, 0, HOUR, 0.03),
        (0.5, 2, HOUR, -0.045),
        (4.0, 4, HOUR / 2, -0.03),
        (2.0, 40, HOUR, -0.3),
    ],
)
def test_more_than_expected_is_heard_less(expected: float, fires: int, seconds: float, delta: float) -> None:
    known = Learned({}, {"seeking": expected}, 1, 0.0)
    after = learn(known, {"seeking": fires}, seconds, 5.0, FIGURES)
    assert after.deltas["seeking"] == pytest.approx(delta)
    actual = fires * HOUR / seconds
    assert after.expected["seeking"] == pytest.approx(0.7 * expected + 0.3 * actual)


def test_a_short_stretch_teaches_nothing() -> None:
    known = Learned({}, {"seeking": 1.0}, 1, 0.0)
    assert learn(known, {"seeking": 50}, 299.9, 5.0, FIGURES) is known
    assert learn(known, {"seeking": 50}, 300.0, 5.0, FIGURES) is not known


def test_flow_is_left_out() -> None:
    after = learn(NOTHING_LEARNED, {"flow": 50}, HOUR, 1.0, FIGURES)
    assert "flow" not in after.expected


@given(st.lists(st.tuples(st.sampled_from(LEARNING_AXES), st.integers(0, 500)), max_size=60))
def test_no_delta_leaves_its_bound(stretches: list[tuple[Axis, int]]) -> None:
    known = NOTHING_LEARNED
    for number, (axis, fires) in enumerate(stretches):
        known = learn(known, {axis: fires}, HOUR, float(number), FIGURES)
    assert all(-0.3 <= delta <= 0.3 for delta in known.deltas.values())


def test_of_two_axes_the_larger_magnitude_applies() -> None:
    deltas = cue_deltas(Learned({"frustration": 0.1, "seeking": -0.2}), FIGURES)
    assert deltas["compound"] == -0.2
    assert deltas["frustration"] == 0.1
    assert "loop" not in deltas
    assert cue_deltas(Learned({"frustration": 0.1}), LearningSettings(enabled=False)) == {}


def _sensed(step: Step) -> tuple[object, ...]:
    """All but the response, and the metrics, which count what the response recalls."""
    return step.percept, replace(step.thought, rows=()), step.verdict, step.mood


def test_learning_changes_the_interpretation_and_never_the_sensor() -> None:
    learned = Learned(dict.fromkeys(LEARNING_AXES, 0.3))
    plain, keen = Engine(Settings()), Engine(Settings(), learned=learned)
    scores = []
    for event in session(1500):
        one, other = plain.step(event), keen.step(event)
        assert _sensed(one) == _sensed(other)
        scores.append((one.reaction, other.reaction))
    assert any(one != other for one, other in scores)
