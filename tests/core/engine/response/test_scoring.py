"""The score: each factor alone, all together, and why a method kept silent."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.engine.percept import AGENT_STATES, AgentState, Signal, SignalName
from core.engine.response.rules import CUE_OF, CUES, Cue, Frequency, RuleSet, add_rules, built_in
from core.engine.response.scoring import Candidate, Scorer
from core.settings.response import ScoringSettings

FIGURES = ScoringSettings()
FRUSTRATION: SignalName = "frustration_spike"


def rules(
    sensitivity: float = 0.5, frequency: Frequency = "low", signals: str = '["frustration"]', extra: str = ""
) -> RuleSet:
    empty = RuleSet((), {})
    trigger = f'"states": ["stuck"], "sensitivity": {sensitivity}, "frequency": "{frequency}"{extra}'
    head = '"id": "one", "type": "status_notify", "mode": "notify"'
    text = f'{{"methods": [{{{head}, "trigger": {{"signals": {signals}, {trigger}}}}}]}}'
    return add_rules(empty, text.encode(), "test")


def scorer(made: RuleSet | None = None, **deltas: float) -> Scorer:
    return Scorer(FIGURES, made or rules(), deltas)  # type: ignore[arg-type]


def signal(intensity: float, name: SignalName = FRUSTRATION) -> tuple[Signal, ...]:
    return (Signal(name, intensity, True),)


def one(made: Scorer) -> Candidate:
    (candidate,) = made.candidates()
    return candidate


@pytest.mark.parametrize(
    ("intensity", "state", "sensitivity", "delta", "score"),
    [
        (0.5, "stuck", 0.5, 0.0, 0.25),
        (0.2, "stuck", 0.5, 0.0, 0.10),
        (0.5, "stuck", 1.0, 0.0, 0.50),
        (0.5, "exploring", 1.0, 0.0, 0.15),
        (0.5, "idle", 0.5, 0.0, 0.075),
        (0.5, "stuck", 0.5, 0.3, 0.325),
        (0.5, "stuck", 0.5, -0.3, 0.175),
        (0.7, "deep_work", 0.9, 0.2, 0.2268),
        (0.0, "stuck", 1.0, 0.3, 0.0),
    ],
)
def test_a_score_is_the_product_of_its_factors(
    intensity: float, state: AgentState, sensitivity: float, delta: float, score: float
) -> None:
    made = scorer(rules(sensitivity), frustration=delta)
    fired = made.update(0.0, state, signal(intensity))
    candidate = one(made)
    assert candidate.score == pytest.approx(score)
    assert candidate.signal_match == 1.0
    assert candidate.state_match == (1.0 if state == "stuck" else 0.3)
    assert candidate.learned == pytest.approx(1.0 + delta)
    assert candidate.recency == 1.0
    assert candidate.fired == bool(fired) == (score > 0.15)


def test_exactly_the_threshold_does_not_fire() -> None:
    made = scorer(rules(1.0))
    assert not made.update(0.0, "stuck", signal(0.15))
    assert made.update(1.0, "stuck", signal(0.150001))


def test_a_signal_of_another_kind_is_no_match() -> None:
    made = scorer()
    assert not made.update(0.0, "stuck", signal(0.9, "seeking_spike"))
    candidate = one(made)
    assert (candidate.signal_match, candidate.score, candidate.cue) == (0.0, 0.0, None)
    assert "not triggered" in candidate.why


@pytest.mark.parametrize(("frequency", "cooldown"), [("low", 2400.0), ("medium", 1200.0), ("high", 300.0)])
@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 0.9, 1.0, 3.0])
def test_recency_is_the_square_of_the_share_of_the_rest(frequency: Frequency, cooldown: float, share: float) -> None:
    made = scorer(rules(1.0, frequency))
    assert made.update(1000.0, "stuck", signal(0.5))
    later = 1000.0 + share * cooldown
    fired = made.update(later, "stuck", signal(0.5))
    candidate = one(made)
    assert candidate.recency == pytest.approx(min(1.0, share * share))
    assert candidate.score == pytest.approx(0.5 * min(1.0, share * share))
    assert bool(fired) == (candidate.score > 0.15)


def test_a_strong_signal_comes_back_before_the_rest_is_over() -> None:
    made = scorer(rules(1.0, "high"))
    made.update(0.0, "stuck", signal(0.9))
    assert not made.update(120.0, "stuck", signal(0.9))
    assert "cooling down, 120 of 300 s" in one(made).why
    assert made.update(123.0, "stuck", signal(0.9))


def test_time_that_runs_backwards_is_no_rest() -> None:
    made = scorer(rules(1.0, "high"))
    made.update(1000.0, "stuck", signal(0.9))
    assert not made.update(900.0, "stuck", signal(0.9))
    assert one(made).recency == 0.0


def test_flow_silences_everything_but_what_the_person_must_know() -> None:
    made = Scorer(FIGURES, built_in(), {})
    flow = (Signal("flow_active", 0.4, True),)
    assert not made.update(0.0, "deep_work", flow)
    reasons = {candidate.id: candidate.why for candidate in made.candidates()}
    assert set(reasons.values()) == {"muted by flow"}
    shots = made.update(0.0, "deep_work", flow, (("halt", 1.0), ("pressure", 0.9)))
    assert {"halt_alert", "ask_person"} <= {shot.method.id for shot in shots}
    reasons = {candidate.id: candidate.why for candidate in made.candidates()}
    assert "muted by flow" not in (reasons["halt_alert"], reasons["ask_person"])
    assert reasons["frustration_alert"] == "muted by flow"
    shots = made.update(1.0, "deep_work", flow, (("loop", 0.5),))
    assert "loop_alert" in [shot.method.id for shot in shots]
    quieter = add_rules(built_in(), b'{"methods": [{"id": "loop_alert", "trigger": {"despite_flow": false}}]}', "t")
    spoken = Scorer(FIGURES, quieter, {}).update(1.0, "deep_work", flow, (("loop", 0.5),))
    assert "loop_alert" not in [shot.method.id for shot in spoken]


def test_the_best_of_several_signals_counts_and_the_best_method_goes_first() -> None:
    made = Scorer(FIGURES, built_in(), {})
    both = (Signal("seeking_spike", 0.4, True), Signal("confidence_sustained", 0.5, True))
    shots = made.update(0.0, "exploring", both)
    scores = [shot.score for shot in shots]
    assert scores == sorted(scores, reverse=True)
    found = {shot.method.id: shot.cue for shot in shots}
    assert found["action_logger"] == "confidence"
    assert found["path_suggest"] == "seeking"


def test_a_method_may_have_a_threshold_of_its_own() -> None:
    made = scorer(rules(0.1, extra=', "threshold": 0.01'))
    assert made.update(0.0, "stuck", signal(0.2))
    assert not scorer(rules(0.1)).update(0.0, "stuck", signal(0.9))


def test_every_reason_for_silence_is_named() -> None:
    made = scorer(rules(0.5))
    made.update(0.0, "exploring", signal(0.4))
    why = one(made).why
    assert "0.060 is not above 0.15" in why
    assert "the state is exploring, not stuck" in why
    made.update(0.0, "stuck", signal(0.1))
    assert "frustration is only 0.10 above its threshold" in one(made).why
    made.update(0.0, "stuck", signal(0.0))
    assert "held below its threshold" in one(made).why
    off = add_rules(rules(), b'{"methods": [{"id": "one", "enabled": false}]}', "test")
    silent = scorer(off)
    assert not silent.update(0.0, "stuck", signal(0.9))
    assert one(silent).why == "switched off"


def test_the_terms_are_those_before_the_method_fired() -> None:
    made = scorer(rules(1.0))
    made.update(0.0, "stuck", signal(0.5))
    assert one(made).fired and one(made).recency == 1.0
    made.rest(1.0, "stuck", ())
    assert not one(made).fired


names = st.sampled_from([*CUE_OF])
acts = st.lists(
    st.tuples(
        st.floats(-10.0, 900.0),
        st.sampled_from(AGENT_STATES),
        st.dictionaries(names, st.floats(0.0, 0.8), max_size=4),
        st.dictionaries(st.sampled_from(("loop", "halt", "pressure")), st.floats(0.0, 1.0), max_size=2),
    ),
    max_size=25,
)


@settings(max_examples=60)
@given(acts, st.dictionaries(st.sampled_from(CUES), st.floats(-0.3, 0.3)))
def test_what_fires_is_what_the_terms_say(
    script: list[tuple[float, AgentState, dict[SignalName, float], dict[Cue, float]]], deltas: dict[Cue, float]
) -> None:
    made = Scorer(FIGURES, built_in(), deltas)
    at = 0.0
    for gap, state, heard, extra in script:
        at += gap
        standing = tuple(Signal(name, intensity, True) for name, intensity in heard.items())
        shots = {shot.method.id: shot.score for shot in made.update(at, state, standing, tuple(extra.items()))}
        for candidate in made.candidates():
            terms = (
                candidate.signal_match
                * candidate.state_match
                * candidate.intensity
                * candidate.sensitivity
                * candidate.learned
                * candidate.recency
            )
            assert candidate.score == pytest.approx(terms)
            assert candidate.fired == (candidate.id in shots) == (candidate.score > candidate.threshold)
            if candidate.fired:
                assert shots[candidate.id] == candidate.score


def test_the_published_table_is_the_built_in_one() -> None:
    table = {
        "engram_probe": ("auto", ("compound",), ("stuck",), 0.7, "low"),
        "frustration_alert": ("notify", ("frustration", "compound"), ("stuck", "exploring"), 0.8, "low"),
        "fatigue_warning": ("notify", ("fatigue",), ("stuck", "exploring", "deep_work"), 0.6, "low"),
        "context_snapshot": ("auto", ("confidence",), ("deep_work",), 0.6, "low"),
        "engram_probe_light": ("auto", ("frustration", "seeking"), ("stuck", "exploring"), 0.4, "medium"),
        "path_suggest": ("auto", ("seeking",), ("exploring", "stuck"), 0.5, "medium"),
        "push_reminder": ("notify", ("confidence",), ("deep_work", "exploring"), 0.5, "low"),
        "action_logger": ("background", CUES, ("idle", "stuck", "deep_work", "exploring"), 0.1, "high"),
        "future_probe": ("background", ("frustration", "seeking"), ("exploring", "stuck"), 0.5, "medium"),
    }
    found = {
        method.id: (
            method.mode,
            method.trigger.signals,
            method.trigger.states,
            method.trigger.sensitivity,
            method.trigger.frequency,
        )
        for method in built_in().methods
    }
    assert {name: found[name] for name in table} == table
    assert set(found) - set(table) == {"loop_alert", "halt_alert", "ask_person", "means_alert"}
    assert (FIGURES.threshold, FIGURES.mismatch, FIGURES.recovery) == (0.15, 0.3, 2.0)
    assert (FIGURES.low, FIGURES.medium, FIGURES.high) == (2400.0, 1200.0, 300.0)
