"""Which tier is asked, what support a proposal needs, and whom affect lets the router ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from core.engine.society.engine import Frame
from core.extras.narrator.facts import Claim
from core.extras.narrator.router import Told, choose, support_needed, support_of
from tests.core.extras.narrator.made_up_model import answer, claims, serving, status
from tests.core.extras.narrator.routing import FACTS, NOW, TEMPLATE, Bench, by_template, settings_with, words
from tui.cli.commands.recap import prose_json, prose_lines

Change = Callable[[Frame], Frame]


def gate(frame: Frame, **given: Any) -> Frame:
    return replace(frame, mind=replace(frame.mind, opinion=replace(frame.mind.opinion, **given)))


@pytest.mark.parametrize(
    ("threshold", "error", "band", "used", "tier"),
    [
        (0.51, 0.0, "normal", 0.0, "T0"),
        (0.5, 0.0, "normal", 0.0, "T1"),
        (0.26, 0.0, "normal", 0.0, "T1"),
        (0.25, 0.0, "normal", 0.0, "T2"),
        (0.6, 0.6, "normal", 0.0, "T1"),
        (0.3, 0.7, "normal", 0.0, "T2"),
        (0.25, 0.0, "no_large", 0.0, "T1"),
        (0.25, 0.0, "no_model", 0.0, "T0"),
        (0.25, 0.0, "over", 0.0, "T0"),
        (0.25, 0.0, "normal", 0.69, "T2"),
        (0.25, 0.0, "normal", 0.7, "T1"),
        (0.25, 0.0, "normal", 0.89, "T1"),
        (0.25, 0.0, "normal", 0.9, "T0"),
    ],
)
def test_the_gate_the_throttle_and_the_day_choose_the_tier(
    frame: Frame, threshold: float, error: float, band: Any, used: float, tier: str
) -> None:
    chosen = settings_with(small=["openai a"], large=["openai b"])
    given = gate(frame, threshold=threshold, error=error, band=band)
    assert choose("recap", given, chosen, used).tier == tier


def test_bias_and_vitality_move_the_gate() -> None:
    from core.engine.mind.tiers import Tiers
    from core.settings.mind import TierSettings

    tiers = Tiers(TierSettings())
    plain = tiers.threshold(0.5, 1.0, 0.0)
    assert tiers.threshold(0.5, 1.0, 0.0, bias=0.2) < plain
    assert tiers.threshold(0.5, 0.2, 0.0) < plain


def test_without_a_model_of_a_tier_the_one_below_is_used(frame: Frame) -> None:
    eager = gate(frame, threshold=0.1, error=1.0, band="normal")
    assert choose("why", eager, settings_with(small=["openai a"]), 0.0).tier == "T1"
    assert choose("why", eager, settings_with(large=["openai b"]), 0.0).tier == "T2"
    assert choose("why", eager, settings_with(), 0.0).tier == "T0"


GROUNDED = Claim("Bash npm test failed 4 times.", (9,))
LOOSE = Claim("The agent misread the schema.", (9,))


@pytest.mark.parametrize(("acceptance", "needed"), [(0.2, 0.0), (0.5, 0.0), (0.75, 0.5), (0.95, 0.9), (1.0, 1.0)])
def test_stricter_affect_asks_for_more_support(acceptance: float, needed: float) -> None:
    assert support_needed(acceptance) == pytest.approx(needed)


@pytest.mark.parametrize(
    ("claim", "support"),
    [
        (GROUNDED, 1.0),
        (Claim("Tests failing", (9,)), 1.0),
        (Claim("The tests broke 4 times", (9,)), 3 / 4),
        (Claim("The tests failed 5 times", (9,)), 3 / 4),
        (Claim("Bash npm test failed", (3,)), 0.0),
        (LOOSE, 0.0),
        (Claim("It is.", (9,)), 1.0),
    ],
)
def test_support_is_what_the_cited_facts_hold(claim: Claim, support: float) -> None:
    assert support_of(claim, FACTS) == pytest.approx(support)


def test_a_proposal_needs_more_support_the_stricter_affect_is_and_nothing_else_changes(at: Bench) -> None:
    """Below, at and above the support of a sentence; what is asked, paid and kept stays the same."""
    half = Claim("The tests broke over a schema.", (9,))
    said = answer(claims((GROUNDED.words, [9]), (half.words, [9]), ("It was asked to fix it.", [3])))
    found: dict[float, Told] = {}
    with serving(said) as model:
        chosen = settings_with(small=[words(model)])
        for acceptance in (0.2, 0.5, 0.6, 0.7, 0.95):
            modulation = at.frame.affect.modulation._replace(mutation_acceptance=acceptance)
            at.frame = replace(at.frame, affect=replace(at.frame.affect, modulation=modulation))
            found[acceptance] = at.tell(chosen)
        assert len(model.asked) == 1
    assert at.store.read(NOW).requests == 1
    assert {(told.tier, told.who, told.reason) for told in found.values()} == {
        ("T1", "tiny on 127.0.0.1", found[0.5].reason)
    }
    for rest in (0.2, 0.5, 0.6):
        assert half in found[rest].claims and found[rest].left == ()
    for strict in (0.7, 0.95):
        assert found[strict].left == (half,)
        assert found[strict].claims == (GROUNDED, Claim("It was asked to fix it.", (3,)))


def test_where_nothing_is_taken_over_the_template_tells(at: Bench) -> None:
    modulation = at.frame.affect.modulation._replace(mutation_acceptance=0.95)
    at.frame = replace(at.frame, affect=replace(at.frame.affect, modulation=modulation))
    with serving(answer(claims((LOOSE.words, [3])))) as model:
        told = at.tell(settings_with(small=[words(model)]))
    assert told.claims == TEMPLATE and told.left == (LOOSE._replace(events=(3,)),)
    assert any("left out" in line and "schema" in line for line in prose_lines(told))
    assert prose_json(told)["not_taken_over"]


@pytest.mark.parametrize(
    ("preference", "asked", "not_asked"),
    [
        (0.95, ["far", "tiny"], 0),
        (0.5, ["far", "tiny"], 0),
        (0.49, ["tiny", "far"], 0),
        (0.05, ["tiny", "far"], 0),
        (0.0, ["tiny"], 1),
    ],
)
def test_delegation_orders_whom_the_router_asks(at: Bench, preference: float, asked: list[str], not_asked: int) -> None:
    """What is far fails for want of a key, so that every one is tried in turn."""
    modulation = at.frame.affect.modulation._replace(delegation_preference=preference)
    at.frame = replace(at.frame, affect=replace(at.frame.affect, modulation=modulation))
    with serving(status(401)) as model:
        told = at.tell(settings_with(small=["openai far https://models.example/v1", words(model)]))
    assert by_template(told)
    tried = {name: told.reason.index(f"{name} on") for name in ("far", "tiny")}
    assert told.reason.count("affect suspends delegation") == not_asked
    if not not_asked:
        assert sorted(tried, key=tried.__getitem__) == asked
    assert len(model.asked) == 1
