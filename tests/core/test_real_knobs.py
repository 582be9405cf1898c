"""Every modulation, knob and field turned over real sessions: what it should change does, no more."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from core.agents.registry import make_kit
from core.engine.percept import NEUTRAL
from core.engine.society import Society
from core.engine.society.engine import Step
from core.events import MAIN, Event, ToolUse
from core.logs.finder import sessions
from core.logs.session import read_session
from core.settings import Settings
from core.settings.layers import with_value

REAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "real_sessions"
NAMED = ("pi/large-session.jsonl", "claude-code/8463c716-a2ea-4c14-9efa-87158ebd9f20.jsonl", "crush")
MOST = 420
pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="the real sessions are not here")

Ran = tuple[Society, list[Step]]
Look = Callable[[Society, list[Step]], object]


@cache
def streams() -> tuple[tuple[Event, ...], ...]:
    settings = Settings()
    kit = make_kit(settings.ingest)
    found = sessions([str(REAL / name) for name in NAMED], kit, settings.ingest.lines)
    return tuple(tuple(read_session(one, kit, settings.ingest.lines))[:MOST] for one in found)


@cache
def plain_runs(threshold: float | None = None) -> tuple[Ran, ...]:
    settings = Settings() if threshold is None else with_value(Settings(), "mind.sleep.threshold", threshold)
    return tuple(run(stream, settings) for stream in streams())


def run(stream: tuple[Event, ...], settings: Settings) -> Ran:
    society = Society(settings)
    return society, [society.step(event) for event in stream]


def turned(values: dict[str, Any]) -> Settings:
    settings = Settings()
    for name, value in values.items():
        settings = with_value(settings, name, value)
    return settings


def verdicts(society: Society, steps: list[Step]) -> object:
    return [step.verdict for step in steps], society.engine(MAIN).governor.read()


def signals(society: Society, steps: list[Step]) -> object:
    return [step.percept for step in steps]


def permits(society: Society, steps: list[Step]) -> object:
    heart = society.engine(MAIN).mind.heart
    return heart.homeostasis.tool_trust, heart.vitality.economic, society.engine(MAIN).governor.read().halt


def salience(society: Society, steps: list[Step]) -> object:
    return [(item.what, round(item.score, 9), item.promoted) for item in society.frame(MAIN).mind.salience]


def faded(society: Society, steps: list[Step]) -> object:
    items = society.engine(MAIN).mind.heart.salience.ranked(society.engine(MAIN).mind.heart.now)
    return [round(score, 9) for score, *_ in items]


def promoted(society: Society, steps: list[Step]) -> object:
    fabric = society.engine(MAIN).mind.heart.fabric
    return [event for _, event in fabric.replay() if type(event).__name__ == "ItemPromoted"]


def deserved(society: Society, steps: list[Step]) -> object:
    return society.frame(MAIN).mind.opinion


def dreams(society: Society, steps: list[Step]) -> object:
    return [step.thought.dream for step in steps if step.thought.dream]


def recalled(society: Society, steps: list[Step]) -> object:
    return society.frame(MAIN).mind.recalled


def asked(society: Society, steps: list[Step]) -> object:
    return society.frame(MAIN).response.asks_at


def ways(society: Society, steps: list[Step]) -> object:
    return [way.score for way in society.frame(MAIN).response.delegates]


def modulation(society: Society, steps: list[Step]) -> object:
    return society.engine(MAIN).affect.modulation


def confidence(society: Society, steps: list[Step]) -> object:
    return society.engine(MAIN).mind.heart.confidence


GUARDED: tuple[Look, ...] = (verdicts, signals)
"""No affect, knob or field may reach the governor's verdicts or the sensor."""

