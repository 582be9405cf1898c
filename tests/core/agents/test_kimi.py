"""Kimi: the logs of Kimi Code, one for each agent, and what the older CLI said to its screen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.agents.kimi import KimiReader, KimiWireReader, session_of
from core.agents.registry import agent_named, make_kit
from core.events import MAIN, AgentEnd, AgentStart, Compaction, Prompt, SessionStart, Turn
from core.logs.discovery import find
from core.logs.finder import sessions
from core.logs.session import read_session as read_session
from tests.core.agents.reading_more import kinds, new_kit, read, uses
from tests.core.agents.samples_recent import (
    BEGAN,
    KIMI,
    KIMI_WIRE,
    kimi,
    kimi_step,
    kimi_usage,
    wire,
    wire_call,
    wire_result,
)

AGENT = agent_named("kimi")


def test_the_story_of_kimi_code() -> None:
    kit = new_kit()
    events = read(KimiReader, KIMI.records(KIMI.entries), kit)
    assert kinds(events) == [
        *("SessionStart", "Prompt", "Turn", "ToolUse", "ToolUse", "AgentStart", "AgentEnd"),
        *("Compaction", "ToolUse"),
    ]
    start, turn = events[0], events[2]
    assert isinstance(start, SessionStart)
    assert (start.project, start.model, start.untold) == ("/home/ada/mill", "kimi-k2.5", ("cost",))
    assert isinstance(turn, Turn)
    assert (turn.input_tokens, turn.output_tokens, turn.cache_read) == (100, 20, 500)
    assert turn.cost is not None
    first = uses(events)[0]
    assert (first.action, first.outcome, first.exit_code) == ("shell_exec", "failure", 2)
    assert first.size == len("boom")
    assert next(event for event in events if isinstance(event, AgentStart)).role == "explore"
    end = next(event for event in events if isinstance(event, AgentEnd))
    assert (end.child, end.outcome, end.duration) == ("agent-0", "success", 5.0)
    compaction = next(event for event in events if isinstance(event, Compaction))
    assert (compaction.trigger, compaction.tokens_before, compaction.tokens_after) == ("manual", 900, 90)
    assert kit.diagnostics.total == 0


def _turns(*records: dict[str, Any]) -> list[int]:
    return [event.input_tokens for event in read(KimiReader, list(records)) if isinstance(event, Turn)]


def test_the_usage_of_a_step_counts_once_in_either_order() -> None:
    end = kimi_step("step.end", 1, uuid="u1", usage=kimi_usage(7))
    record = kimi("usage.record", 1, model="k", usage=kimi_usage(7))
    assert _turns(end, record) == [7]
    assert _turns(record, end) == [7]
    assert _turns(end, record, end, record) == [7, 7]
    assert _turns(end) == [7]
    assert _turns(record) == [7]
    assert _turns(kimi("usage.record", 1, usage={})) == []


def test_what_a_compaction_takes_is_no_answer() -> None:
    """It leaves the agent's turn as it was."""
    records = [
        kimi_step("step.end", 1, uuid="u1", usage=kimi_usage(100), finishReason="end_turn"),
        kimi("full_compaction.begin", 2, source="manual"),
        kimi("usage.record", 3, model="k", usage=kimi_usage(200)),
        kimi("context.apply_compaction", 4),
        kimi("usage.record", 5, model="k", usage=kimi_usage(300)),
    ]
    turns = [event for event in read(KimiReader, records) if isinstance(event, Turn)]
    assert [turn.stop for turn in turns] == ["end_turn", "total", ""]


@pytest.mark.parametrize(
    "over", [kimi("full_compaction.cancel", 3), kimi_step("step.begin", 3)], ids=["cancelled", "torn off"]
)
def test_answers_after_a_compaction_that_came_to_nothing_are_answers(over: dict[str, Any]) -> None:
    records = [
        kimi("full_compaction.begin", 2, source="auto"),
        over,
        kimi("usage.record", 4, model="k", usage=kimi_usage(300)),
    ]
    assert [event.stop for event in read(KimiReader, records) if isinstance(event, Turn)] == [""]


def test_a_refused_call_is_rejected() -> None:
    events = read(
        KimiReader,
        [
            kimi_step("tool.call", 1, toolCallId="c1", name="Bash", args={"command": "rm x"}),
            kimi("permission.record_approval_result", 2, toolCallId="c1", result={"decision": "rejected"}),
            kimi_step("tool.result", 3, toolCallId="c1", result={"output": "no", "isError": True}),
        ],
    )
    assert [use.outcome for use in uses(events)] == ["rejected"]


def test_a_session_of_which_only_settings_were_written_begins() -> None:
    assert kinds(read(KimiReader, KIMI.entries[:2])) == ["SessionStart"]


def _home(tmp_path: Path) -> Path:
    folder = tmp_path / ".kimi-code" / "sessions" / "wd_mill_0123456789ab" / "session_77" / "agents"
    child = [
        {"type": "metadata", "protocol_version": "1.4", "created_at": (BEGAN + 5) * 1000},
        kimi("config.update", 5, profileName="explore"),
        kimi("turn.prompt", 5, input="look", origin={"kind": "user"}),
        kimi_step("tool.call", 6, toolCallId="c1", name="Grep", args={"pattern": "x"}),
        kimi_step("tool.result", 7, toolCallId="c1", result={"output": "No matches found"}),
    ]
    for name, entries in (("main", KIMI.entries), ("agent-0", child)):
        (folder / name).mkdir(parents=True)
        (folder / name / "wire.jsonl").write_text("\n".join(map(json.dumps, entries)) + "\n")
    return folder


