"""One wide record a tick, the same bytes for the same run."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace
from typing import get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.workload import session
from core.engine.mind.metrics import Metrics, TickKind, TickRow, traceparent
from core.events import Event, Outcome, Prompt, ToolUse, Turn
from core.settings import Settings
from core.settings.mind import MetricsSettings
from core.timeline.initial_state import InitialState
from tests.core import strategies

SEED = b"session-1"


def metrics(gamma: bool = True, seed: bytes = SEED) -> Metrics:
    return Metrics(MetricsSettings(gamma=gamma), seed, "main")


def strike(of: Metrics, tick: int, kind: TickKind = "gamma", accuracy: float = 0.5) -> TickRow | None:
    return of.tick(
        tick,
        kind,
        1000.0 + tick,
        tier="T2",
        tokens_budget=160_000,
        accuracy=accuracy,
        budget_used=0.25,
        regime="progress",
        sleep_pressure=0.4,
        reflected=3,
    )


def memory(outcome: Outcome) -> ToolUse:
    return ToolUse(at=14.0, action="memory_read", outcome=outcome, duration=0.5)


def test_a_record_holds_what_happened_since_the_last() -> None:
    one = metrics()
    strike(one, 1, accuracy=0.5)
    one.update(Prompt(at=10.0, characters=3))
    one.update(Turn(at=13.0, cost=0.25, context_tokens=5000))
    one.update(Turn(at=14.0, cost=None, context_tokens=6000))
    one.update(memory("success"))
    one.update(memory("empty"))
    one.update(memory("rejected"))
    one.retrieved(7, 2)
    one.retrieved(8, 0)
    row = strike(one, 2, "theta", accuracy=0.75)
    assert row is not None
    record = SimpleNamespace(**one.record(row))
    assert (record.tick, record.kind, record.wall_time) == (2, "theta", 1002.0)
    assert (record.predict_work, record.appraise_work, record.gate_work) == (2, 6, 2)
    assert (record.retrieve_work, record.reflect_work) == (15, 3)
    assert (record.deliberate_seconds, record.act_seconds) == (4.0, 1.5)
    assert (record.cost, record.unpriced_turns, record.tier) == (0.25, 1, "T2")
    assert (record.tokens_used, record.tokens_budget) == (6000, 160_000)
    assert record.accuracy_change == pytest.approx(0.25)
    assert (record.budget_used, record.regime, record.sleep_pressure) == (0.25, "progress", 0.4)
    assert (record.actions, record.memory_hits, record.memory_misses) == (3, 1, 1)
    after = strike(one, 3)
    assert after is not None
    assert (after.actions, after.cost, after.appraise_work, after.tokens_used) == (0, 0.0, 0, 6000)


def call(began: float, ended: float) -> ToolUse:
    return ToolUse(at=ended, duration=ended - began)


@pytest.mark.parametrize(
    ("events", "thought", "began"),
    [
        ((Prompt(at=10.0, characters=1), Turn(at=13.0), call(13.0, 20.0)), 3.0, 10.0),
        ((Prompt(at=10.0, characters=1), call(13.0, 20.0), Turn(at=13.0)), 3.0, 10.0),
        ((Prompt(at=10.0, characters=1), call(13.0, 20.0), call(13.5, 19.0), Turn(at=13.5)), 3.0, 10.0),
        ((Prompt(at=10.0, characters=1), call(13.0, 14.0), call(16.0, 20.0), Turn(at=16.0)), 5.0, 10.0),
        ((Prompt(at=10.0, characters=1), call(13.0, 20.0), Turn(at=13.0), call(26.0, 30.0), Turn(at=26.0)), 9.0, 20.0),
        ((call(1.0, 5.0), Prompt(at=10.0, characters=1), Turn(at=4.0)), 0.0, 4.0),
        ((Prompt(at=10.0, characters=1), ToolUse(at=20.0), Turn(at=13.0)), 0.0, 13.0),
    ],
    ids=["in order", "result first", "two at once", "one by one", "two answers", "old turn", "no duration"],
)
def test_thinking_is_timed_though_a_turn_comes_after_its_results(
    events: tuple[Event, ...], thought: float, began: float
) -> None:
    one, starts = metrics(), []
    for event in events:
        if isinstance(event, Turn):
            starts.append(one.turn(event))
        else:
            one.update(event)
    row = strike(one, 1)
    assert row is not None
    assert (row.deliberate_seconds, starts[-1]) == (thought, began)


def test_retrieval_is_the_minds_own_and_not_the_agents() -> None:
    """A step that recalls is counted; a look from outside changes nothing, and so do an agent's searches."""
    society, work, asked = InitialState().society(Settings()), 0, 0
    for event in session(900):
        mind = society.engine(event.agent).mind
        before = mind.heart.metrics.dump()
        mind.recall()
        assert mind.heart.metrics.dump() == before
        step = society.step(event)
        work += sum(row.retrieve_work for row in step.thought.rows)
        asked += sum(row.memory_hits + row.memory_misses for row in step.thought.rows)
    looked = [one for one in session(900) if isinstance(one, ToolUse) and one.action in ("file_read", "search")]
    assert looked and asked < len(looked)
    assert 0 < asked <= work