KNOBS: dict[str, tuple[dict[str, Any], Look, tuple[Look, ...]]] = {
    "tool trust": ({"mind.homeostasis.tool_trust": 0.9}, salience, (*GUARDED, dreams, recalled)),
    "tool trust, permits": ({"mind.homeostasis.tool_trust": 0.9}, permits, GUARDED),
    "tier bias": ({"mind.homeostasis.tier_bias": 0.9}, deserved, (*GUARDED, dreams, salience, permits)),
    "promotion": (
        {"affect.modulation.promotion.base": 0.9, "affect.modulation.promotion.high": 0.95},
        promoted,
        (*GUARDED, dreams, permits),
    ),
    "breadth": ({"affect.modulation.breadth.base": 1.0}, recalled, (*GUARDED, permits, dreams, salience)),
    "fading": ({"affect.modulation.fading.base": 3.0}, faded, (*GUARDED, permits, dreams)),
    "escalation": ({"affect.modulation.escalation.base": 0.9}, asked, (*GUARDED, permits, salience)),
    "delegation": ({"affect.modulation.delegation.base": 0.9}, ways, (*GUARDED, permits, salience, dreams)),
    "acceptance": ({"affect.modulation.acceptance.base": 0.9}, modulation, (*GUARDED, permits, salience)),
    "branches": ({"affect.modulation.branches.base": 2.0}, modulation, (*GUARDED, permits, salience)),
    "retries": ({"affect.modulation.retries.base": 6.0}, modulation, (*GUARDED, permits, salience)),
    "composition": ({"affect.modulation.composition": 0.0}, confidence, (*GUARDED, permits, salience, dreams)),
    "confidence pace": ({"mind.tiers.confidence_pace": 0.05}, deserved, (*GUARDED, permits, salience)),
}
FIELDS = {
    "uncertainty_sensitivity": "on_failure",
    "ambiguity_tolerance": "on_success",
    "novelty_appetite": "on_novelty",
    "persistence": "on_success",
    "escalation": "on_success",
    "risk_sensitivity": "on_failure",
    "cooperation": "on_success",
}


@pytest.mark.parametrize("name", KNOBS)
def test_a_knob_changes_what_it_should_and_nothing_it_must_not(name: str) -> None:
    values, acts, still = KNOBS[name]
    settings = turned(values)
    moved = False
    for stream, before in zip(streams(), plain_runs(), strict=True):
        after = run(stream, settings)
        moved = moved or acts(*before) != acts(*after)
        for look in still:
            assert look(*before) == look(*after), look.__name__
    assert moved, "turning it changed nothing in any real session"


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_bends_the_mind_and_neither_governor_nor_sensor(field: str) -> None:
    settings = turned({f"affect.fields.{field}.{FIELDS[field]}": 0.2})
    moved = False
    for stream, before in zip(streams(), plain_runs(), strict=True):
        after = run(stream, settings)
        moved = moved or modulation(*before) != modulation(*after)
        assert verdicts(*before) == verdicts(*after) and signals(*before) == signals(*after)
        assert permits(*before) == permits(*after)
    assert moved


FAILING = tuple(
    ToolUse(
        at=40.0 * place,
        tool="Bash",
        action="shell_exec",
        purpose="test",
        outcome="success" if place < 200 else "failure",
        call=place,
        result=place,
    )
    for place in range(1, 500)
)
"""A good stretch, then failures for hours: pleasure stays low for as long as its rule asks."""


def test_low_pleasure_brings_dreams_when_everything_fails_for_hours() -> None:
    on, off = (
        turned({"mind.sleep.threshold": 12.0}),
        turned({"mind.homeostasis.pleasure.on": False, "mind.sleep.threshold": 12.0}),
    )
    assert dreams(*run(FAILING, on)) != dreams(*run(FAILING, off))
    knobs = [each.knob for step in run(FAILING, on)[1] for each in step.thought.corrections]
    assert "dream_mode" in knobs


def test_every_target_moves_of_itself_in_a_real_session() -> None:
    moved = {
        name
        for _, steps in plain_runs()
        for step in steps
        for name, value in step.mood.modulation._asdict().items()
        if abs(value - getattr(NEUTRAL, name)) > 1e-3
    }
    assert moved == set(NEUTRAL._fields)


@pytest.mark.parametrize("knob", ["tool_trust", "tier_bias"])
def test_each_rule_of_homeostasis_turns_its_knob_in_a_real_session(knob: str) -> None:
    turns = [correction.knob for _, steps in plain_runs() for step in steps for correction in step.thought.corrections]
    assert knob in turns
