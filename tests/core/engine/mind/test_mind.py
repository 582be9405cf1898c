"""The mind as a whole: its laws, and what one event does."""

from __future__ import annotations

from typing import Any

import cbor2
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.engine.mind.fabric import RegimeChanged, Regulated, Woken
from core.engine.mind.homeostasis import Correction
from core.engine.mind.mind import Mind
from core.engine.mind.readings import Thought
from core.engine.percept import Modulation, Percept
from core.errors import StateError
from core.events import AgentEnd, Event, Prompt, ToolUse, Turn
from core.settings.mind import MindSettings
from tests.core.engine.mind.percepts import START, perceive, percept, shell, working_day
from tests.core.strategies import events

BENT = Modulation(promotion_threshold=0.5, unpromoted_decay=1.7, search_breadth=2.0)


def run(mind: Mind, pairs: list[tuple[Event, Percept]], bend: bool = False) -> list[Thought]:
    return [
        mind.step(event, seen, BENT) if bend and number % 3 == 0 else mind.step(event, seen)
        for number, (event, seen) in enumerate(pairs)
    ]


def through_cbor(state: dict[str, Any]) -> Any:
    return cbor2.loads(cbor2.dumps(state, canonical=True))


def frozen(state: dict[str, Any]) -> bytes:
    return cbor2.dumps(state, canonical=True)


@settings(max_examples=60)
@given(events(max_size=80), st.integers(0, 80))
def test_a_loaded_dump_goes_on_equal_to_the_bit(stream: list[Event], cut: int) -> None:
    pairs = list(perceive(stream))
    cut = min(cut, len(pairs))
    mind = Mind(MindSettings())
    run(mind, pairs[:cut], bend=True)
    dumped = mind.dump()
    kept = frozen(dumped)
    copy = Mind(MindSettings())
    copy.load(through_cbor(dumped))
    assert frozen(copy.dump()) == kept
    assert copy.read() == mind.read()
    assert run(copy, pairs[cut:]) == run(mind, pairs[cut:])
    assert frozen(copy.dump()) == frozen(mind.dump())
    assert frozen(dumped) == kept


@settings(max_examples=25)
@given(events(max_size=40), st.floats(0, 1e6))
def test_reading_changes_nothing(stream: list[Event], later: float) -> None:
    watched, alone = Mind(MindSettings()), Mind(MindSettings())
    for event, seen in perceive(stream):
        before = frozen(watched.dump())
        watched.read()
        watched.read(event.at + later)
        watched.recall()
        assert frozen(watched.dump()) == before
        assert watched.step(event, seen) == alone.step(event, seen)
    assert frozen(watched.dump()) == frozen(alone.dump())


@settings(max_examples=40)
@given(events(max_size=80, backwards=True))
def test_readings_stay_in_their_bounds(stream: list[Event]) -> None:
    mind = Mind(MindSettings())
    for event, seen in perceive(stream):
        thought = mind.step(event, seen)
        assert 0.05 <= thought.novelty <= 1.0
        assert thought.iframe == (thought.dream is not None)
        assert len(thought.rows) <= 2 * 3 + 3
    reading = mind.read(START + 1e9)
    assert 0.0 <= reading.sleep.pressure <= 1.0
    assert 0.0 <= reading.sleep.context <= 1.0
    assert 0.1 <= reading.homeostasis.tool_trust <= 0.9
    assert len(reading.salience) <= 5
    scores = [item.score for item in reading.salience]
    assert scores == sorted(scores, reverse=True)
    msgspec.json.encode(reading)


@settings(max_examples=30)
@given(events(max_size=60), st.lists(st.integers(0, 60), max_size=6))
def test_ticks_do_not_depend_on_how_events_are_batched(stream: list[Event], cuts: list[int]) -> None:
    pairs = list(perceive(stream))
    whole = Mind(MindSettings())
    expected = [thought.ticks for thought in run(whole, pairs)]
    ticks = []
    carried = Mind(MindSettings())
    for begin, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(pairs)], strict=True):
        batch = Mind(MindSettings())
        batch.load(through_cbor(carried.dump()))
        ticks += [thought.ticks for thought in run(batch, pairs[begin:end])]
        carried = batch
    assert ticks == expected


