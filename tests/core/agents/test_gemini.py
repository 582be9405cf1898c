"""Gemini CLI: updates in place, one telling of each call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.agents.gemini import GeminiReader, gemini_files
from core.events import AgentEnd, AgentStart, Compaction, Prompt, SessionStart, Turn
from tests.core.agents.reading_more import iso, kinds, new_kit, read, uses
from tests.core.agents.samples_more import GEMINI, GEMINI_HEADER, gemini_answer, gemini_call


def test_a_message_written_again_is_told_once() -> None:
    first = gemini_answer("m1", gemini_call("c1", status="scheduled", at=5))
    again = gemini_answer("m1", gemini_call("c1", status="executing", at=6))
    last = gemini_answer("m1", gemini_call("c1", at=9))
    events = read(GeminiReader, [GEMINI_HEADER, first, again, last, last, {"$set": {"messages": [last]}}])
    assert kinds(events) == ["SessionStart", "Turn", "ToolUse"]
    (use,) = uses(events)
    assert (use.outcome, use.exit_code, use.duration) == ("success", 0, 4.0)


def test_nothing_is_told_of_a_call_before_it_is_over() -> None:
    open_call = gemini_answer("m1", gemini_call("c1", status="awaiting_approval"))
    assert uses(read(GeminiReader, [GEMINI_HEADER, open_call], finish=False)) == []
    (use,) = uses(read(GeminiReader, [GEMINI_HEADER, open_call]))
    assert use.outcome == "pending"


def test_what_is_rewound_stays_told() -> None:
    events = read(GeminiReader, [GEMINI_HEADER, gemini_answer("m1", gemini_call("c1")), {"$rewindTo": "m1"}])
    assert [use.id for use in uses(events)] == ["c1"]


@pytest.mark.parametrize(
    ("call", "outcome"),
    [
        (gemini_call("c", output="Output: boom\nExit Code: 1"), "failure"),
        (gemini_call("c", output="Output: fine\nExit Code: 0"), "success"),
        (gemini_call("c", output="Command: x\nOutput: (empty)\nExit Code: (none)"), "empty"),
        (gemini_call("c", output="Command: x\nOutput: (empty)\nExit Code: 2"), "failure"),
        (gemini_call("c", status="error"), "failure"),
        (gemini_call("c", status="cancelled"), "rejected"),
        (gemini_call("c", "search_file_content", args={"pattern": "x"}, output="No matches found"), "empty"),
    ],
)
def test_outcomes(call: dict[str, Any], outcome: str) -> None:
    (use,) = uses(read(GeminiReader, [GEMINI_HEADER, gemini_answer("m", call)]))
    assert use.outcome == outcome


def test_cached_tokens_are_part_of_the_input() -> None:
    (turn,) = [event for event in read(GeminiReader, [gemini_answer("m1")]) if isinstance(event, Turn)]
    assert (turn.input_tokens, turn.cache_read, turn.output_tokens) == (400, 600, 25)
    assert turn.context_tokens == 1000
    assert turn.context_window == 1_048_576
    assert turn.cost is not None


def test_the_older_document_reads_like_the_log() -> None:
    messages = [
        {"id": "u", "type": "user", "timestamp": iso(1), "content": "Hello"},
        gemini_answer("m1", gemini_call("c1")),
    ]
    document = {**GEMINI_HEADER, "messages": messages}
    from_document = read(GeminiReader, [document])
    from_lines = read(GeminiReader, [GEMINI_HEADER, *messages])
    assert [(type(event), event.at) for event in from_document] == [(type(event), event.at) for event in from_lines]
    assert [event.where.entry for event in from_document if event.where] == [
        "",
        "/messages/0",
        "/messages/1",
        "/messages/1",
    ]


def test_sub_agents_by_their_id_or_their_call() -> None:
    told = gemini_call("c1", "invoke_agent", args={"agent_name": "scout"}, agentId="a1")
    silent = gemini_call("c2", "codebase_investigator", args={})
    events = read(GeminiReader, [GEMINI_HEADER, gemini_answer("m1", told, silent)])
    starts = [event for event in events if isinstance(event, AgentStart)]
    assert [(event.child, event.role) for event in starts] == [("a1", "scout"), ("c2", "codebase_investigator")]
    assert [event.child for event in events if isinstance(event, AgentEnd)] == ["a1", "c2"]


def test_what_the_program_says_to_itself_is_no_prompt() -> None:
    told: list[tuple[str, Any]] = [("1", "Go"), ("2", "System: Please continue."), ("3", [])]
    said = [{"id": name, "type": "user", "timestamp": iso(1), "content": content} for name, content in told]
    events = read(GeminiReader, said)
    assert [event.characters for event in events if isinstance(event, Prompt)] == [2]


def test_compression_and_cancelling() -> None:
    told = "Chat history compressed from 12,000 to 3000 tokens."
    lines = [
        {"id": "1", "type": "info", "timestamp": iso(1), "content": told},
        {"id": "2", "type": "info", "timestamp": iso(2), "content": "Request cancelled."},
    ]
    compaction, stop = read(GeminiReader, lines)
    assert isinstance(compaction, Compaction)
    assert (compaction.tokens_before, compaction.tokens_after) == (12_000, 3000)
    assert isinstance(stop, Prompt)
    assert stop.interrupt


def test_companions_lie_in_a_folder_named_after_the_session(tmp_path: Path) -> None:
    main = tmp_path / "session-1.jsonl"
    main.write_text(json.dumps(GEMINI_HEADER) + "\n")
    assert gemini_files(main) == []
    (tmp_path / "s1").mkdir()
    child = tmp_path / "s1" / "scout.jsonl"
    child.write_text("{}\n")
    assert [(found.agent, found.path) for found in gemini_files(main)] == [("scout", child)]


def test_a_folder_outside_is_never_looked_into(tmp_path: Path) -> None:
    inner = tmp_path / "chats"
    inner.mkdir()
    (tmp_path / "x.jsonl").write_text("{}\n")
    main = inner / "session.jsonl"
    main.write_text(json.dumps({**GEMINI_HEADER, "sessionId": ".."}) + "\n")
    assert gemini_files(main) == []


def test_a_sub_agents_own_log_carries_its_name() -> None:
    events = read(GeminiReader, GEMINI.entries, agent="scout")
    assert {event.agent for event in events} == {"scout"}
    assert isinstance(events[0], SessionStart)
    assert events[0].session == "s1"


def test_counted_faults() -> None:
    kit = new_kit()
    good = {"type": "user", "id": "u", "timestamp": "2026-03-01T10:00:00Z", "content": "go"}
    bad = {"type": "gemini", "timestamp": "never", "tokens": 3, "toolCalls": {"a": 1}}
    read(GeminiReader, [good, bad], kit)
    assert kit.diagnostics.counts == {"no time": 1, "tokens is not an object": 1, "toolCalls is not a list": 1}
