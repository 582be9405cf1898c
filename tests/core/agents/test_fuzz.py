"""No line, however broken, stops the readers of Claude Code and Codex or costs more than what is broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.agents.claude_code.reader import ClaudeCode
from core.agents.codex.reader import Codex
from core.agents.registry import AGENTS
from core.events import ToolUse
from core.logs.format import Reader, Sample
from tests.core.agents.broken_values import JUNK, changed, check_events, places_in
from tests.core.agents.samples import (
    answers,
    asks,
    claude,
    codex,
    codex_call,
    codex_meta,
    codex_output,
    codex_tokens,
    encoded,
    feed,
    new_kit,
    says,
    stamp,
    uses,
)

_CLAUDE: list[Any] = [
    says(0, "hello"),
    asks(1, "a", "Bash", {"command": "make"}),
    answers(2, "a", "Exit code 1\nno", error=True, toolUseResult="Error"),
    asks(3, "b", "Grep", {"pattern": "x", "path": "/home/me/app"}),
    answers(4, "b", [{"type": "text", "text": "a.py"}], toolUseResult={"mode": "content", "numFiles": 1}),
    asks(5, "t", "Task", {"prompt": "look", "subagent_type": "x"}),
    says(6, "look", isSidechain=True, uuid="side0"),
    asks(7, "s", "Read", {"file_path": "a.py"}, isSidechain=True, parentUuid="side0", uuid="side1"),
    answers(8, "s", "text", isSidechain=True, parentUuid="side1", uuid="side2"),
    claude("progress", 8, data={"type": "agent_progress", "agentId": "kid"}, parentToolUseID="t"),
    answers(9, "t", "done", toolUseResult={"agentId": "kid", "totalTokens": 5, "totalDurationMs": 7}),
    claude("system", 10, subtype="compact_boundary", compactMetadata={"trigger": "auto", "preTokens": 9}),
    says(11, "summary", isCompactSummary=True),
    claude("attachment", 12, attachment={"type": "queued_command", "prompt": "go on"}),
    {"type": "queue-operation", "timestamp": stamp(13), "content": "<task-notification><task-id>kid</task-id>"},
    asks(14, "e", "MultiEdit", {"file_path": "a.py", "edits": [{"old_string": "x", "new_string": "y"}]}),
    answers(15, "e", "ok"),
]
_CODEX: list[Any] = [
    codex_meta(0, git={"branch": "main"}, source={"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}),
    codex("turn_context", 1, model="gpt-5", turn_id="x", cwd="/home/me/app"),
    codex("event_msg", 1, type="user_message", message="hello"),
    codex_call(2, "a", "shell", {"command": ["bash", "-lc", "make"]}),
    codex("event_msg", 3, type="exec_command_end", call_id="a", exit_code=1, duration={"secs": 1, "nanos": 2}),
    codex_output(3, "a", json.dumps({"output": "x", "metadata": {"exit_code": 1, "duration_seconds": 0.1}})),
    codex_tokens(4, 100, 50, 10, last_token_usage={"input_tokens": 90}, model_context_window=1000),
    codex_call(5, "b", "exec_command", {"cmd": "pytest"}),
    codex_output(6, "b", "Process running with session ID 5\nOutput:\n"),
    codex_call(7, "c", "write_stdin", {"session_id": 5, "chars": ""}),
    codex_output(8, "c", [{"type": "input_text", "text": "Exit code: 0\nOutput:\nok"}]),
    codex("response_item", 9, type="custom_tool_call", name="exec", input="tools.apply_patch('x')", call_id="d"),
    codex("event_msg", 9, type="patch_apply_end", call_id="d", success=True),
    codex("response_item", 10, type="custom_tool_call_output", call_id="d", output="Script completed"),
    codex("response_item", 11, type="web_search_call", id="ws", status="completed", action={"query": "x"}),
    codex("response_item", 11, type="local_shell_call", call_id="l", action={"command": ["ls"]}),
    codex_call(12, "s", "spawn_agent", {"message": "x"}),
    codex_output(13, "s", '{"agent_id":"kid"}'),
    codex_call(14, "w", "wait_agent", {"ids": ["kid"]}),
    codex_output(15, "w", '{"status":{"kid":{"completed":"x"}}}'),
    codex("compacted", 16, message="x"),
    codex("event_msg", 17, type="turn_aborted", reason="interrupted"),
    {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "bare"},
    {"record_type": "state"},
]
_CLAUDE_TAIL = [
    asks(40, "the-last-call", "Bash", {"command": "tailtool"}, message="the-last-message"),
    answers(41, "the-last-call", "fine"),
]
_CODEX_TAIL = [
    codex_call(40, "the-last-call", "shell", {"command": "tailtool"}),
    codex_output(41, "the-last-call", "fine"),
]
_LOGS: dict[str, tuple[type[Reader], list[Any], list[Any]]] = {
    "claude-code": (ClaudeCode, _CLAUDE, _CLAUDE_TAIL),
    "codex": (Codex, _CODEX, _CODEX_TAIL),
}


def _ends_well(agent: str, lines: list[Any]) -> list[ToolUse]:
    kind, _, tail = _LOGS[agent]
    events = feed(kind(new_kit(), session="x"), [*lines, *tail])
    check_events(events)
    found = uses(events)
    assert [use.outcome for use in found if use.id == "the-last-call" and use.program == "tailtool"] == ["success"]
    return found


@pytest.mark.parametrize("agent", _LOGS)
@given(data=st.data())
@settings(max_examples=250)
def test_any_field_may_be_anything(agent: str, data: st.DataObject) -> None:
    """A changed or missing field costs at most the calls of its own line."""
    lines = list(_LOGS[agent][1])
    at = data.draw(st.integers(0, len(lines) - 1))
    place = data.draw(st.sampled_from(places_in(lines[at])))
    whole = {use.id for use in _ends_well(agent, lines)}
    own = {name for name in whole if json.dumps(name) in json.dumps(lines[at])}
    lines[at] = changed(lines[at], place, data.draw(JUNK), data.draw(st.booleans()))
    kept = {use.id for use in _ends_well(agent, lines)}
    assert whole - kept <= own


@pytest.mark.parametrize("agent", _LOGS)
@given(data=st.data())
@settings(max_examples=150)
def test_lines_may_be_cut_garbled_repeated_or_out_of_order(agent: str, data: st.DataObject) -> None:
    """The lines after them are read as if nothing had been."""
    lines = [encoded(line) for line in _LOGS[agent][1]]
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(lines) - 1))
        match data.draw(st.sampled_from("cgrsbd")):
            case "c":
                lines[at] = lines[at][: data.draw(st.integers(0, len(lines[at])))]
            case "g":
                cut = data.draw(st.integers(0, len(lines[at])))
                lines[at] = lines[at][:cut] + data.draw(st.binary(max_size=6)) + lines[at][cut + 2 :]
            case "r":
                lines.insert(at, lines[data.draw(st.integers(0, len(lines) - 1))])
            case "s":
                lines.reverse()
            case "b":
                lines.insert(at, data.draw(st.binary(max_size=40)))
            case "d":
                lines.insert(at, b'{"a":' * 3000)
    _ends_well(agent, lines)


@pytest.mark.parametrize("agent", _LOGS)
@given(value=JUNK)
@settings(max_examples=80)
def test_a_line_may_be_any_json(agent: str, value: Any) -> None:
    """Values that are no lines are passed over, and belong to no format for certain."""
    lines = [value, {"type": value}, {"payload": value, "type": "response_item"}, {"message": value}]
    _ends_well(agent, lines)
    head = b"\n".join(map(encoded, [{"type": value, "payload": value, "sessionId": value}, *lines]))
    sample = Sample(head, Path("x"))
    sure = {agent: known.sniff(sample) for agent in AGENTS for known in agent.formats}
    assert all(0 <= each <= (100 if agent.certain else 99) for agent, each in sure.items())


@pytest.mark.parametrize("agent", _LOGS)
def test_equal_records_give_equal_events(agent: str) -> None:
    """Two readers of the same lines agree to the last bit."""
    kind, lines, tail = _LOGS[agent]
    assert feed(kind(new_kit()), [*lines, *tail]) == feed(kind(new_kit()), [*lines, *tail])