def test_memory_stays_bounded() -> None:
    """After 40,000 events a dump takes less than 200 kB, and is no longer than after 20,000."""

    def novel(number: int, event: Event) -> Event:
        if not isinstance(event, ToolUse):
            return event
        folder = f"folder{number}/x.py"
        outcome = "failure" if number % 4 == 0 else event.outcome
        return msgspec.structs.replace(event, targets=(folder,), tool=f"tool{number % 5000}", outcome=outcome)

    mind = Mind(MindSettings())
    sizes = []
    for number, (event, seen) in enumerate(perceive(map(novel, range(40_000), working_day(40_000)))):
        mind.step(event, seen)
        if number in (19_999, 39_999):
            sizes.append(len(frozen(mind.dump())))
            assert len(mind.heart.salience) <= 64
            assert len(mind.heart.habituation) <= 2048
            assert len(mind.heart.fabric) <= 10_000
            assert len(mind.heart.episodes.history) <= 128
    assert sizes[1] < 200_000
    assert sizes[1] < sizes[0] * 1.1


def test_a_gap_of_weeks_runs_only_the_last_three_ticks_of_each_rhythm() -> None:
    mind = Mind(MindSettings())
    mind.step(Turn(at=START), percept())
    thought = mind.step(Turn(at=START + 2e6), percept(START + 2e6, 2e6))
    assert thought.ticks.gamma == 133_333
    kinds = [row.kind for row in thought.rows]
    assert (kinds.count("gamma"), kinds.count("theta"), kinds.count("delta")) == (3, 3, 1)
    assert mind.read().clock.dropped == thought.ticks.gamma + thought.ticks.theta - 6


def test_a_failing_command_reaches_the_top_with_its_reasons() -> None:
    mind = Mind(MindSettings())
    for number in range(4):
        thought = mind.step(shell(START + number, outcome="failure"), percept(START + number, float(number)))
    assert thought.stimulus is not None
    (item,) = mind.read().salience
    assert (item.kind, item.what, item.times) == ("anomaly", "pytest failed", 4)
    assert item.score == pytest.approx(0.4 * item.novelty + 0.35 * item.relevance + 0.25 * item.urgency)
    later = mind.read(START + 3 + 20.0).salience[0]
    assert later.age == 23.0
    assert later.score < item.score
    assert mind.read(START + 3 + 900.0).salience[0].age == 33.0
    assert mind.read(START + 3 + 900.0, now=100.0).salience[0].age == 100.0
    assert mind.read(START + 3 + 900.0, now=400.0).salience == ()


def test_novelty_wears_off_with_the_calls_pattern() -> None:
    mind = Mind(MindSettings())
    read = ToolUse(at=START, action="file_read", tool="Read", targets=("src/a.py",))
    novelty = [mind.step(read, percept()).novelty for _ in range(12)]
    assert novelty[0] == 1.0
    assert novelty == sorted(novelty, reverse=True)
    assert novelty[-1] < 0.5
    elsewhere = ToolUse(at=START, action="file_read", tool="Read", targets=("docs/a.md",))
    assert mind.step(elsewhere, percept()).novelty == 1.0
    assert mind.step(Turn(at=START), percept()).novelty == 1.0


def test_a_change_of_regime_is_told_and_dishabituates() -> None:
    mind = Mind(MindSettings())
    fail = shell(START, outcome="failure")
    for _ in range(10):
        worn = mind.step(fail, percept()).novelty
    assert worn < 0.6
    thought = mind.step(fail, percept(signal="compound_frustration_seeking"))
    assert (thought.regime, thought.regime_changed, thought.novelty) == ("crisis", True, 1.0)
    assert any(isinstance(event, RegimeChanged) for event in thought.emitted)


def test_a_prompt_wakes_the_mind_unless_a_theta_tick_is_near() -> None:
    mind = Mind(MindSettings())
    mind.step(Turn(at=START), percept())
    woken = mind.step(Prompt(at=START + 5, characters=40), percept(START + 5, 5.0))
    assert woken.wakeup is not None
    assert woken.wakeup.trigger == "owner_message"
    assert woken.ticks.theta == 1
    assert [row.kind for row in woken.rows] == ["wakeup_theta"]
    assert any(isinstance(event, Woken) for event in woken.emitted)
    near = mind.step(Prompt(at=START + 27, characters=40), percept(START + 27, 27.0))
    assert near.wakeup is None
    assert mind.read().deduplicated == 1


