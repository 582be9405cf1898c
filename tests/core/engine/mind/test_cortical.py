"""The shared state, and the mood, regime and vitality that write it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from core.engine.mind.clock import Ticks
from core.engine.mind.cortical import (
    EMOTIONS,
    OCTANTS,
    PACKED_SIZE,
    PHASES,
    REGIMES,
    TIERS,
    CorticalState,
    Mood,
    Regime,
    Vitality,
    unpack,
)
from core.engine.mind.heart import Heart, RegimeSense
from core.engine.percept import EVEN, NEUTRAL, Pattern, Percept, Signal
from core.errors import StateError
from core.events import Outcome, Prompt, ToolUse
from core.settings.mind import MindSettings, MoodSettings, RegimeSettings, VitalitySettings
from tests.core import strategies

CALM = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
GLAD = (0.0, 0.0, 1.0, 0.0, 1.0, 0.0)
SORE = (1.0, 1.0, 0.0, 0.0, 0.0, 0.0)
COMPOUND = Signal("compound_frustration_seeking", 0.2, True)


def percept(
    now: float,
    pattern: Pattern = "exploration",
    failures: float = 0.0,
    signals: tuple[Signal, ...] = (),
    events: int = 10,
    failed: int = 2,
    recovered: bool = False,
) -> Percept:
    return Percept(
        now, now, 1.0, False, pattern, pattern, "exploring", CALM, signals, False, failures, events, failed, recovered
    )


def edit(outcome: Outcome = "success") -> ToolUse:
    return ToolUse(at=0.0, action="file_edit", outcome=outcome)


def test_reading_gives_no_way_to_write() -> None:
    state = CorticalState()
    for name in CorticalState.__struct_fields__:
        with pytest.raises(AttributeError):
            setattr(state, name, getattr(state, name))


def changes_of(heart: Heart, write: Callable[[], None]) -> list[str]:
    before = heart.state
    write()
    return [name for name in before.__struct_fields__ if getattr(before, name) != getattr(heart.state, name)]


def test_each_writer_changes_its_own_group_only() -> None:
    heart = Heart(MindSettings())
    assert changes_of(heart, lambda: heart.write_environment("crisis")) == ["regime"]
    assert changes_of(heart, lambda: heart.write_inference(0.5, "T2")) == ["budget_remaining", "tier"]
    heart.begin(1.0, replace(percept(1.0), axes=SORE), NEUTRAL, EVEN)
    assert changes_of(heart, lambda: heart.beat(Ticks(1, 0, 0))) == ["pleasure", "arousal", "emotion"]
    heart.forecast.brier = 1.0
    assert changes_of(heart, lambda: heart.beat(Ticks(0, 1, 0))) == [
        "accuracy",
        "trend",
        "economic",
        "composite",
        "phase",
    ]


signals = st.floats(allow_nan=False)


@given(
    st.builds(
        CorticalState,
        *[signals] * 3,
        st.sampled_from(EMOTIONS),
        signals,
        st.sampled_from((-1, 0, 1)),
        *[signals] * 2,
        st.sampled_from(PHASES),
        st.sampled_from(REGIMES),
        signals,
        st.sampled_from(TIERS),
    )
)
@settings(max_examples=60)
def test_what_is_packed_comes_back_exactly_and_fits(state: CorticalState) -> None:
    packed = state.pack()
    assert len(packed) == PACKED_SIZE <= 256
    assert unpack(packed) == state
    assert unpack(packed).pack() == packed


@pytest.mark.parametrize(
    "damaged", [b"", b"\x01" * 10, b"\x07" + b"\0" * (PACKED_SIZE - 1), b"\x01" + b"\xff" * (PACKED_SIZE - 1)]
)
def test_what_is_no_packed_state_is_refused(damaged: bytes) -> None:
    with pytest.raises(StateError):
        unpack(damaged)


def test_the_mood_moves_by_the_published_steps() -> None:
    mood = Mood(MoodSettings(choice_smoothing=1.0))
    for _ in range(2):
        mood.update(edit())
    mood.tick(1.0, GLAD, 1.0)
    assert mood.pleasure == pytest.approx(0.05)
    assert mood.dominance == pytest.approx(0.03)
    assert abs(mood.arousal) <= 0.1
    mood.update(edit("failure"))
    mood.tick(2.0, SORE, 0.0)
    assert mood.pleasure == pytest.approx(-0.03)
    assert mood.dominance == pytest.approx(-0.02)


def test_pace_and_urgency_arouse() -> None:
    def after(events: int, urgency: float) -> float:
        mood = Mood(MoodSettings())
        for second in range(1, 40):
            for _ in range(events):
                mood.update(Prompt(at=0.0, characters=1))
            mood.tick(10.0 * second, CALM, urgency)
        return mood.arousal

    assert after(0, 0.0) < -0.5 < after(2, 0.0) < after(8, 0.0)
    assert after(2, 0.0) == pytest.approx(0.0, abs=0.02)
    assert after(2, 1.0) > after(2, 0.3) > after(2, 0.0)


def test_an_edit_right_after_a_prompt_is_the_persons_choice() -> None:
    own, told = Mood(MoodSettings()), Mood(MoodSettings())
    for _ in range(20):
        told.update(Prompt(at=0.0, characters=5))
        for mood in (own, told):
            mood.update(edit())
    assert told.share < 0.5 < own.share


@pytest.mark.parametrize("against", [Prompt(at=0.0, characters=0, interrupt=True), edit("rejected"), edit("failure")])
def test_being_stopped_refused_or_failing_costs_dominance(against: Prompt | ToolUse) -> None:
    mood = Mood(MoodSettings())
    mood.update(edit())
    before = mood.share
    mood.update(against)
    assert mood.share < before


def test_the_eight_octants_name_the_eight_emotions() -> None:
    assert sorted(OCTANTS.values()) == sorted(EMOTIONS)
    assert (OCTANTS[(True, True, True)], OCTANTS[(False, True, True)]) == ("joy", "anger")
    assert (OCTANTS[(False, True, False)], OCTANTS[(False, False, False)]) == ("fear", "sadness")


def test_an_axis_near_zero_does_not_flip_the_emotion() -> None:
    mood = Mood(MoodSettings(pleasure_rise=0.5, pleasure_fall=0.5))
    seen = set()
    for tick in range(20):
        side = 0.06 if tick % 2 else -0.06
        mood.tick(5.0 * tick, (max(0.0, -side), 0.0, max(0.0, side), 0.0, 0.0, 0.0), 0.0)
        seen.add(mood.octant[0])
    assert seen == {True}
    mood.tick(200.0, SORE, 0.0)
    assert mood.octant[0] is False


@given(strategies.events(max_size=60, backwards=True), st.integers(0, 60))
@settings(max_examples=40)
def test_a_loaded_mood_goes_on_equal_and_stays_in_bounds(events, cut) -> None:  # type: ignore[no-untyped-def]
    one, other = Mood(MoodSettings()), Mood(MoodSettings())
    for number, event in enumerate(events):
        if number == cut:
            other.load(one.dump())
        for mood in (one, other) if number >= cut else (one,):
            mood.update(event)
            mood.tick(event.at, (0.1 * (number % 10), 0.2, 0.9, 0.0, 0.05 * (number % 7), 0.0), 0.1 * (number % 4))
        assert all(-1.0 <= each <= 1.0 for each in (one.pleasure, one.arousal, one.dominance))
    if cut < len(events):
        assert other.dump() == one.dump()
        assert other.read() == one.read()


@pytest.mark.parametrize(
    ("seen", "loop", "expected"),
    [
        (percept(0.0), False, "calm"),
        (percept(0.0, "implementation", 0.2), False, "progress"),
        (percept(0.0, "implementation", 0.3), False, "calm"),
        (percept(0.0, "exploration", 0.4), False, "turbulence"),
        (percept(0.0, "implementation", 0.9), False, "turbulence"),
        (percept(0.0, "exploration", 1.0, events=3), False, "calm"),
        (percept(0.0, signals=(COMPOUND,)), False, "crisis"),
        (percept(0.0, signals=(Signal("flow_active", 0.5, True),)), False, "calm"),
        (percept(0.0, "implementation"), True, "crisis"),
        (percept(0.0, "implementation", failed=0), True, "progress"),
        (percept(0.0, signals=(COMPOUND,), failed=0), False, "calm"),
        (percept(0.0, signals=(COMPOUND,), recovered=True), False, "calm"),
        (percept(0.0, "exploration", 0.9, failed=0), False, "calm"),
    ],
)
def test_the_regime_of_a_percept(seen: Percept, loop: bool, expected: Regime) -> None:
    sense = RegimeSense(RegimeSettings())
    for now in (0.0, 100.0, 200.0):
        sense.update(replace(seen, now=now), loop)
    assert sense.regime == expected


def test_crisis_comes_at_once_and_goes_slowly() -> None:
    sense = RegimeSense(RegimeSettings())
    assert sense.update(percept(5.0, signals=(COMPOUND,)), False)
    assert not sense.update(percept(6.0), False)
    assert not sense.update(percept(65.0), False)
    assert sense.read().candidate == "calm" and sense.read().needed == 60.0
    assert sense.update(percept(66.0), False)
    assert sense.regime == "calm"


@pytest.mark.parametrize(
    ("regime", "after", "ends"),
    [
        ("crisis", percept(6.0, failed=0), True),
        ("crisis", percept(6.0, recovered=True), True),
        ("crisis", percept(6.0), False),
        ("turbulence", percept(6.0, failed=0), True),
        ("turbulence", percept(6.0, recovered=True), False),
    ],
)
def test_a_rough_regime_ends_at_once_when_nothing_fails(regime: Regime, after: Percept, ends: bool) -> None:
    sense = RegimeSense(RegimeSettings())
    sense.regime = sense.candidate = regime
    assert sense.update(after, False) is ends


def test_a_failure_rate_around_the_bound_does_not_flap() -> None:
    sense = RegimeSense(RegimeSettings())
    changes = sum(
        sense.update(percept(float(second), "exploration", 0.41 if second % 2 else 0.38), False)
        for second in range(600)
    )
    assert changes <= 1
    held = RegimeSense(RegimeSettings())
    for second in range(20):
        held.update(percept(float(second), "exploration", 0.5), False)
    changes = sum(held.update(percept(20.0 + second, "exploration", 0.3), False) for second in range(300))
    assert (held.regime, changes) == ("turbulence", 0)


def test_a_loaded_regime_goes_on_equal() -> None:
    one, other = RegimeSense(RegimeSettings()), RegimeSense(RegimeSettings())
    for second in range(5):
        one.update(percept(float(second), "exploration", 0.6), False)
    other.load(list(one.dump()))
    for second in range(5, 30):
        seen = percept(float(second), "exploration", 0.6)
        assert one.update(seen, False) == other.update(seen, False)
    assert one.regime == "turbulence" and one.dump() == other.dump()


@pytest.mark.parametrize(
    ("vitality", "phase"),
    [
        (1.0, "thriving"),
        (0.7, "thriving"),
        (0.69, "stable"),
        (0.5, "stable"),
        (0.49, "conserving"),
        (0.3, "conserving"),
        (0.29, "declining"),
        (0.1, "declining"),
        (0.09, "terminal"),
        (0.0, "terminal"),
    ],
)
def test_the_phase_of_a_vitality(vitality: float, phase: str) -> None:
    life = Vitality(VitalitySettings(economic_share=1.0))
    assert life.update(vitality, 0.0) is (phase != "thriving")
    assert life.phase == phase


def test_a_lost_phase_is_won_back_with_a_margin() -> None:
    life = Vitality(VitalitySettings(economic_share=1.0))
    steps = [(0.69, True), (0.71, False), (0.72, True), (0.705, False), (0.05, True), (0.11, False), (0.6, True)]
    assert [life.update(value, 0.0) for value, _ in steps] == [changed for _, changed in steps]
    assert life.phase == "stable"


def test_composite_vitality_weighs_budget_and_accuracy() -> None:
    life = Vitality(VitalitySettings())
    life.update(0.5, 1.0)
    assert life.read().composite == pytest.approx(0.6 * 0.5 + 0.4)
    other = Vitality(VitalitySettings())
    other.load(list(life.dump()))
    assert other.read() == life.read()
