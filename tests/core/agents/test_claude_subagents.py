"""Sub-agents in Claude Code's logs: inline, in logs of their own, and in the background."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.agents.claude_code.reader import ClaudeCode
from core.agents.claude_code.subagents import sub_agent_files
from core.events import AgentEnd, AgentStart, Event, Prompt, SessionEnd
from tests.core.agents.samples import answers, asks, claude, encoded, feed, new_kit, says, stamp, uses
from tests.core.logs.log_lines import call, prompt, result

_BASH = {"command": "make"}


def _read(*lines: Any, agent: str = "main") -> list[Event]:
    return feed(ClaudeCode(new_kit(), agent=agent, session="file"), lines)


def test_inline_side_lines_belong_to_the_call_that_gave_them_their_words() -> None:
    """Two agents run at once; each line follows its parent."""
    calls = [asks(1, name, "Task", {"prompt": f"do {name}", "subagent_type": "explorer"}) for name in ("x", "y")]
    side = [
        says(2, "do y", isSidechain=True, uuid="y0"),
        says(2, "do x", isSidechain=True, uuid="x0"),
        asks(3, "cx", "Bash", _BASH, isSidechain=True, parentUuid="x0", uuid="x1"),
        asks(3, "cy", "Bash", _BASH, isSidechain=True, parentUuid="y0", uuid="y1"),
        answers(4, "cx", "ok", isSidechain=True, parentUuid="x1", uuid="x2"),
        answers(4, "cy", "ok", isSidechain=True, parentUuid="y1", uuid="y2"),
    ]
    told = {"totalTokens": 70, "totalToolUseCount": 1, "totalDurationMs": 2500}
    events = _read(*calls, *side, answers(5, "x", "done", toolUseResult=told), answers(6, "y", "no", error=True))
    assert [(use.id, use.agent) for use in uses(events)] == [("cx", "x"), ("cy", "y"), ("x", "main"), ("y", "main")]
    starts = [event for event in events if isinstance(event, AgentStart)]
    assert [(start.child, start.agent, start.role) for start in starts] == [
        ("y", "main", "explorer"),
        ("x", "main", "explorer"),
    ]
    ends = [event for event in events if isinstance(event, AgentEnd)]
    assert [(end.child, end.outcome, end.tokens, end.tool_uses, end.duration) for end in ends] == [
        ("x", "success", 70, 1, 2.5),
        ("y", "failure", 0, 0, 5.0),
    ]
    assert not [event for event in events if isinstance(event, Prompt)]


def test_an_agent_with_a_log_of_its_own() -> None:
    """Its id comes with progress or with the result; a call that was refused starts none."""
    events = _read(
        asks(1, "t1", "Task", {"prompt": "a"}),
        claude("progress", 2, data={"type": "agent_progress", "agentId": "abc"}, parentToolUseID="t1"),
        claude("progress", 3, data={"type": "agent_progress", "agentId": "abc"}, parentToolUseID="t1"),
        answers(9, "t1", "done", toolUseResult={"agentId": "abc", "status": "completed"}),
        asks(10, "t2", "Agent", {"prompt": "b"}),
        answers(11, "t2", "done", toolUseResult={"agentId": "def"}),
        asks(12, "t3", "Task", {}),
        answers(13, "t3", "<tool_use_error>InputValidationError</tool_use_error>", error=True),
    )
    starts = [(event.child, event.at) for event in events if isinstance(event, AgentStart)]
    first = events[0].at
    assert [(child, at - first) for child, at in starts] == [("abc", 0.0), ("def", 9.0)]
    assert [event.child for event in events if isinstance(event, AgentEnd)] == ["abc", "def"]


def test_an_agent_that_a_sub_agent_starts_is_named_in_the_text_of_its_report() -> None:
    """Its log adds no facts to the result, so the call's name must not become a second agent."""
    usage = "<usage>subagent_tokens: 2025\ntool_uses: 2\nduration_ms: 337</usage>"
    report = f"agentId: a8f1bcdb (use SendMessage to continue)\n{usage}"
    events = _read(
        asks(1, "t1", "Agent", {"prompt": "a"}, isSidechain=True, agentId="one"),
        answers(9, "t1", [{"type": "text", "text": "Done."}, {"type": "text", "text": report}], isSidechain=True),
        agent="one",
    )
    assert [event.child for event in events if isinstance(event, AgentStart)] == ["a8f1bcdb"]
    [end] = [event for event in events if isinstance(event, AgentEnd)]
    assert (end.child, end.tokens, end.tool_uses, end.duration) == ("a8f1bcdb", 2025, 2, 0.337)


