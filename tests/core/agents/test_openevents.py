"""Our open event format: nothing lost on the way out and back, and kind to lines written by hand."""

from __future__ import annotations

import json
from typing import Any, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.agents.open_events import OpenEventsReader, write
from core.events import (
    ACTIONS,
    EVENT_KINDS,
    MAIN,
    MATTERS,
    OUTCOMES,
    PURPOSES,
    AgentStart,
    Event,
    SessionStart,
    ToolUse,
    Turn,
    Where,
)
from tests.core.agents.reading_more import Log, kinds, new_kit, read, uses
from tests.core.agents.samples_more import LOGS

_PRINT = st.integers(0, 2**64 - 1)
_COUNT = st.integers(0, 2**53)
_TIME = st.floats(0, 4e9, allow_nan=False)
_PLACE = st.builds(Where, file=st.text(max_size=9), offset=_COUNT, length=_COUNT, entry=st.text(max_size=9))


def _field(name: str, hint: Any) -> st.SearchStrategy[Any]:
    named: dict[str, st.SearchStrategy[Any]] = {
        **dict.fromkeys(("call", "shape", "result", "before", "after"), _PRINT),
        "at": _TIME,
        "where": st.none() | _PLACE,
        "called": st.none() | _PLACE,
        "said": st.none() | _PLACE,
        "kept": st.none() | _PLACE,
        "action": st.sampled_from(ACTIONS),
        "outcome": st.sampled_from(OUTCOMES),
        "purpose": st.sampled_from(PURPOSES),
        "targets": st.lists(st.text(max_size=9), max_size=3).map(tuple),
        "untold": st.lists(st.sampled_from(MATTERS), max_size=3).map(tuple),
        "exit_code": st.none() | st.integers(-255, 255),
    }
    if name in named:
        return named[name]
    if hint is str:
        return st.text(max_size=9)
    if hint is bool:
        return st.booleans()
    if hint is int:
        return _COUNT
    return st.none() | _TIME


def _events(kind: type[Event]) -> st.SearchStrategy[Event]:
    hints = get_type_hints(kind)
    drawn: dict[str, st.SearchStrategy[Any]] = {name: _field(name, hints[name]) for name in kind.__struct_fields__}
    return st.builds(kind, **drawn)


@pytest.mark.parametrize("kind", EVENT_KINDS, ids=lambda kind: str(kind.__name__))
@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_every_event_comes_back_as_it_was(kind: type[Event], data: st.DataObject) -> None:
    event = data.draw(_events(kind))
    kit = new_kit()
    assert read(OpenEventsReader, [write(event, "s1")], kit) == [event]
    assert kit.diagnostics.total == 0


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
def test_a_whole_log_comes_back_as_it_was(log: Log) -> None:
    events = read(log.reader, log.records(log.entries))
    written = [write(event, "s1") for event in events]
    assert read(OpenEventsReader, [*written]) == events
    assert all(b"\n" not in line for line in written)


def test_fields_at_their_default_are_left_out_and_fingerprints_are_text() -> None:
    use = ToolUse(at=5.0, tool="bash", action="shell_exec", call=255, where=Where("f", 1, 2))
    assert json.loads(write(use, "s1")) == {
        "kind": "tool_use",
        "at": 5.0,
        "session": "s1",
        "tool": "bash",
        "action": "shell_exec",
        "call": "00000000000000ff",
        "where": {"file": "f", "offset": 1, "length": 2},
    }
    start = SessionStart(at=5.0, session="own", tool="mill")
    assert json.loads(write(start, "s1"))["session"] == "own"


def test_a_line_by_hand() -> None:
    line = {
        "at": "2026-03-01T10:00:00Z",
        "session": "s1",
        "tool": "bash",
        "target": ["a.py", "b.py"],
        "exit_code": 2,
        "duration": 1.5,
    }
    start, use = read(OpenEventsReader, [line])
    assert isinstance(start, SessionStart)
    assert (start.session, start.tool, start.at) == ("s1", "nooscope", 1772359200.0)
    assert isinstance(use, ToolUse)
    assert (use.action, use.targets, use.outcome) == ("shell_exec", ("a.py", "b.py"), "failure")
    assert (use.exit_code, use.duration, use.at) == (2, 1.5, 1772359200.0)


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_an_outcome_is_taken_at_its_word(outcome: str) -> None:
    line = {"at": 5, "session": "s", "tool": "grep", "outcome": outcome}
    assert uses(read(OpenEventsReader, [line]))[0].outcome == outcome


