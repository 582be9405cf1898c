"""A, B and C."""

from __future__ import annotations

import inspect

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.engine.percept import AgentState, Axis, Pattern, Signal
from core.engine.receptor.emotion import CONFIDENCE, FATIGUE, FRUSTRATION, SEEKING, UNCERTAINTY, Vector
from core.engine.receptor.triangle import NONE, EmotionNeuron, Field, FlowGate, MetaNeuron
from core.settings.receptor import AmbientSettings, MetaSettings, NeuronSettings

LOW = [0.0] * 6


def gate() -> FlowGate:
    return FlowGate(AmbientSettings())


def neuron() -> EmotionNeuron:
    return EmotionNeuron(NeuronSettings(), AmbientSettings())


def vector(**values: float) -> Vector:
    return (
        values.get("frustration", 0.0),
        values.get("seeking", 0.0),
        values.get("confidence", 0.0),
        values.get("fatigue", 0.0),
        values.get("flow", 0.0),
        values.get("uncertainty", 0.0),
    )


def names(signals: tuple[Signal, ...]) -> list[str]:
    return [signal.name for signal in signals]


def test_the_gate_opens_and_shuts_at_its_threshold() -> None:
    made = gate()
    seen = [(made.update(flow, 0.1), made.fresh) for flow in (0.29, 0.31, 0.4, 0.29, 0.35)]
    assert seen == [(False, False), (True, True), (True, False), (False, False), (True, True)]
    assert made.intensity == pytest.approx(0.05)


def test_no_field_can_be_handed_to_the_gate() -> None:
    assert list(inspect.signature(FlowGate.update).parameters) == ["self", "flow", "baseline"]
    assert list(inspect.signature(FlowGate.threshold).parameters) == ["self", "baseline"]
    field = Field()
    with pytest.raises(AttributeError):
        field.flow = 0.1  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("axis", "threshold", "name"),
    [
        ("frustration", 0.25, "frustration_spike"),
        ("seeking", 0.25, "seeking_spike"),
        ("uncertainty", 0.25, "uncertainty_spike"),
        ("confidence", 0.25, "confidence_sustained"),
        ("fatigue", 0.30, "fatigue_rising"),
    ],
)
def test_an_axis_fires_at_its_threshold(axis: Axis, threshold: float, name: str) -> None:
    made = neuron()
    assert made.update(vector(**{axis: threshold - 0.001}), LOW, Field(), failing=True) == ()
    (signal,) = made.update(vector(**{axis: threshold}), LOW, Field(), failing=True)
    assert (signal.name, signal.fresh, signal.intensity) == (name, True, 0.0)
    (signal,) = made.update(vector(**{axis: threshold + 0.2}), LOW, Field(), failing=True)
    assert (signal.name, signal.fresh) == (name, False)
    assert signal.intensity == pytest.approx(0.2)


def test_flow_is_none_of_its_business() -> None:
    assert neuron().update(vector(flow=1.0), LOW, Field(), failing=True) == ()


def test_three_events_below_the_threshold_release_a_signal() -> None:
    made = neuron()
    high, low = vector(frustration=0.5), vector(frustration=0.1)
    made.update(high, LOW, Field(), failing=True)
    left = []
    for values in (low, low, high, low, low, low, low, high):
        signals = made.update(values, LOW, Field(), failing=True)
        left.append((len(signals), made.release(FRUSTRATION), bool(signals) and signals[0].fresh))
    assert left == [
        (1, 2, False),
        (1, 1, False),
        (1, 3, False),
        (1, 2, False),
        (1, 1, False),
        (0, 0, False),
        (0, 0, False),
        (1, 3, True),
    ]


def test_a_held_signal_has_no_intensity() -> None:
    made = neuron()
    made.update(vector(seeking=0.5), LOW, Field(), failing=True)
    (signal,) = made.update(vector(seeking=0.1), LOW, Field(), failing=True)
    assert signal == Signal("seeking_spike", 0.0, False)


def test_frustration_and_seeking_together_are_one_compound() -> None:
    made = neuron()
    made.update(vector(frustration=0.4), LOW, Field(), failing=True)
    both = vector(frustration=0.4, seeking=0.6, fatigue=0.9)
    signals = made.update(both, LOW, Field(), failing=True)
    assert names(signals) == ["compound_frustration_seeking", "fatigue_rising"]
    assert signals[0].intensity == pytest.approx(0.35)
    assert signals[0].fresh
    assert not made.update(both, LOW, Field(), failing=True)[0].fresh
    assert {held.axis: held.signal for held in made.read()} == {
        "frustration": "compound_frustration_seeking",
        "seeking": "compound_frustration_seeking",
        "fatigue": "fatigue_rising",
    }
    assert made.dominant == FATIGUE
    one = vector(frustration=0.4)
    sent = [names(made.update(one, LOW, Field(), failing=True))[0] for _ in range(3)]
    assert sent == ["compound_frustration_seeking", "compound_frustration_seeking", "frustration_spike"]


