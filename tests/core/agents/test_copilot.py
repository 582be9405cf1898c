"""Copilot CLI: starts and completions, sub-agents, totals at the end."""

from __future__ import annotations

from typing import Any

import pytest

from core.agents.copilot import CopilotReader
from core.events import AgentEnd, AgentStart, Compaction, Event, Prompt, SessionEnd, SessionStart, Turn
from tests.core.agents.reading_more import iso, kinds, new_kit, read, uses
from tests.core.agents.samples_more import COPILOT, copilot_call, copilot_event, copilot_result


def test_the_story() -> None:
    events = read(CopilotReader, COPILOT.entries)
    assert kinds(events) == [
        *("SessionStart", "Prompt", "Turn", "AgentStart", "ToolUse", "AgentEnd", "ToolUse", "Compaction")
    ]
    start, begun, ended = events[0], events[3], events[5]
    assert isinstance(start, SessionStart)
    assert (start.session, start.project, start.branch, start.version) == ("s1", "/home/ada/mill", "main", "1.0")
    assert isinstance(begun, AgentStart)
    assert (begun.agent, begun.child, begun.role) == ("main", "a1", "explore")
    assert isinstance(ended, AgentEnd)
    assert (ended.agent, ended.child, ended.tokens, ended.outcome) == ("main", "a1", 9, "success")
    assert [(use.agent, use.tool, use.action) for use in uses(events)] == [
        ("a1", "bash", "search"),
        ("main", "task", "delegation"),
    ]
    assert isinstance(events[7], Compaction)


def test_older_logs_name_the_call_that_started_a_sub_agent() -> None:
    called = copilot_call(3, "t2", "view", {"path": "a"})
    called["data"]["parentToolCallId"] = "t1"
    events = read(
        CopilotReader,
        [
            copilot_call(1, "t1", "task", {}),
            copilot_event(2, "subagent.started", {"toolCallId": "t1", "agentName": "x"}),
            called,
            copilot_result(4, "t2", "text"),
            copilot_event(5, "subagent.failed", {"toolCallId": "t1", "error": "no"}),
        ],
    )
    assert [use.agent for use in uses(events)] == ["t1", "main"]
    (ended,) = [event for event in events if isinstance(event, AgentEnd)]
    assert (ended.child, ended.outcome) == ("t1", "failure")


def test_totals_at_the_end_add_what_the_answers_did_not_tell() -> None:
    usage = {"inputTokens": 1000, "outputTokens": 80, "cacheReadTokens": 700, "cacheWriteTokens": 100}
    shutdown = {
        "shutdownType": "routine",
        "modelMetrics": {"gpt-5": {"usage": usage}},
        "currentModel": "gpt-5",
        "currentTokens": 450,
    }
    events = read(
        CopilotReader,
        [
            copilot_event(1, "assistant.message", {"messageId": "m1", "outputTokens": 50, "model": "gpt-5"}),
            copilot_event(2, "session.shutdown", shutdown),
        ],
    )
    turns = [event for event in events if isinstance(event, Turn)]
    assert sum(turn.output_tokens for turn in turns) == 80
    assert sum(turn.input_tokens + turn.cache_read + turn.cache_write for turn in turns) == 1000
    assert (turns[-1].context_tokens, turns[-1].input_tokens) == (450, 200)
    assert isinstance(events[-1], SessionEnd)
    assert events[-1].reason == "routine"


@pytest.mark.parametrize(
    ("told", "ok", "outcome", "code"),
    [
        ("fine\n<exited with exit code 0>", True, "success", 0),
        ("boom\n<exited with exit code 3>", True, "failure", 3),
        ("boom\n<shellId: 4 completed with exit code 3>", True, "failure", 3),
        ("boom", False, "failure", None),
        ("<command with shellId: 7 is still running after 30 seconds>", True, "pending", None),
    ],
)
def test_outcomes(told: str, ok: bool, outcome: str, code: int | None) -> None:
    lines = [copilot_call(1, "t", "bash", {"command": "make"}), copilot_result(2, "t", told, ok)]
    (use,) = uses(read(CopilotReader, lines))
    assert (use.outcome, use.exit_code) == (outcome, code)


def test_a_denied_call_is_rejected() -> None:
    data = {"toolCallId": "t", "success": False, "error": {"message": "no", "code": "denied"}}
    lines = [copilot_call(1, "t", "bash", {}), copilot_event(2, "tool.execution_complete", data)]
    assert uses(read(CopilotReader, lines))[0].outcome == "rejected"


def test_only_the_person_prompts() -> None:
    said: list[dict[str, Any]] = [
        {"content": "Go."},
        {"content": ""},
        {"content": "Go on.", "isAutopilotContinuation": True},
        {"content": "A skill.", "source": "skill-x"},
    ]
    events: list[Event] = read(CopilotReader, [copilot_event(1, "user.message", data) for data in said])
    assert [event.characters for event in events if isinstance(event, Prompt)] == [3]


def test_a_stop_and_a_compaction_that_failed() -> None:
    events = read(
        CopilotReader,
        [
            copilot_event(1, "abort", {"reason": "user_initiated"}),
            copilot_event(2, "session.compaction_complete", {"success": False}),
        ],
    )
    assert kinds(events) == ["Prompt"]


def test_counted_faults() -> None:
    kit = new_kit()
    read(CopilotReader, [{"data": {}}, copilot_event(1, "subagent.completed", {"toolCallId": "x"})], kit)
    assert kit.diagnostics.counts == {"no type": 1, "report of an unknown sub-agent": 1}


def test_answers_cost_is_unknown_until_the_session_tells_its_sums() -> None:
    """An answer tells the tokens written alone; the closing line prices all, as small requests."""
    usage = {"inputTokens": 900_000, "outputTokens": 1000, "cacheReadTokens": 0, "cacheWriteTokens": 0}
    lines = [
        {
            "type": "session.start",
            "timestamp": iso(0),
            "data": {"sessionId": "s", "selectedModel": "claude-sonnet-4.5"},
        },
        {
            "type": "assistant.message",
            "timestamp": iso(1),
            "data": {"messageId": "m", "content": "x", "outputTokens": 1000},
        },
        {"type": "assistant.turn_end", "timestamp": iso(2), "data": {}},
        {
            "type": "session.shutdown",
            "id": "e",
            "timestamp": iso(3),
            "data": {"modelMetrics": {"claude-sonnet-4.5": {"usage": usage}}},
        },
    ]
    answer, total = [event for event in read(CopilotReader, lines) if isinstance(event, Turn)]
    assert (answer.output_tokens, answer.cost) == (1000, None)
    assert total.output_tokens == 0
    assert total.cost == pytest.approx(0.9 * 3 + 0.001 * 15)


@pytest.mark.parametrize(
    ("told", "stop"),
    [
        ({"content": "Done.", "toolRequests": []}, "end_turn"),
        ({"content": "I look.", "toolRequests": [{"toolCallId": "t1", "name": "view"}]}, "tool_use"),
        ({"content": "", "toolRequests": []}, ""),
        ({"content": "Done."}, ""),
    ],
)
def test_an_answer_that_calls_nothing_ends_the_turn(told: dict[str, Any], stop: str) -> None:
    """Older logs do not list what an answer calls."""
    (turn,) = (
        event
        for event in read(CopilotReader, [copilot_event(1, "assistant.message", {"messageId": "m1", **told})])
        if isinstance(event, Turn)
    )
    assert turn.stop == stop
