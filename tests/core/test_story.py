"""One story: whatever the mechanisms say, what is told never contradicts itself."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import sample_sessions
from core.agents.registry import make_kit
from core.engine.governor.machine import STATES
from core.engine.mind.cortical import PHASES, SEVERITY, Regime
from core.engine.percept import AGENT_STATES, AgentState
from core.engine.society.engine import RULES, Engine, Facts, Story, make_story
from core.events import MAIN, Event, ToolUse
from core.logs.finder import sessions
from core.logs.session import read_session
from core.settings import Settings
from tests.core.story_check import clashes, contradictions

LOGS = Path(sample_sessions.__file__).parent / "logs"
FINE = Facts("deep_work", True, "progress", "thriving", "IDLE", 0.0, False, False)


def test_no_combination_contradicts_itself() -> None:
    either = (False, True)
    rest: tuple[Any, ...] = (PHASES, STATES, (0.0, 0.39, 0.4), either, either, (0, 1), either)
    for row in product(AGENT_STATES, either, SEVERITY, *rest):
        facts = Facts(*row)
        assert contradictions(make_story(facts), facts) == []


def test_what_goes_well_is_told_as_it_is() -> None:
    assert make_story(FINE) == Story("deep_work", True, "progress", "thriving", "idle")


@pytest.mark.parametrize(("rate", "state"), [(0.399, "deep_work"), (0.4, "exploring")])
def test_deep_work_ends_where_four_in_ten_commands_fail(rate: float, state: str) -> None:
    assert make_story(FINE._replace(failure_rate=rate)).state == state


def test_stuck_is_told_alike_everywhere() -> None:
    stuck = FINE._replace(state="stuck", failures=6)
    assert make_story(stuck) == Story("stuck", False, "turbulence", "strained", "watching")
    assert make_story(stuck._replace(ended=True)).state == "idle"


def test_a_passing_check_ends_stuck_and_crisis() -> None:
    over = make_story(FINE._replace(state="stuck", regime="crisis", failures=3, resolved=True))
    assert (over.state, over.regime) == ("exploring", "turbulence")


def test_no_crisis_outlasts_the_turn() -> None:
    assert make_story(FINE._replace(regime="crisis", failures=3, ended=True)).regime == "turbulence"


@pytest.mark.parametrize("state", ["stuck", "deep_work", "exploring"])
def test_who_ended_its_turn_is_at_rest(state: AgentState) -> None:
    told = make_story(FINE._replace(state=state, ended=True))
    assert (told.state, told.flowing) == ("idle", False)


@pytest.mark.parametrize("regime", ["crisis", "turbulence"])
def test_nothing_thrives_nor_idles_in_trouble(regime: Regime) -> None:
    told = make_story(FINE._replace(regime=regime))
    assert told == Story("exploring", False, regime, "strained", "watching")


@pytest.mark.parametrize(("rate", "phase", "governor"), [(0.399, "thriving", "idle"), (0.4, "strained", "watching")])
def test_nothing_thrives_nor_idles_where_four_in_ten_commands_fail(rate: float, phase: str, governor: str) -> None:
    told = make_story(FINE._replace(failure_rate=rate))
    assert (told.phase, told.governor) == (phase, governor)


@pytest.mark.parametrize(("failures", "regime"), [(0, "calm"), (1, "turbulence")])
def test_a_loop_makes_the_regime_rough_only_with_failures(failures: int, regime: Regime) -> None:
    story = make_story(FINE._replace(loop=True, failures=failures))
    assert (story.regime, story.flowing, story.phase) == (regime, False, "strained")


def test_the_check_finds_each_contradiction() -> None:
    raw = Story("stuck", True, "calm", "thriving", "idle")
    found = contradictions(raw, FINE._replace(state="stuck", regime="calm", failures=1))
    assert len(found) == 4
    assert contradictions(Story("deep_work", False, "crisis", "stable", "watching"), FINE)
    assert contradictions(Story("stuck", False, "crisis", "strained", "watching"), FINE._replace(ended=True))
    assert contradictions(Story("exploring", False, "progress", "strained", "watching"), FINE._replace(loop=True))
    assert contradictions(Story("idle", False, "crisis", "strained", "watching"), FINE._replace(ended=True))
    assert len(RULES) == 11


def test_the_check_finds_what_clashes_with_the_status() -> None:
    engine = Engine(Settings())
    for number in range(4):
        engine.step(ToolUse(at=float(number), program="make", action="shell_exec"))
    frame = engine.frame()
    calls = [ToolUse(at=1.0, program="make", outcome="failure")] * 4
    flowing = replace(frame, story=Story("deep_work", True, "crisis", "strained", "watching"))
    assert clashes("working", frame, calls[:3]) == []
    assert clashes("looping", flowing, []) == ["looping beside deep_work in crisis"]
    assert clashes("done", flowing, []) == ["done in a crisis"]
    assert clashes("working", flowing, calls[:3]) == []
    assert clashes("working", flowing, calls) == ["flow or confidence after four failing commands"]


def _checked(events: list[Event]) -> int:
    engine = Engine(Settings())
    told = 0
    for event in events:
        if event.agent != MAIN:
            continue
        step = engine.step(event)
        story = engine.story(step)
        facts = engine.story_facts(step)
        assert contradictions(story, facts) == [], (event.at, facts)
        told += 1
    if told:
        frame = engine.frame()
        assert (frame.story.state, frame.story.regime) == (story.state, story.regime)
    return told


def test_no_sample_contradicts_itself() -> None:
    kit = make_kit()
    assert sum(_checked(list(read_session(session, kit))) for session in sessions([LOGS], kit)) > 100


def test_no_real_log_contradicts_itself(shared_data: Path) -> None:
    kit = make_kit()
    found = sessions([shared_data / "real_sessions"], kit)
    assert sum(_checked(list(read_session(session, kit))) for session in found) > 1000