def test_a_report_wakes_perception_only() -> None:
    mind = Mind(MindSettings())
    thought = mind.step(AgentEnd(at=START, child="c"), percept())
    assert [row.kind for row in thought.rows] == ["wakeup_gamma"]
    assert thought.ticks == (1, 0, 0)


def test_low_pleasure_makes_sleep_come_sooner() -> None:
    clock = {"theta_shortest": 5, "theta_longest": 5, "gamma_longest": 5}
    mind = Mind(MindSettings.parse({"clock": clock}))
    glad, sad = (0.0, 0.0, 1.0, 0.0, 1.0, 0.0), (1.0, 1.0, 0.0, 0.0, 0.0, 0.0)
    corrections: list[Correction] = []
    for number in range(140):
        at = 5.0 * number
        axes = glad if number < 80 else sad
        thought = mind.step(Turn(at=START + at), percept(START + at, at, axes=axes))
        corrections += thought.corrections
        assert len([e for e in thought.emitted if isinstance(e, Regulated)]) == len(thought.corrections)
    assert [(c.signal, c.knob, c.value) for c in corrections] == [("pleasure", "dream_mode", 1.0)]
    assert mind.read().sleep.intensive
    assert mind.read().sleep.threshold == pytest.approx(21.0)


def test_a_halt_told_by_another_room_draws_attention_with_the_next_event() -> None:
    mind = Mind(MindSettings())
    mind.report("halt")
    copy = Mind(MindSettings())
    copy.load(through_cbor(mind.dump()))
    for each in (mind, copy):
        thought = each.step(Turn(at=START), percept())
        assert thought.stimulus is not None
        assert thought.stimulus.what == "governor halted"


def test_a_dump_that_does_not_fit_is_refused() -> None:
    mind = Mind(MindSettings())
    for wrong in ({}, {"version": 99}, {**mind.dump(), "heart": {}}, {**mind.dump(), "source": (1, 2)}):
        with pytest.raises(StateError):
            Mind(MindSettings()).load(wrong)


def test_a_dump_can_be_taken_up_under_other_settings() -> None:
    mind = Mind(MindSettings())
    pairs = list(perceive(working_day(400)))
    run(mind, pairs[:200])
    other = Mind(MindSettings.parse({"sleep": {"threshold": 10}, "clock": {"theta_longest": 60}}))
    other.load(mind.dump())
    run(other, pairs[200:])
    assert other.read().sleep.threshold == 10.0
    assert other.read().clock.theta_interval <= 60.0


def test_every_tick_has_a_record_and_tick_numbers_rise() -> None:
    mind = Mind(MindSettings(), seed=b"seed")
    rows = [row for thought in run(mind, list(perceive(working_day(600)))) for row in thought.rows]
    assert [row.tick for row in rows] == list(range(1, len(rows) + 1))
    records = [mind.heart.metrics.record(row) for row in rows]
    assert len({record["traceparent"] for record in records}) == len(records)
    assert {record["kind"] for record in records} >= {"gamma", "theta", "wakeup_theta"}


def test_an_agent_that_fails_without_confidence_stops_executing() -> None:
    mind = Mind(MindSettings())

    def executing(at: float, failure_rate: float, events: int, confidence: float, failures: int = 2) -> bool:
        axes = (0.1, 0.1, confidence, 0.1, 0.1, 0.1)
        mind.step(ToolUse(at=at), percept(at, axes=axes, failure_rate=failure_rate, events=events, failures=failures))
        return mind.heart.executing

    assert executing(0.5, 0.5, 6, 0.0, failures=1)
    assert executing(1.0, 0.4, 5, 0.0)
    assert executing(2.0, 0.39, 6, 0.0)
    assert not executing(3.0, 0.4, 6, 0.0)
    assert not executing(4.0, 0.4, 6, 0.1)
    assert executing(5.0, 0.39, 6, 0.0)


def test_the_heartbeat_has_nine_steps_once_a_tick_was_run() -> None:
    mind = Mind(MindSettings())
    assert mind.read().heartbeat == ()
    for number in range(40):
        mind.step(shell(START + 10.0 * number), percept(START + 10.0 * number, 10.0 * number))
    steps = mind.read().heartbeat
    assert [one.step for one in steps] == [
        *("observe", "retrieve", "analyze", "gate", "deliberate", "validate", "act", "verify", "reflect")
    ]
    assert steps[5].did == "executing" and "call" in steps[6].did
