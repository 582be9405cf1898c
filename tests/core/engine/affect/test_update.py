"""The stages of an update, one by one, and the directions the observations push."""

from __future__ import annotations

from math import exp
from typing import Any

import pytest

from core.engine.affect.affect import Affect
from core.engine.affect.lineage import describe_entry
from core.engine.affect.policy import parse_policy
from core.engine.percept import Signal
from core.events import AgentEnd, Event, Prompt, ToolUse, Turn
from core.settings.affect import AffectSettings
from tests.core.engine.affect.stories import START, hammer, percept, shell, values

SETTINGS = AffectSettings()


def under(**parts: Any) -> Affect:
    return Affect(SETTINGS, parse_policy(parts, "test"))


def test_starts_at_rest_and_bends_nothing() -> None:
    reading = Affect(SETTINGS).read()
    assert all(field.magnitude == field.rest for field in reading.fields)
    assert reading.modulation == (0.3, 5.0, 1.0, 1.0, 0.6, 3.0, 0.5, 0.5)
    assert (reading.changes, reading.volatility, reading.quarantined) == (0, 0.0, False)


@pytest.mark.parametrize(
    ("field", "direction"), [("uncertainty_sensitivity", 1), ("risk_sensitivity", 1), ("persistence", -1)]
)
def test_repeated_failure_makes_careful(field: str, direction: int) -> None:
    affect = Affect(SETTINGS)
    rest = values(affect)[field]
    first = hammer(affect, 1, False)[0]
    assert first.entry is None, "one failure is no pattern"
    hammer(affect, 5, False, since=5)
    assert (values(affect)[field] - rest) * direction > 0.03


def test_time_pressure_escalates_and_narrows() -> None:
    affect = Affect(SETTINGS)
    affect.step(Prompt(at=START, characters=5), percept(0.0), 0.0)
    assert affect.lineage.count == 0
    mood = affect.step(Prompt(at=START + 6, characters=5), percept(6.0), 0.0)
    assert mood.strongest == "escalation"
    assert mood.modulation.escalation_threshold < 0.6
    assert mood.modulation.search_breadth < 5.0
    for step in range(4):
        mood = affect.step(Prompt(at=START + 6 + step, characters=5, interrupt=True), percept(6.0 + step), 0.0)
    assert mood.entry is not None
    assert describe_entry(mood.entry).observations == (("pressure", 1.0),)


@pytest.mark.parametrize(
    ("event", "seen"),
    [
        (Turn(at=START, context_tokens=90, context_window=100), (("pressure", 0.5),)),
        (Turn(at=START, context_tokens=79, context_window=100), None),
        (Turn(at=START, context_tokens=79), None),
        (Prompt(at=START, characters=9), None),
        (ToolUse(at=START, action="search", outcome="empty"), (("uncertainty", 0.4),)),
        (ToolUse(at=START, action="search"), None),
        (ToolUse(at=START, action="file_read"), None),
        (ToolUse(at=START, action="shell_exec", purpose="commit"), (("success", 1.0),)),
        (ToolUse(at=START, action="shell_exec"), (("success", 0.3),)),
        (ToolUse(at=START, action="shell_exec", outcome="failure"), None),
        (ToolUse(at=START, action="shell_exec", outcome="pending"), None),
        (ToolUse(at=START, action="file_edit", targets=("a",)), (("success", 0.2),)),
        (AgentEnd(at=START, child="c"), (("success", 0.5),)),
        (AgentEnd(at=START, child="c", outcome="failure"), None),
    ],
)
def test_what_an_event_is_to_affect(event: Event, seen: tuple[tuple[str, float], ...] | None) -> None:
    entry = Affect(SETTINGS).step(event, percept(0.0), 0.0).entry
    found = None if entry is None else describe_entry(entry).observations
    assert (found and [(name, round(strength, 9)) for name, strength in found]) == (seen and list(seen))


def test_shift_and_spike_are_uncertainty() -> None:
    read = ToolUse(at=START, action="file_read")
    shifted = Affect(SETTINGS).step(read, percept(0.0, shifted=True), 0.0)
    spike = Signal("uncertainty_spike", 0.1, True)
    spiked = Affect(SETTINGS).step(read, percept(0.0, shifted=True, signals=(spike,)), 0.0)
    held = Affect(SETTINGS).step(read, percept(0.0, signals=(spike._replace(fresh=False),)), 0.0)
    assert shifted.change == pytest.approx(0.1 * 0.5)
    assert spiked.change == pytest.approx(0.1 * 0.7)
    assert held.entry is None