def test_sub_agents_are_read_from_their_own_logs(tmp_path: Path) -> None:
    folder = _home(tmp_path)
    kit = make_kit()
    [session] = sessions([folder], kit)
    assert session.id == "77"
    events = list(read_session(session, kit))
    assert [event.agent for event in events if isinstance(event, Prompt)] == [MAIN]
    inner = [use for use in uses(events) if use.agent == "agent-0"]
    assert [(use.action, use.outcome) for use in inner] == [("search", "empty")]
    started = [event for event in events if isinstance(event, AgentStart)]
    assert {event.child for event in started} == {"agent-0"}
    assert events.index(started[0]) < events.index(inner[0])
    assert kit.diagnostics.total == 0


def test_sessions_are_found_where_both_forms_keep_them(tmp_path: Path) -> None:
    _home(tmp_path)
    older = tmp_path / ".kimi" / "sessions" / "0123456789abcdef" / "88" / "wire.jsonl"
    older.parent.mkdir(parents=True)
    older.write_text("\n".join(map(json.dumps, KIMI_WIRE.entries)) + "\n")
    found = find((AGENT,), {}, tmp_path)
    assert sorted((one.session, len(one.paths)) for one in found) == [("77", 2), ("88", 1)]
    [moved] = find((AGENT,), {"KIMI_SHARE_DIR": str(tmp_path / ".kimi")}, tmp_path / "nobody")
    assert moved.session == "88"


@pytest.mark.parametrize(
    ("file", "session"),
    [
        ("/x/session_9/agents/main/wire.jsonl", "9"),
        ("/x/0f/9/wire.jsonl", "9"),
        (r"C:\x\session_9\agents\agent-1\wire.jsonl", "9"),
        ("/x/0f/9/other.jsonl", "log"),
        ("wire.jsonl", "log"),
    ],
)
def test_the_folders_name_the_session(file: str, session: str) -> None:
    assert session_of(file, "log") == session


def test_the_story_of_the_older_form() -> None:
    kit = new_kit()
    events = read(KimiWireReader, KIMI_WIRE.records(KIMI_WIRE.entries), kit)
    assert kinds(events) == [
        *("SessionStart", "Prompt", "ToolUse", "Turn", "AgentStart", "ToolUse", "ToolUse"),
        *("AgentEnd", "Compaction", "ToolUse"),
    ]
    assert [(use.agent, use.action, use.outcome) for use in uses(events)] == [
        (MAIN, "shell_exec", "failure"),
        ("a1", "file_read", "success"),
        (MAIN, "delegation", "success"),
        (MAIN, "other", "success"),
    ]
    turn = events[3]
    assert isinstance(turn, Turn)
    assert (turn.context_tokens, turn.context_window, turn.cost) == (600, 262144, None)
    compaction = next(event for event in events if isinstance(event, Compaction))
    assert compaction.tokens_before == 600
    assert kit.diagnostics.total == 0


def test_a_person_who_stops_the_older_form_interrupts() -> None:
    events = read(KimiWireReader, [wire("TurnBegin", 0, user_input="go"), wire("StepInterrupted", 1)])
    assert [event.interrupt for event in events if isinstance(event, Prompt)] == [False, True]


def test_sub_agents_within_sub_agents() -> None:
    inner = {"type": "ToolCall", "payload": wire_call("c3", "ReadFile", path="a")}
    deeper = {"type": "SubagentEvent", "payload": {"parent_tool_call_id": "c2", "agent_id": "a2", "event": inner}}
    events = read(
        KimiWireReader,
        [
            wire("SubagentEvent", 1, parent_tool_call_id="c1", agent_id="a1", event=deeper),
            wire("ToolResult", 2, **wire_result("c3", "x")),
        ],
    )
    started = [(event.agent, event.child) for event in events if isinstance(event, AgentStart)]
    assert started == [(MAIN, "a1"), ("a1", "a2")]
    assert [use.agent for use in uses(events)] == ["a2"]


def _say(second: float, said: str) -> dict[str, Any]:
    return wire("ContentPart", second, type="text", text=said)


@pytest.mark.parametrize(
    ("then", "told"),
    [
        ([], ["Turn"]),
        ([wire("StepInterrupted", 3)], ["Turn", "Prompt"]),
        ([wire("StatusUpdate", 3, token_usage=None), wire("TurnBegin", 4, user_input="more")], ["Turn", "Prompt"]),
        ([wire("StepBegin", 3), _say(4, "Yes.")], ["Turn", "Turn"]),
        ([wire("StatusUpdate", 3, token_usage={"output": 9}), wire("StepBegin", 4)], ["Turn"]),
    ],
)
def test_words_that_nothing_counts_are_an_answer(then: list[Any], told: list[str]) -> None:
    start = [wire("TurnBegin", 0, user_input="go"), wire("StepBegin", 1), _say(2, "I look."), *then]
    events = read(KimiWireReader, start)
    assert kinds(events)[2:] == told
    assert all(event.said is not None for event in events if isinstance(event, Turn))
