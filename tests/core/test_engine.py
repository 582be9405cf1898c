"""The laws of the engine."""

from __future__ import annotations

import subprocess
import sys

import cbor2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.engine.governor.governor import Verdict
from core.engine.mind.fabric import ThinkingEnded
from core.engine.society.engine import Engine
from core.errors import StateError
from core.events import Event, Prompt, SessionEnd, ToolUse, Turn
from core.settings import Settings
from tests.core.strategies import events

DEFAULT = Settings()


def canonical(engine: Engine) -> bytes:
    return cbor2.dumps(engine.dump(), canonical=True)


def run(stream: list[Event], engine: Engine | None = None) -> Engine:
    engine = engine or Engine(DEFAULT)
    for event in stream:
        engine.step(event)
    return engine


def test_the_work_on_a_prompt_ends_with_the_agents_last_turn_and_is_reported_once() -> None:
    last_turn = Turn(at=20.0, stop="end_turn")
    engine = run([Prompt(at=0.0, characters=9), Turn(at=5.0, stop="tool_use"), last_turn, SessionEnd(at=900.0)])
    endings = [event for _, event in engine.mind.heart.fabric.replay() if type(event) is ThinkingEnded]
    assert [(event.at, event.duration, event.turns) for event in endings] == [(20.0, 20.0, 2)]


def test_work_that_a_prompt_cuts_off_does_not_last_until_the_prompt() -> None:
    engine = run([Prompt(at=0.0, characters=9), Turn(at=5.0, stop="tool_use"), Prompt(at=900.0, characters=9)])
    endings = [event for _, event in engine.mind.heart.fabric.replay() if type(event) is ThinkingEnded]
    assert [(event.at, event.duration, event.turns) for event in endings] == [(900.0, 5.0, 1)]


@settings(max_examples=60)
@given(events(max_size=80))
def test_equal_events_give_equal_bytes(stream: list[Event]) -> None:
    first, second = run(stream), run(stream)
    assert canonical(first) == canonical(second)
    assert first.frame() == second.frame()


@settings(max_examples=60)
@given(events(max_size=80), st.data())
def test_a_loaded_engine_goes_on_as_the_dumped_one(stream: list[Event], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(stream)))
    whole = run(stream[:cut])
    loaded = Engine(DEFAULT)
    loaded.load(cbor2.loads(canonical(whole)))
    assert canonical(loaded) == canonical(whole)
    for event in stream[cut:]:
        assert loaded.step(event) == whole.step(event)
    assert canonical(loaded) == canonical(whole)
    assert loaded.frame() == whole.frame()


@settings(max_examples=40)
@given(events(min_size=1, max_size=60), st.floats(0, 1e6))
def test_watching_changes_nothing(stream: list[Event], later: float) -> None:
    watched, alone = Engine(DEFAULT), Engine(DEFAULT)
    for event in stream:
        watched.step(event)
        watched.frame()
        watched.frame(event.at + later)
        alone.step(event)
    assert canonical(watched) == canonical(alone)


def verdicts(stream: list[Event], extreme: str) -> list[Verdict]:
    """What the governor says while every affect field is held at its floor or its ceiling."""
    engine = Engine(DEFAULT)
    said = []
    for event in stream:
        for field in engine.affect._fields:
            field.magnitude = getattr(field, extreme)
        said.append(engine.step(event).verdict)
    return said


@settings(max_examples=30)
@given(events(max_size=120))
def test_affect_never_moves_the_governor(stream: list[Event]) -> None:
    assert verdicts(stream, "ceiling") == verdicts(stream, "floor")


def test_affect_never_moves_the_governor_through_a_crowded_queue() -> None:
    """Hundreds of anomalies at once, then calm, over and over: queue, habituation and regime all turn."""
    stream: list[Event] = []
    for number in range(2400):
        failing = number // 300 % 2 == 0
        stream.append(
            ToolUse(
                at=1000.0 + number * 0.7,
                action="shell_exec",
                tool="Bash",
                program=f"tool{number * 7 % 90}",
                outcome="failure" if failing else "success",
                exit_code=int(failing),
                call=number + 1,
                result=number + 1,
                size=10,
            )
        )
    assert verdicts(stream, "ceiling") == verdicts(stream, "floor")


def test_bytes_do_not_depend_on_the_hash_seed() -> None:
    code = (
        "import sys, cbor2\nfrom blake3 import blake3\nfrom bench.workload import session\n"
        "from core.engine.society.engine import Engine\nfrom core.settings import Settings\n"
        "engine = Engine(Settings())\n"
        "for event in session(3000): engine.step(event)\n"
        "print(blake3(cbor2.dumps(engine.dump(), canonical=True)).hexdigest())"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1


@pytest.mark.parametrize("version", [Engine.VERSION - 1, Engine.VERSION + 1])
def test_a_dump_of_another_version_is_refused(version: int) -> None:
    state = Engine(Settings()).dump()
    assert state["version"] == Engine.VERSION
    with pytest.raises(StateError, match=f"version {version} does not fit Engine of version {Engine.VERSION}"):
        Engine(Settings()).load({**state, "version": version})
