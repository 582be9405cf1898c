"""The four parts of a dream, each doing its work."""

from __future__ import annotations

import pytest

from core.engine.mind.fabric import Dreamt, SleepDue, SnapshotAsked
from core.engine.mind.mind import Mind
from core.engine.mind.readings import Thought
from core.events import Compaction, Event, Prompt, ToolUse, Turn
from core.settings.mind import MindSettings
from tests.core.engine.mind.percepts import START, percept, shell


def settings(**given: object) -> MindSettings:
    clock = {"theta_shortest": 10, "theta_longest": 10, "delta_every": 50}
    return MindSettings.parse({"clock": clock, "wakeups": {"owner_message": {"on": False}}, **given})


def work(mind: Mind, seconds: float, start: float = 0.0, step: float = 10.0) -> list[Thought]:
    """Read a file every `step` seconds."""
    thoughts = []
    now = start
    while now < start + seconds:
        now += step
        event = ToolUse(at=START + now, action="file_read", tool="Read", targets=("src/a.py",))
        thoughts.append(mind.step(event, percept(START + now, now, elapsed=step)))
    return thoughts


def fill(mind: Mind, tokens: int) -> None:
    turn = Turn(at=START, context_tokens=tokens, context_window=200_000)
    mind.step(turn, percept())


def test_pressure_brings_a_dream_at_the_next_delta_tick_and_not_before() -> None:
    mind = Mind(settings())
    fill(mind, 167_000)
    thoughts = work(mind, 490.0)
    assert all(thought.dream is None for thought in thoughts)
    due = [event for thought in thoughts for event in thought.emitted if isinstance(event, SleepDue)]
    assert [event.at for event in due] == [START + 300.0]
    reading = mind.read().sleep
    assert (reading.pressure, reading.needed, reading.dream_ticks) == (1.0, True, 1)
    (last,) = work(mind, 10.0, start=490.0)
    assert last.dream is not None
    assert last.iframe
    assert last.dream.reason == "pressure"
    assert last.dream.pressure == 1.0
    kinds = [type(event) for event in last.emitted]
    assert Dreamt in kinds
    assert SnapshotAsked in kinds
    assert mind.read().sleep.pressure == 0.0
    assert mind.read().dream_count == 1


def test_no_dream_without_pressure() -> None:
    mind = Mind(settings(sleep={"threshold": 400}))
    assert all(thought.dream is None for thought in work(mind, 1500.0))
    assert mind.read().clock.delta == 3


def test_a_dream_compresses_collects_rebalances_and_asks_for_a_frame() -> None:
    mind = Mind(settings(habituation={"forgetting": 50, "collect_every": 10_000}, salience={"expiry": 7200}))
    fill(mind, 167_000)
    faded = shell(START, "once", "failure")
    mind.step(faded, percept())
    mind.step(Prompt(at=START, characters=10), percept())
    work(mind, 5000.0 - 10.0)
    heart = mind.heart
    before = heart.dreams.count
    (thought,) = work(mind, 10.0, start=4990.0)
    dream = thought.dream
    assert dream is not None
    assert dream.number == before
    assert dream.compressed >= 1
    assert all(not episode.trace for episode in heart.episodes.history)
    assert dream.iframe
    assert dream.words().startswith(f"{dream.compressed} episodes compressed")


def test_garbage_is_really_collected() -> None:
    mind = Mind(settings(habituation={"forgetting": 50, "collect_every": 10_000}))
    mind.step(shell(START, "once", "failure"), percept())
    work(mind, 100.0)
    patterns = mind.read().habituation.patterns
    mind.step(Prompt(at=START + 100, characters=9), percept(START + 100, 100.0))
    assert mind.read().habituation.patterns == patterns + 1
    heart = mind.heart
    heart.now = 9000.0
    heart.clock.advance(9000.0)
    dream = heart.dream("pressure")
    assert dream.expired == 2
    assert dream.forgotten == patterns + 1
    assert (len(heart.salience), len(heart.habituation)) == (0, 0)


def test_baselines_follow_what_is_left() -> None:
    mind = Mind(settings())
    for number in range(6):
        mind.step(shell(START + number, f"program{number}", "failure"), percept(START + number))
    dream = mind.heart.dream("pressure")
    assert dream.rebalanced == 1


@pytest.mark.parametrize("tokens_after", [0, 30_000])
def test_the_agents_own_compaction_is_recorded_and_resets_pressure(tokens_after: int) -> None:
    mind = Mind(settings())
    fill(mind, 150_000)
    work(mind, 200.0)
    assert mind.read().sleep.pressure > 0.5
    compaction: Event = Compaction(at=START + 201, trigger="auto", tokens_before=167_000, tokens_after=tokens_after)
    thought = mind.step(compaction, percept(START + 201, 201.0))
    assert thought.dream is not None
    assert thought.dream.reason == "compaction"
    assert thought.stimulus is not None
    assert thought.stimulus.what == "compaction, 167k tokens"
    sleep = mind.read().sleep
    assert (sleep.pressure, sleep.compactions, sleep.compacted_at) == (0.0, 1, START + 201)
    assert sleep.context == pytest.approx(tokens_after / 167_000)


def test_only_the_last_dreams_are_remembered() -> None:
    mind = Mind(settings(dreams={"kept": 2}))
    for number in range(5):
        mind.step(Compaction(at=START + number), percept(START + number))
    assert [dream.number for dream in mind.read().dreams] == [3, 4]
    assert mind.read().dream_count == 5
