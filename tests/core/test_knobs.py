"""Every knob turned over whole sessions: it changes what it should, and nothing it must not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.workload import session
from core.agents.registry import make_kit
from core.engine.mind.stimulus import Stimulus
from core.engine.response.rules import Learned, learn, share_accepted
from core.engine.society import Society
from core.engine.society.engine import Step
from core.events import MAIN, Event, ToolUse
from core.logs.finder import sessions
from core.logs.session import read_session
from core.settings import Settings
from core.settings.layers import with_value

SAMPLES = Path(__file__).resolve().parents[2] / "sample_sessions" / "logs"


def _samples() -> dict[str, list[Event]]:
    settings = Settings()
    kit = make_kit(settings.ingest)
    found = sessions([str(SAMPLES)], kit, settings.ingest.lines)
    return {one.path.parent.name: list(read_session(one, kit, settings.ingest.lines)) for one in found}


Ran = tuple[Society, list[Step]]


@pytest.fixture(scope="module")
def streams() -> list[list[Event]]:
    return [*_samples().values(), session(1500)]


def run(stream: list[Event], settings: Settings) -> Ran:
    society = Society(settings)
    return society, [society.step(event) for event in stream]


@pytest.fixture(scope="module")
def plain_runs(streams: list[list[Event]]) -> list[Ran]:
    """Every session with the settings as they are; a look at one changes nothing."""
    return [run(stream, Settings()) for stream in streams]


def turned(**values: Any) -> Settings:
    settings = Settings()
    for name, value in values.items():
        settings = with_value(settings, name.replace("__", "."), value)
    return settings


Look = Callable[[Society, list[Step]], object]


def salience(society: Society, steps: list[Step]) -> object:
    return [(item.what, item.score) for item in society.frame(MAIN).mind.salience]


def opinions(society: Society, steps: list[Step]) -> object:
    return society.frame(MAIN).mind.opinion


def dreams(society: Society, steps: list[Step]) -> object:
    return [step.thought.dream for step in steps if step.thought.dream]


def loops(society: Society, steps: list[Step]) -> object:
    return [(step.percept.at, step.reaction.loop) for step in steps if step.reaction.loop]


def recalled(society: Society, steps: list[Step]) -> object:
    return [one.line for one in society.engine(MAIN).mind.recall()]


def governor(society: Society, steps: list[Step]) -> object:
    return [step.verdict for step in steps], society.frame(MAIN).governor


def signals(society: Society, steps: list[Step]) -> object:
    return [step.percept for step in steps]


KNOBS: list[tuple[str, dict[str, Any], Look, tuple[Look, ...]]] = [
    ("trust", {"mind__homeostasis__tool_trust": 0.9}, salience, (governor, signals, loops, dreams)),
    ("tiers", {"mind__homeostasis__tier_bias": 0.9}, opinions, (governor, signals, loops, dreams, salience)),
    (
        "dreams",
        {"mind__homeostasis__dream_mode": "intensive", "mind__sleep__threshold": 12.0},
        dreams,
        (signals, loops),
    ),
    (
        "persistence",
        {"affect__modulation__retries__base": 5.0, "affect__modulation__retries__reach": 0.0},
        loops,
        (governor, signals, salience, dreams),
    ),
    ("recall", {"mind__episodes__top_k": 1}, recalled, (governor, signals, loops, dreams, salience)),
    ("breadth", {"affect__modulation__breadth__base": 8.0}, recalled, (governor, signals, loops, dreams, salience)),
]


@pytest.mark.parametrize(("values", "acts", "still"), [row[1:] for row in KNOBS], ids=[row[0] for row in KNOBS])
def test_a_knob_changes_what_it_should_and_nothing_else(
    streams: list[list[Event]], plain_runs: list[Ran], values: dict[str, Any], acts: Look, still: tuple[Look, ...]
) -> None:
    changed = turned(**values)
    runs = plain_runs
    if "mind__homeostasis__dream_mode" in values:
        runs = [run(stream, turned(mind__sleep__threshold=12.0)) for stream in streams]
    moved = False
    for stream, before in zip(streams, runs, strict=True):
        after = run(stream, changed)
        moved = moved or acts(*before) != acts(*after)
        for look in still:
            assert look(*before) == look(*after), look.__name__
    assert moved, "turning it changed nothing in any session"


def test_tool_trust_weighs_commands_above_looks() -> None:
    settings = turned(mind__homeostasis__tool_trust=0.9)
    heart = Society(settings).engine(MAIN).mind.heart
    assert heart.homeostasis.tool_trust == 0.9
    stimulus = Stimulus("anomaly", "failure", b"p" * 16, 0.4, "failed")
    relevance = {
        action: heart.salience.push(
            stimulus._replace(action=action), 1.0, "calm", 1.0, 1.0, 0.3, heart.homeostasis.tool_trust
        ).relevance
        for action in ("shell_exec", "file_edit", "file_read", "")
    }
    assert relevance["shell_exec"] > relevance["file_edit"] > relevance["file_read"] > relevance[""]
    even = heart.salience.push(stimulus._replace(action="shell_exec"), 1.0, "calm", 1.0, 1.0, 0.3).relevance
    assert even == relevance[""]


@pytest.mark.parametrize(("base", "first"), [(0.0, 5), (2.0, 5), (3.0, 6), (5.0, 8)])
def test_persistence_is_the_number_of_failures_let_pass(base: float, first: int) -> None:
    society = Society(turned(affect__modulation__retries__base=base, affect__modulation__retries__reach=0.0))
    told = [
        number
        for number in range(1, 12)
        if society.step(
            ToolUse(at=10.0 * number, action="shell_exec", program="make", outcome="failure", call=1, shape=1)
        ).reaction.loop
    ]
    assert told[0] == first


@pytest.mark.parametrize(
    ("acceptance", "share"), [(0.2, 1.5), (0.25, 1.5), (0.5, 1.0), (0.75, 0.5), (0.95, 0.1), (1.0, 0.0)]
)
def test_acceptance_is_how_much_of_a_lesson_is_taken_over(acceptance: float, share: float) -> None:
    assert share_accepted(acceptance) == pytest.approx(share)
    settings = Settings().response.learning
    known = Learned(expected={"frustration": 4.0}, stretches=1)
    taken = learn(known, {"frustration": 8}, 3600.0, 1.0, settings, share_accepted(acceptance))
    assert taken.deltas["frustration"] == pytest.approx(-settings.rate * share)
    assert taken.expected["frustration"] == pytest.approx(5.2)