def test_a_record_is_one_json_line_with_every_field() -> None:
    one = metrics()
    row = strike(one, 1)
    assert row is not None
    written = msgspec.json.encode(one.record(row)) + b"\n"
    assert written.endswith(b"\n") and written.count(b"\n") == 1
    fields = json.loads(written)
    assert fields == one.record(row)
    assert set(TickRow._fields) - {"trace", "at"} < set(fields)


def test_the_traceparent_has_its_form_and_a_trace_lasts_one_theta_tick() -> None:
    one = metrics()
    kinds: list[TickKind] = ["gamma", "theta", "gamma", "gamma", "wakeup_theta", "gamma", "delta"]
    rows = [strike(one, number, kind) for number, kind in enumerate(kinds)]
    parents = [one.record(row)["traceparent"] for row in rows if row is not None]
    assert all(re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-01", parent) for parent in parents)
    traces = [parent.split("-")[1] for parent in parents]
    assert traces[1] == traces[2] == traces[3]
    assert traces[4] == traces[5] == traces[6]
    assert len({traces[0], traces[1], traces[4]}) == 3
    assert len({parent.split("-")[2] for parent in parents}) == len(kinds)


def test_traces_differ_by_session_and_agree_by_run() -> None:
    assert traceparent(SEED, 3, 9) == traceparent(SEED, 3, 9)
    assert traceparent(SEED, 3, 9) != traceparent(b"session-2", 3, 9)


def test_without_gamma_records_what_they_gathered_waits() -> None:
    one = metrics(gamma=False)
    one.update(memory("success"))
    assert strike(one, 1) is None
    assert strike(one, 2, "wakeup_gamma") is None
    one.update(memory("success"))
    row = strike(one, 3, "theta")
    assert row is not None and row.actions == 2
    assert strike(one, 4, "delta") is not None


@given(strategies.events(max_size=40), st.integers(0, 40), st.booleans())
@settings(max_examples=40)
def test_loaded_metrics_write_the_same_bytes(events: list[Event], cut: int, gamma: bool) -> None:
    def run(of: Metrics, part: list[tuple[int, Event]]) -> bytes:
        written = b""
        for number, event in part:
            of.update(event)
            row = strike(of, number, get_args(TickKind)[number % 5], accuracy=0.01 * number)
            if row is not None:
                written += msgspec.json.encode(of.record(row)) + b"\n"
        return written

    stream = list(enumerate(events))
    one, other, whole = metrics(gamma), metrics(gamma), metrics(gamma)
    first = run(one, stream[:cut])
    state = one.dump()
    other.load([*state[:-1], None if state[-1] is None else list(state[-1])])
    assert other.last == one.last
    rest = run(one, stream[cut:])
    assert run(other, stream[cut:]) == rest
    assert run(whole, stream) == first + rest
    assert one.dump() == other.dump() == whole.dump()