def test_scattered_edits_compete() -> None:
    affect = Affect(SETTINGS)
    seen = []
    for step, name in enumerate(("a", "b", "a", "c", "c", "d", "e")):
        edit = ToolUse(at=START + step, action="file_edit", targets=(f"{name}.py",))
        entry = affect.step(edit, percept(float(step)), 0.0).entry
        assert entry is not None
        seen.append(dict(describe_entry(entry).observations).get("competing", 0.0))
    assert seen[:5] == [0.0] * 5
    assert seen[5] == pytest.approx(1 / 7)
    assert seen[6] == pytest.approx(2 / 7)
    assert values(affect)["ambiguity_tolerance"] > 0.5
    assert values(affect)["escalation"] < 0.3 + 0.04


def test_novelty_attracts_or_repels_by_what_came_of_it() -> None:
    def after(outcome: str) -> float:
        affect = Affect(SETTINGS)
        for step in range(12):
            call = ToolUse(at=START + step, action="search", outcome=outcome)  # type: ignore[arg-type]
            affect.step(call, percept(float(step)), 0.9)
        return values(affect)["novelty_appetite"]

    assert after("success") > 0.55
    assert after("failure") < 0.45


def test_success_is_clearing_a_streak() -> None:
    affect = Affect(SETTINGS)
    hammer(affect, 4, False)
    affect.step(shell(30, True, ""), percept(30.0), 0.0)
    assert affect.read().failures == 2.0
    affect.step(shell(31, True, "test"), percept(31.0), 0.0)
    assert affect.read().failures == 0.0


def test_value_decays_exponentially_to_rest() -> None:
    affect = Affect(SETTINGS)
    hammer(affect, 10, False)
    for field in affect.read().fields:
        later = {f.name: f for f in affect.read(now=50.0 + 100.0).fields}[field.name]
        expected = field.rest + (field.magnitude - field.rest) * exp(-100.0 / field.time_constant)
        assert later.magnitude == pytest.approx(expected, abs=1e-12)
    assert all(abs(f.magnitude - f.rest) < 1e-6 for f in affect.read(now=1e6).fields)


def test_order_of_the_stages() -> None:
    """A raw 0.2 is limited to 0.1, applied, cut at the ceiling, decayed with the rest, then scaled."""
    affect = under(
        fields={"risk_sensitivity": {"on_failure": 0.2, "rate_limit": 0.1, "ceiling": 0.75, "rest": 0.7}},
        hysteresis={"negative": 0.9},
    )
    affect.step(shell(0, False), percept(0.0, failure_rate=1.0), 0.0)
    entry = affect.step(shell(90, False), percept(90.0, failure_rate=1.0), 0.0).entry
    assert entry is not None
    (change,) = (c for c in describe_entry(entry).changes if c.field == "risk_sensitivity")
    assert change.cuts == ("rate", "ceiling")
    assert change.after == pytest.approx(0.7 + 0.05 * exp(-90 / 900) * 0.9, abs=1e-12)


def test_all_observations_of_one_event_share_one_limit() -> None:
    affect = under(fields={"uncertainty_sensitivity": {"on_failure": 0.1, "on_uncertainty": 0.1, "rate_limit": 0.1}})
    hammer(affect, 1, False)
    mood = affect.step(shell(6, False), percept(6.0, shifted=True, failure_rate=1.0), 0.0)
    assert mood.change <= 0.1
    assert mood.entry is not None
    assert [name for name, _ in describe_entry(mood.entry).observations] == ["failure", "uncertainty"]


def test_bad_news_moves_faster_than_good() -> None:
    same = {"on_failure": 0.05, "on_success": -0.05, "time_constant": 14400}
    affect = under(fields={"risk_sensitivity": same})
    rest = values(affect)["risk_sensitivity"]
    hammer(affect, 6, False)
    up = values(affect)["risk_sensitivity"] - rest
    assert up == pytest.approx(5 * 0.05, rel=0.01)
    hammer(affect, 5, True, since=30)
    down = rest + up - values(affect)["risk_sensitivity"]
    assert down == pytest.approx(5 * 0.05 * SETTINGS.hysteresis.positive, rel=0.02)


