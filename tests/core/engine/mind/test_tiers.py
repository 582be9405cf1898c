"""Where models are placed, what a day costs, and what the gate thinks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.engine.mind.cortical import TIERS
from core.engine.mind.tiers import BANDS, Band, Tiers
from core.events import Turn
from core.settings.mind import TierSettings
from tests.core import strategies

DAY = 86_400.0
NOON = 20_000 * DAY + DAY / 2


def turn(cost: float | None = None, at: float = NOON, model: str = "claude-opus-4", tokens: int = 0) -> Turn:
    return Turn(at=at, model=model, cost=cost, input_tokens=tokens)


@pytest.mark.parametrize(
    ("model", "tier"),
    [
        ("claude-opus-4-5-20251101", "T2"),
        ("claude-sonnet-4-20250514", "T2"),
        ("claude-3-5-haiku-20241022", "T1"),
        ("anthropic/claude-haiku-4.5", "T1"),
        ("gpt-5", "T2"),
        ("gpt-5-mini", "T1"),
        ("o4-mini", "T1"),
        ("gpt-4.1-nano", "T1"),
        ("gemini-2.5-pro", "T2"),
        ("gemini-2.5-flash", "T1"),
        ("gemini-2.5-flash-lite", "T1"),
        ("Llama-3.1-8B-Instruct", "T1"),
        ("qwen3-235b", "T2"),
        ("<synthetic>", "T0"),
        ("some-model-never-heard-of", "T2"),
        ("", "T2"),
    ],
)
def test_a_model_is_placed_by_the_words_of_its_name(model: str, tier: str) -> None:
    tiers = Tiers(TierSettings())
    tiers.update(turn(model=model))
    assert tiers.tier == tiers.place(model) == tier


@pytest.mark.parametrize(
    ("spent", "band", "highest"),
    [
        (0.0, "normal", "T2"),
        (69.0, "normal", "T2"),
        (70.0, "no_large", "T1"),
        (89.0, "no_large", "T1"),
        (90.0, "no_model", "T0"),
        (100.0, "no_model", "T0"),
        (100.5, "over", "T0"),
        (900.0, "over", "T0"),
    ],
)
def test_the_throttle_bands(spent: float, band: Band, highest: str) -> None:
    tiers = Tiers(TierSettings(daily_money=100.0))
    tiers.update(turn(spent))
    reading = tiers.read()
    assert (reading.band, reading.highest) == (band, highest)
    assert tiers.opinion(1.0, 0.0, 1.0, 0.0).tier == highest
    assert tiers.remaining == pytest.approx(max(0.0, 1.0 - spent / 100.0))


def test_midnight_utc_opens_a_new_budget() -> None:
    tiers = Tiers(TierSettings(daily_money=1.0))
    tiers.update(turn(5.0))
    assert tiers.read().resets_at == 20_001 * DAY
    tiers.update(turn(0.0, at=20_001 * DAY - 0.001))
    bands = [tiers.band]
    tiers.update(turn(0.1, at=20_001 * DAY))
    assert [*bands, tiers.band] == ["over", "normal"]
    assert tiers.used == pytest.approx(0.1)
    assert tiers.read().total_money == pytest.approx(5.1)


def test_a_clock_that_jumps_back_opens_no_new_budget() -> None:
    tiers = Tiers(TierSettings(daily_money=1.0))
    tiers.update(turn(5.0))
    tiers.update(turn(0.0, at=NOON - 3 * DAY))
    assert tiers.band == "over"


def test_an_unknown_price_is_shown_and_its_tokens_count() -> None:
    tiers = Tiers(TierSettings(daily_money=1.0, daily_tokens=1_000_000))
    tiers.update(turn(None, tokens=750_000))
    tiers.update(turn(0.1, model="claude-haiku-4", tokens=1000))
    reading = tiers.read()
    assert reading.unpriced == 1
    assert [spend.unpriced for spend in reading.spends] == [0, 0, 1]
    assert [spend.tokens for spend in reading.spends] == [0, 1000, 750_000]
    assert [spend.money for spend in reading.spends] == [0.0, 0.1, 0.0]
    assert reading.band == "no_large"


def test_without_a_limit_nothing_is_throttled() -> None:
    tiers = Tiers(TierSettings(daily_money=0.0, daily_tokens=0))
    tiers.update(turn(1e6, tokens=10**12))
    assert (tiers.used, tiers.band, tiers.remaining) == (0.0, "normal", 1.0)


@pytest.mark.parametrize(
    ("confidence", "vitality", "arousal", "threshold"),
    [
        (0.0, 1.0, 0.0, 0.3),
        (1.0, 1.0, 0.0, 0.45),
        (0.0, 0.0, 0.0, 0.21),
        (0.0, 1.0, 1.0, 0.24),
        (0.0, 1.0, -1.0, 0.24),
        (0.5, 0.5, 0.5, 0.3 * 1.25 * 0.85 * 0.9),
    ],
)
def test_the_gates_threshold(confidence: float, vitality: float, arousal: float, threshold: float) -> None:
    tiers = Tiers(TierSettings())
    assert tiers.threshold(confidence, vitality, arousal) == pytest.approx(threshold)
    below, above = threshold * 0.99, threshold * 1.01
    assert tiers.opinion(below, confidence, vitality, arousal).wanted == "T0"
    assert tiers.opinion(above, confidence, vitality, arousal).wanted == "T1"
    assert tiers.opinion(2 * below, confidence, vitality, arousal).wanted == "T1"
    assert tiers.opinion(2 * above, confidence, vitality, arousal).wanted == "T2"


def test_a_bias_lowers_the_gate_and_the_clamp_holds() -> None:
    tiers = Tiers(TierSettings())
    assert tiers.threshold(0.0, 1.0, 0.0, 0.5) == pytest.approx(0.15)
    assert tiers.threshold(0.0, 1.0, 0.0, 1.0) == 0.05
    assert Tiers(TierSettings(gate_base=1.0)).threshold(1.0, 1.0, 0.0) == 0.8


@given(st.lists(strategies.turns(), max_size=20), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.floats(-1, 1))
@settings(max_examples=60)
def test_the_budget_only_ever_lowers_the_tier(
    turns: list[Turn], error: float, confidence: float, vitality: float, arousal: float
) -> None:
    tiers = Tiers(TierSettings(daily_money=2.0))
    for each in turns:
        tiers.update(each)
    opinion = tiers.opinion(error, confidence, vitality, arousal)
    assert 0.05 <= opinion.threshold <= 0.8
    assert TIERS.index(opinion.tier) <= TIERS.index(opinion.wanted)
    assert opinion.band in BANDS


@given(st.lists(st.tuples(strategies.turns(), st.floats(0, 3)), max_size=30), st.integers(0, 30))
@settings(max_examples=40)
def test_loaded_tiers_go_on_equal(turns: list[tuple[Turn, float]], cut: int) -> None:
    one, other = Tiers(TierSettings()), Tiers(TierSettings())
    stream = [
        Turn(at=NOON + days * DAY, model=each.model, cost=each.cost, output_tokens=each.output_tokens)
        for each, days in turns
    ]
    for each in stream[:cut]:
        one.update(each)
    other.load([list(part) if isinstance(part, tuple) else part for part in one.dump()])
    assert other.used == one.used
    for each in stream[cut:]:
        assert one.update(each) == other.update(each)
    assert one.dump() == other.dump()
    assert one.read() == other.read()


def test_many_model_names_do_not_pile_up() -> None:
    tiers = Tiers(TierSettings())
    for number in range(1000):
        tiers.update(turn(0.0, model=f"model-{number}"))
    assert len(tiers._places) <= 64


def test_the_session_remembers_which_turns_had_no_price() -> None:
    """Yesterday's turns of unknown price are still missing from the session's money today."""
    tiers = Tiers(TierSettings())
    for each in (turn(None), turn(0.5), turn(0.5, NOON + DAY)):
        tiers.update(each)
    reading = tiers.read()
    assert (reading.unpriced, reading.total_unpriced, reading.total_priced) == (0, 1, 2)
    again = Tiers(TierSettings())
    again.load(tiers.dump())
    assert again.read() == reading
