"""Salience: scores, decay, expiry, order, bounds."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.engine.mind.cortical import REGIMES, Regime
from core.engine.mind.salience import Habituation, Item, Salience, relevance_table
from core.engine.mind.stimulus import STIMULUS_KINDS, Stimulus, StimulusKind
from core.settings.mind import HabituationSettings, RelevanceSettings, SalienceSettings

KINDS = st.sampled_from(STIMULUS_KINDS)


def stimulus(kind: StimulusKind = "anomaly", urgency: float = 0.5, pattern: int = 0) -> Stimulus:
    return Stimulus(kind, "failure", pattern.to_bytes(16, "big"), urgency, "it failed")


def push(
    salience: Salience,
    urgency: float = 0.5,
    *,
    kind: StimulusKind = "anomaly",
    attenuation: float = 1.0,
    now: float = 0.0,
    threshold: float = 0.3,
    pattern: int = 0,
) -> Item:
    return salience.push(stimulus(kind, urgency, pattern), attenuation, "calm", now, now, threshold)


@pytest.mark.parametrize(("ticks", "score"), [(1, 0.85), (5, 0.44), (10, 0.20), (20, 0.04)])
def test_score_of_one_decays_as_published(ticks: int, score: float) -> None:
    settings_ = SalienceSettings(novelty_weight=1.0, relevance_weight=0.0, urgency_weight=0.0)
    salience = Salience(settings_)
    item = push(salience)
    assert item.score == 1.0
    salience.tick(ticks, 1.0, 0.0)
    assert salience.score(item) == pytest.approx(score, abs=0.005)
    assert salience.score(item) == pytest.approx(0.85**ticks)


def test_first_of_a_kind_has_full_deviation_and_the_next_its_distance_to_the_average() -> None:
    salience = Salience(SalienceSettings())
    first = push(salience, 0.5)
    assert (first.novelty, first.relevance, first.urgency) == (1.0, 0.55, 0.5)
    assert first.score == pytest.approx(0.4 * 1.0 + 0.35 * 0.55 + 0.25 * 0.5)
    second = push(salience, 1.0, attenuation=0.5)
    assert second.novelty == pytest.approx(0.5 * 0.5)
    third = push(salience, 0.6)
    assert third.novelty == pytest.approx(0.0)
    other = push(salience, 0.5, kind="trace")
    assert other.novelty == 1.0


@pytest.mark.parametrize(
    ("kind", "regime", "relevance"),
    [
        *(("policy_violation", regime, 1.0) for regime in REGIMES),
        *(("owner_message", regime, 0.9) for regime in REGIMES),
        *(("confirmation", regime, 0.65) for regime in REGIMES),
        *(("dream_request", regime, 0.4) for regime in REGIMES),
        ("anomaly", "turbulence", 0.95),
        ("anomaly", "calm", 0.55),
        ("anomaly", "progress", 0.55),
        ("anomaly", "crisis", 0.55),
        ("trace", "turbulence", 0.7),
        ("trace", "calm", 0.45),
        ("trace", "progress", 0.45),
        ("trace", "crisis", 0.45),
    ],
)
def test_relevance_by_kind_and_regime(kind: StimulusKind, regime: Regime, relevance: float) -> None:
    assert relevance_table(RelevanceSettings())[kind, regime] == relevance
    item = Salience(SalienceSettings()).push(stimulus(kind), 1.0, regime, 0.0, 0.0, 0.3)
    assert item.relevance == relevance


def test_items_expire_after_five_minutes_of_work() -> None:
    salience = Salience(SalienceSettings())
    push(salience, now=0.0)
    push(salience, now=10.0, pattern=1)
    assert len(salience.ranked(299.9)) == 2
    assert len(salience.ranked(300.0)) == 1
    salience.tick(1, 1.0, 300.0)
    assert len(salience) == 1
    assert salience.drop_expired(310.0) == 1
    assert len(salience) == 0


def test_unpromoted_items_fade_faster_when_affect_says_so() -> None:
    salience = Salience(SalienceSettings())
    weak = push(salience, 0.0, threshold=0.99)
    strong = push(salience, 1.0, threshold=0.0)
    assert (weak.promoted, strong.promoted) == (False, True)
    salience.tick(4, 2.0, 0.0)
    assert salience.score(weak) == pytest.approx(weak.score * 0.85**8)
    assert salience.score(strong) == pytest.approx(strong.score * 0.85**4)
    assert salience.score(strong, 2, 2.0) == pytest.approx(strong.score * 0.85**6)


def test_top_shows_a_pattern_once_with_a_count_unless_told_otherwise() -> None:
    every = Salience(SalienceSettings(distinct=False))
    once = Salience(SalienceSettings())
    for salience in (every, once):
        for pattern in (1, 1, 1, 2):
            push(salience, pattern=pattern)
    assert [times for _, _, times in every.top(0.0)] == [1, 1, 1, 1]
    assert sorted(times for _, _, times in once.top(0.0)) == [1, 3]


def test_top_is_at_most_five() -> None:
    salience = Salience(SalienceSettings())
    for pattern in range(9):
        push(salience, pattern=pattern)
    assert len(salience.top(0.0)) == 5


def test_equal_scores_stand_in_order_of_arrival() -> None:
    salience = Salience(SalienceSettings(novelty_weight=0.0))
    pushed = [push(salience, pattern=pattern).id for pattern in range(6)]
    assert [item.id for _, item in salience.ranked(0.0)] == pushed


@settings(max_examples=60)
@given(st.lists(st.tuples(KINDS, st.floats(0, 1), st.floats(0.05, 1), st.floats(0, 1), st.integers(0, 3)), max_size=90))
def test_order_is_total_stable_and_bounded(pushes: list[tuple[StimulusKind, float, float, float, int]]) -> None:
    salience = Salience(SalienceSettings(length=16))
    for number, (kind, urgency, attenuation, threshold, ticks) in enumerate(pushes):
        item = push(
            salience, urgency, kind=kind, attenuation=attenuation, threshold=threshold, pattern=number, now=number
        )
        assert 0.0 <= item.novelty <= 1.0
        assert 0.0 <= item.score <= 1.0
        salience.tick(ticks, 1.0, number)
        assert len(salience) <= 16
    ranked = salience.ranked(len(pushes))
    keys = [(-score, item.id) for score, item in ranked]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys)
    assert salience.ranked(len(pushes)) == ranked


@given(st.lists(st.floats(0, 1), max_size=30), st.integers(0, 40))
def test_ticks_keep_the_order_of_what_fades_alike(urgencies: list[float], ticks: int) -> None:
    salience = Salience(SalienceSettings())
    for number, urgency in enumerate(urgencies):
        push(salience, urgency, threshold=0.0, pattern=number)
    before = {item.id: score for score, item in salience.ranked(0.0)}
    salience.tick(ticks, 3.0, 0.0)
    after = salience.ranked(0.0)
    assert {item.id: score / 0.85**ticks for score, item in after} == pytest.approx(before)
    assert all(before[a.id] >= before[b.id] - 1e-12 for (_, a), (_, b) in pairwise(after))


def test_the_strongest_stay_when_the_queue_is_full() -> None:
    salience = Salience(SalienceSettings(length=8, novelty_weight=0.0))
    for number in range(9):
        push(salience, number / 10, pattern=number)
    kept = sorted(item.urgency for _, item in salience.ranked(0.0))
    assert kept == [0.3, 0.4, 0.5, 0.6, 0.7, 0.8]


def test_change_of_regime_makes_queued_patterns_news_again() -> None:
    salience, habituation = Salience(SalienceSettings()), Habituation(HabituationSettings())
    queued, other = (1).to_bytes(16, "big"), (2).to_bytes(16, "big")
    for _ in range(20):
        habituation.observe(queued, 0)
        habituation.observe(other, 0)
    push(salience, pattern=1)
    assert salience.dishabituate(habituation) == 1
    assert habituation.observe(queued, 0) == 1.0
    assert habituation.observe(other, 0) < 0.5


def test_rebalancing_takes_the_mean_of_what_waits() -> None:
    salience = Salience(SalienceSettings())
    push(salience, 0.2, pattern=1)
    push(salience, 0.8, pattern=2)
    assert salience.rebalance() == 1
    assert push(salience, 0.5, pattern=3).novelty == pytest.approx(0.0)


def test_a_tick_does_not_look_at_the_queue() -> None:
    salience = Salience(SalienceSettings(length=64))
    for number in range(60):
        push(salience, pattern=number)
    before = salience.dump()[3]
    salience.tick(1000, 1.0, 0.0)
    assert salience.dump()[3] == before