def test_while_flow_fires_nothing_is_held() -> None:
    made = neuron()
    made.update(vector(frustration=0.9), LOW, Field(), failing=True)
    made.rest()
    assert made.update(vector(), LOW, Field(), failing=True) == ()
    assert made.dominant == NONE


def test_the_field_moves_thresholds() -> None:
    field = Field()
    made = neuron()
    values = vector(frustration=0.35, seeking=0.4, uncertainty=0.4)
    base = [0.2] * 6
    assert made.update(values, base, field, failing=True) == ()
    field.seeking = field.uncertainty = -0.06
    assert names(made.update(values, base, field, failing=True)) == ["seeking_spike", "uncertainty_spike"]
    field.frustration = -0.06
    assert names(made.update(values, base, field, failing=True)) == [
        "compound_frustration_seeking",
        "uncertainty_spike",
    ]


def meta() -> MetaNeuron:
    return MetaNeuron(MetaSettings())


@pytest.mark.parametrize(
    ("silence", "pattern", "frustration", "flow", "state"),
    [
        (True, "delegation", 0.9, 0.9, "idle"),
        (False, "delegation", 0.9, 0.9, "delegating"),
        (False, "trial_error", 0.26, 0.9, "stuck"),
        (False, "trial_error", 0.25, 0.9, "exploring"),
        (False, "implementation", 0.9, 0.16, "deep_work"),
        (False, "implementation", 0.0, 0.15, "exploring"),
        (False, "exploration", 0.9, 0.9, "exploring"),
        (False, "wandering", 0.0, 0.0, "exploring"),
        (False, "stagnation", 0.0, 0.0, "exploring"),
    ],
)
def test_five_states(silence: bool, pattern: Pattern, frustration: float, flow: float, state: AgentState) -> None:
    made = meta()
    made.update(NONE, silence, pattern, frustration, flow)
    assert made.state == state


def observe(made: MetaNeuron, *axes: int, pattern: Pattern = "stagnation", **values: float) -> None:
    for axis in axes:
        made.update(axis, False, pattern, values.get("frustration", 0.0), values.get("flow", 0.0))


def field(made: MetaNeuron) -> tuple[float, float, float]:
    return made.field.frustration, made.field.seeking, made.field.uncertainty


def test_the_buffer_holds_the_last_twenty() -> None:
    made = meta()
    observe(made, *[FRUSTRATION] * 15, *[SEEKING] * 10, *[NONE] * 5)
    reading = made.read("exploring")
    assert reading.buffer == ("frustration",) * 5 + ("seeking",) * 10 + (None,) * 5
    assert dict(reading.rates)["frustration"] == 0.25
    assert dict(reading.rates)["seeking"] == 0.5


def test_danger_lowers_seeking_and_uncertainty_and_safety_brings_them_back() -> None:
    made = meta()
    observe(made, *[NONE] * 10, *[FRUSTRATION] * 10)
    assert field(made) == (0.0, 0.0, 0.0)
    observe(made, FRUSTRATION)
    assert field(made) == (0.0, -0.03, -0.03)
    observe(made, *[FRUSTRATION] * 10)
    assert field(made) == (0.0, -0.15, -0.15)
    observe(made, *[CONFIDENCE] * 16)
    assert dict(made.read("exploring").rates)["frustration"] == 0.2
    assert field(made) == (0.0, -0.15, -0.15)
    observe(made, CONFIDENCE)
    assert field(made) == pytest.approx((0.0, -0.12, -0.12))
    observe(made, *[UNCERTAINTY] * 5)
    assert field(made) == (0.0, 0.0, 0.0)


def test_deep_work_shields_from_frustration_and_being_stuck_sharpens_it() -> None:
    made = meta()
    observe(made, *[NONE] * 2, pattern="implementation", flow=0.5)
    assert field(made)[0] == pytest.approx(0.06)
    observe(made, *[NONE] * 20, pattern="implementation", flow=0.5)
    assert field(made)[0] == 0.15
    observe(made, *[NONE] * 4, pattern="exploration")
    assert field(made)[0] == pytest.approx(0.03)
    observe(made, *[NONE] * 4, pattern="exploration")
    assert field(made)[0] == 0.0
    observe(made, *[NONE] * 20, pattern="trial_error", frustration=0.5)
    assert field(made)[0] == -0.15


rolls = st.lists(
    st.tuples(st.integers(NONE, 5), st.booleans(), st.sampled_from(("trial_error", "implementation")), st.floats(0, 1)),
    max_size=60,
)


@settings(max_examples=100)
@given(rolls)
def test_the_field_moves_by_steps_within_its_bound(drawn: list[tuple[int, bool, Pattern, float]]) -> None:
    made = meta()
    for dominant, silence, pattern, level in drawn:
        before = field(made)
        made.update(dominant, silence, pattern, level, level)
        for old, new in zip(before, field(made), strict=True):
            assert abs(new) <= 0.15
            assert abs(new - old) <= 0.03 + 1e-12
        rates = made.read("exploring").rates
        assert sum(rate for _, rate in rates) <= 1.0 + 1e-12