def test_refused_trigger_and_authority_are_recorded() -> None:
    by_trigger = under(fields={"risk_sensitivity": {"triggers": ["success"]}})
    by_authority = under(fields={"risk_sensitivity": {"authority": ["parent"]}})
    for affect, cut in ((by_trigger, "trigger"), (by_authority, "authority")):
        entry = hammer(affect, 3, False)[-1].entry
        assert entry is not None
        (change,) = (c for c in describe_entry(entry).changes if c.field == "risk_sensitivity")
        assert (change.cuts, change.before, change.after) == ((cut,), 0.4, 0.4)


def test_swinging_is_damped() -> None:
    swing = {"on_failure": 0.16, "on_success": -0.2, "rate_limit": 0.25, "time_constant": 14400, "slowest": 8}
    fields = {"risk_sensitivity": swing | {"rest": 0.5}}
    loose = under(fields=fields, stability={"damping": 0.0}, hysteresis={"positive": 0.8})
    firm = under(fields=fields, stability={"damping": 0.5}, hysteresis={"positive": 0.8})
    spans = []
    for affect in (loose, firm):
        found = []
        for step in range(60):
            good = step % 5 in (0, 4)
            affect.step(shell(step * 5.0, good), percept(step * 5.0, failure_rate=1.0), 0.0)
            found.append(values(affect)["risk_sensitivity"])
        spans.append(max(found[-12:]) - min(found[-12:]))
    assert spans[1] < spans[0] / 2
    pace = {field.name: field.time_constant for field in firm.read().fields}
    assert pace["risk_sensitivity"] > 2 * 14400
    quiet = ToolUse(at=START, action="file_read")
    for step in range(400):
        firm.step(quiet, percept(300.0 + step * 30.0), 0.0)
    assert firm.read().fields[5].time_constant == pytest.approx(14400, rel=1e-3)


def test_quarantine_has_four_effects_and_ends() -> None:
    affect = under(quarantine={"enter": 0.06})
    moods = [mood for step in range(12) for mood in hammer(affect, 2, step % 2 > 0, since=step * 2.0, every=1.0)]
    entered = [index for index, mood in enumerate(moods) if mood.entered]
    assert len(entered) == 1
    held = affect.read()
    assert held.quarantined and held.quarantines == 1
    assert held.restrictions == (
        "promotion at its maximum",
        "delegation suspended",
        "acceptance raised",
        "extra validation",
    )
    assert held.modulation.promotion_threshold == 0.7
    assert held.modulation.mutation_acceptance == 0.95
    assert held.modulation.delegation_preference == 0.0
    assert affect.show() is None
    assert affect.hand_down("child", 1) is None
    assert affect.report("main") is None
    assert not affect.read(now=400.0).quarantined
    assert affect.quarantined, "reading ahead releases nothing"
    quiet = ToolUse(at=START + 400, action="file_read")
    assert affect.step(quiet, percept(400.0), 0.0).released
    assert affect.read().restrictions == ()


def test_noise_is_bounded_seeded_and_recorded() -> None:
    quiet = under()
    noisy = [under_seed(seed) for seed in (1, 1, 2)]
    hammer(quiet, 8, False)
    for affect in noisy:
        hammer(affect, 8, False)
    assert noisy[0].read() == noisy[1].read()
    assert noisy[0].read().fields != noisy[2].read().fields
    recorded = [change.noise for entry in noisy[0].lineage.entries for change in describe_entry(entry).changes]
    risks = [
        c.noise for e in noisy[0].lineage.entries for c in describe_entry(e).changes if c.field == "risk_sensitivity"
    ]
    assert len(set(risks)) == len(risks) > 5
    assert any(recorded) and all(abs(value) <= 0.02 for value in recorded)
    silent = [change.noise for entry in quiet.lineage.entries for change in describe_entry(entry).changes]
    assert silent and not any(silent)


def under_seed(seed: int) -> Affect:
    return Affect(SETTINGS, parse_policy({"noise": {"amplitude": 0.02}}, "test"), seed)


def test_composition_follows_the_fields() -> None:
    affect = Affect(SETTINGS)
    neutral = affect.read().composition
    hammer(affect, 20, False)
    worn = affect.read().composition
    assert worn.confidence_decay > neutral.confidence_decay == 1.0
    assert worn.confidence_recovery < neutral.confidence_recovery == 1.0
    assert worn.pruning > 1.0 > worn.depth
    assert worn.familiarity > neutral.familiarity == 0.5