def test_an_agent_in_the_background_ends_with_its_notice() -> None:
    """Told in the queue and again in a user line, it ends once."""
    notice = "<task-notification>\n<task-id>bg</task-id>\n<status>failed</status>"
    events = _read(
        asks(1, "t", "Task", {"prompt": "a"}),
        answers(2, "t", "launched", toolUseResult={"agentId": "bg", "isAsync": True, "status": "async_launched"}),
        {"type": "queue-operation", "operation": "enqueue", "timestamp": stamp(8), "content": notice},
        says(9, notice),
    )
    ends = [event for event in events if isinstance(event, AgentEnd)]
    assert [(end.child, end.outcome, end.at - events[0].at) for end in ends] == [("bg", "failure", 7.0)]


def test_companions(tmp_path: Path) -> None:
    """Logs in the session's folder and older ones beside it; summarisers are helpers."""
    main = tmp_path / "s1.jsonl"
    folder = tmp_path / "s1" / "subagents"
    workflow = folder / "workflows" / "wf_1"
    workflow.mkdir(parents=True)
    for file in (main, folder / "agent-a1b2.jsonl", folder / "agent-acompact-77.jsonl", workflow / "agent-c3.jsonl"):
        file.write_bytes(encoded(says(0, "x")))
    (tmp_path / "agent-d4.jsonl").write_bytes(encoded(says(0, "x", sessionId="s1")))
    (tmp_path / "agent-e5.jsonl").write_bytes(encoded(says(0, "x", sessionId="s2")))
    (tmp_path / "agent-f6.jsonl").write_bytes(b"{")
    found = sub_agent_files(main)
    assert {companion.agent for companion in found if not companion.helper} == {"a1b2", "c3", "d4"}
    assert {companion.agent for companion in found if companion.helper} == {"acompact-77"}
    assert sub_agent_files(tmp_path / "none.jsonl") == []


@pytest.mark.parametrize("command", ["exit", "quit"])
def test_the_command_to_leave_ends_the_session_and_its_agents(command: str) -> None:
    """What ran in the background ends with it; it is no prompt."""
    launched = {"isAsync": True, "status": "async_launched", "agentId": "a1"}
    text = f"<command-name>/{command}</command-name>\n <command-message>{command}</command-message>"
    events = feed(
        ClaudeCode(new_kit(), session="file"),
        [prompt(0), call(1, "t", "Task", {"prompt": "look"}), result(2, "t", toolUseResult=launched), prompt(3, text)],
    )
    assert [event.outcome for event in events if isinstance(event, AgentEnd)] == ["pending"]
    assert [event.reason for event in events if isinstance(event, SessionEnd)] == ["exit"]
    assert sum(isinstance(event, Prompt) for event in events) == 1


@pytest.mark.parametrize(("status", "ends"), [("running", []), ("completed", ["success"]), ("failed", ["failure"])])
def test_a_look_at_an_agent_in_the_background_tells_its_end(status: str, ends: list[str]) -> None:
    """Once, when it is over."""
    launched = {"isAsync": True, "status": "async_launched", "agentId": "a1"}
    shown = {"retrieval_status": "success", "task": {"task_id": "a1", "status": status}}
    events = feed(
        ClaudeCode(new_kit(), session="file"),
        [
            prompt(0),
            call(1, "t", "Task", {"prompt": "look"}),
            result(2, "t", toolUseResult=launched),
            call(3, "o", "TaskOutput", {"task_id": "a1"}),
            result(4, "o", toolUseResult=shown),
            call(5, "p", "TaskOutput", {"task_id": "a1"}),
            result(6, "p", toolUseResult=shown),
        ],
    )
    assert [event.outcome for event in events if isinstance(event, AgentEnd)] == ends