def test_an_action_of_ours_wins_over_the_name() -> None:
    told = [{"at": 5, "session": "s", "tool": "grep", "action": action} for action in ACTIONS]
    assert [use.action for use in uses(read(OpenEventsReader, told))] == list(ACTIONS)


def test_a_line_without_an_outcome_is_a_success() -> None:
    line = {"at": 5, "session": "s", "action": "search"}
    assert uses(read(OpenEventsReader, [line]))[0].outcome == "success"


def test_tokens_make_a_turn() -> None:
    lines = [
        {
            "at": 5,
            "session": "s",
            "tool": "bash",
            "model": "gpt-5",
            "tokens": {"input": 5, "output": 6, "cache_read": 7},
        },
        {"at": 6, "session": "s", "tool": "bash", "tokens": 900, "context_tokens": 5000, "context_window": 8000},
    ]
    turns = [event for event in read(OpenEventsReader, lines) if isinstance(event, Turn)]
    assert [(turn.input_tokens, turn.output_tokens, turn.context_tokens) for turn in turns] == [
        (5, 6, 12),
        (900, 0, 5000),
    ]
    assert turns[1].context_window == 8000


def test_agents_and_sessions_by_hand() -> None:
    lines: list[dict[str, Any]] = [
        {"at": 5, "session": "a", "tool": "bash"},
        {"at": 6, "session": "a", "tool": "bash", "agent": "sub", "parent": MAIN},
        {"at": 7, "session": "a", "tool": "bash", "agent": "deep", "parent": "sub"},
        {"at": 8, "session": "b", "tool": "bash"},
    ]
    events = read(OpenEventsReader, lines)
    assert kinds(events) == [
        *("SessionStart", "ToolUse", "AgentStart", "ToolUse", "AgentStart", "ToolUse", "SessionStart", "ToolUse")
    ]
    starts = [event for event in events if isinstance(event, AgentStart)]
    assert [(event.agent, event.child) for event in starts] == [(MAIN, "sub"), ("sub", "deep")]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"session": "s", "tool": "bash"}, "no time"),
        ({"at": True, "session": "s", "tool": "bash"}, "no time"),
        ({"at": 5, "session": "s"}, "neither tool nor action"),
        ({"at": 5, "session": "s", "tool": "zork"}, "unknown tool without a known action"),
        ({"at": 5, "session": "s", "tool": "bash", "outcome": "fine"}, "unknown outcome"),
        ({"kind": "dream", "at": 5}, "event of an unknown kind"),
        ({"kind": "prompt", "at": 5}, "event without characters"),
        ({"kind": "agent_start", "at": 5, "agent": "main"}, "event without child"),
        ({"kind": "prompt", "at": 5, "characters": "many"}, "event with a wrong field: $.characters"),
        ({"kind": "prompt", "at": 5, "characters": 1, "call": "zz"}, "event with a wrong field: a fingerprint"),
    ],
)
def test_counted_faults(line: dict[str, Any], reason: str) -> None:
    kit = new_kit()
    read(OpenEventsReader, [line], kit)
    assert kit.diagnostics.counts == {reason: 1}


def test_what_is_held_is_shown_until_it_ends_or_is_told_again() -> None:
    reader = OpenEventsReader(new_kit(), session="s")
    waits = {"kind": "tool_use", "at": 5.0, "id": "a", "tool": "Edit", "outcome": "pending"}
    other = waits | {"id": "b"}

    def feed(told: dict[str, Any]) -> list[Event]:
        return reader.feed(json.dumps(told).encode(), Where("x"), 1)

    def held() -> list[str]:
        return [event.id for event in reader.pending_events() if isinstance(event, ToolUse)]

    assert feed({"kind": "held", "at": 5.0, "session": "s", "events": [waits, other]}) == []
    assert held() == ["a", "b"]
    assert len(feed(waits | {"outcome": "success", "session": "s"})) == 1
    assert held() == ["b"]
    assert [event.id for event in reader.finish() if isinstance(event, ToolUse)] == ["b"]
    feed({"kind": "held", "at": 6.0, "session": "s", "events": []})
    assert held() == []
    feed({"kind": "held", "at": 6.0, "session": "s", "events": [{"kind": "nothing"}, 7, None]})
    assert held() == [] and reader.kit.diagnostics.total == 3
