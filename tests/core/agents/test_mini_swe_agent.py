"""mini-swe-agent: one command an answer, its return code in the reply."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.agents.reader import STEP
from core.agents.registry import make_kit
from core.agents.swe_agent import MiniSweAgentReader
from core.events import SessionEnd, SessionStart, Turn
from core.logs.finder import sessions
from tests.core.agents.reading_more import kinds, new_kit, read, uses
from tests.core.agents.samples_more import MINI, mini_answer, mini_result


def _document(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"info": {}, "messages": list(messages), "trajectory_format": "mini-swe-agent-1", **more}


def test_the_story() -> None:
    events = read(MiniSweAgentReader, MINI.records(MINI.entries))
    assert kinds(events) == ["SessionStart", "Prompt", *(["Turn", "ToolUse"] * 2), "Turn", "Turn", "ToolUse"]
    start, turn = events[0], events[2]
    assert isinstance(start, SessionStart)
    assert (start.project, start.synthetic_time, start.at) == ("/repo", False, 1_770_000_001.0)
    assert isinstance(turn, Turn)
    assert (turn.input_tokens, turn.cache_read, turn.context_tokens) == (40, 60, 100)
    assert [(use.outcome, use.exit_code, use.duration) for use in uses(events)] == [
        ("success", 0, None),
        ("failure", 1, None),
        ("success", 0, None),
    ]


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (mini_result(0, "a"), "success"),
        (mini_result(0, ""), "empty"),
        (mini_result(2, "no such file"), "failure"),
        (
            {"role": "user", "content": "The last command <command>x</command> timed out and has been killed."},
            "failure",
        ),
        ({"role": "user", "content": "Command not executed. The user rejected your command"}, "rejected"),
        ({"role": "user", "content": "diff --git a b"}, "success"),
    ],
)
def test_outcomes(reply: dict[str, Any], outcome: str) -> None:
    kit = new_kit()
    (use,) = uses(read(MiniSweAgentReader, [_document(mini_answer("cat a", 1), reply)], kit))
    assert use.outcome == outcome
    assert kit.diagnostics.total == 0


def test_an_answer_without_exactly_one_command_is_no_call() -> None:
    two = {"role": "assistant", "content": "```bash\nls\n```\nor\n```bash\npwd\n```"}
    reply = {"role": "user", "content": "Please always provide EXACTLY ONE action"}
    events = read(MiniSweAgentReader, [_document(two, reply)])
    assert kinds(events) == ["SessionStart", "Turn"]


def test_without_times_they_are_made_up() -> None:
    bare = [{"role": "assistant", "content": f"```bash\n{command}\n```"} for command in ("ls", "pwd")]
    events = read(MiniSweAgentReader, [_document(bare[0], mini_result(0, "a"), bare[1], mini_result(0, "b"))])
    assert isinstance(events[0], SessionStart)
    assert events[0].synthetic_time
    assert [use.at for use in uses(events)] == [STEP, 2 * STEP]


def test_newer_documents_list_their_actions_and_times() -> None:
    actions = [{"command": "ls", "tool_call_id": "a"}, {"command": "make", "tool_call_id": "b"}]
    answer = {"role": "assistant", "content": "", "extra": {"actions": actions, "timestamp": 100.0}}
    replies = [
        {"role": "tool", "tool_call_id": "b", "content": "x", "extra": {"returncode": 2, "timestamp": 103.0}},
        {"role": "tool", "tool_call_id": "a", "content": "y", "extra": {"returncode": 0, "timestamp": 104.0}},
    ]
    events = read(MiniSweAgentReader, [_document(answer, *replies, {"role": "exit", "content": ""})])
    assert [(use.id, use.outcome, use.duration) for use in uses(events)] == [
        ("b", "failure", 3.0),
        ("a", "success", 4.0),
    ]


def test_the_end_is_told_after_what_was_left_open() -> None:
    document = _document(mini_answer("ls", 1)) | {"info": {"exit_status": "LimitsExceeded"}}
    events = read(MiniSweAgentReader, [document])
    assert uses(events)[0].outcome == "pending"
    assert isinstance(events[-1], SessionEnd)
    assert events[-1].reason == "LimitsExceeded"


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("first", ["info", "messages"])
def test_a_document_is_known_wherever_its_keys_stand(tmp_path: Path, first: str, indent: int | None) -> None:
    """However large what comes before them is, on one line or on many."""
    big = [{"role": "system", "content": "x" * 300} for _ in range(1000)]
    whole = {
        "info": {"config": {"notes": [["y" * 300] for _ in range(1000)]}, "mini_version": "1.0"},
        "messages": [*big, {"role": "user", "content": "go"}],
        "trajectory_format": "mini-swe-agent-1",
    }
    log = tmp_path / "run.traj.json"
    log.write_text(json.dumps({first: whole[first], **whole}, indent=indent))
    (session,) = sessions([log], make_kit())
    assert session.tool == "mini-swe-agent"


def _costing(at: int, cost: float | None, where: str = "extra") -> dict[str, Any]:
    answer = mini_answer("ls", at)
    if cost is not None:
        place = answer["extra"] if where == "extra" else answer["extra"]["response"]["usage"]
        place["cost"] = cost
    return answer


@pytest.mark.parametrize(
    ("told", "all_of_it", "costs"),
    [
        ((0.25, 0.5), 0.75, [0.25, 0.5]),
        ((0.25, 0.5), None, [0.25, 0.5]),
        ((None, None), 0.75, [0.0, 0.0, 0.75]),
        ((0.25, None), 0.75, [0.25, 0.0, 0.5]),
        ((None, None), 0.0, [None, None]),
    ],
)
def test_a_cost_that_the_run_tells_is_taken(
    told: tuple[float | None, ...], all_of_it: float | None, costs: list[float | None]
) -> None:
    answers = [_costing(number, cost) for number, cost in enumerate(told)]
    info = {"exit_status": "Submitted", "model_stats": {"instance_cost": all_of_it}}
    events = read(MiniSweAgentReader, [_document(*answers, info=info)])
    assert [event.cost for event in events if isinstance(event, Turn)] == costs
    assert kinds(events)[-1] == "SessionEnd"


def test_the_cost_of_an_answer_may_stand_beside_its_tokens() -> None:
    events = read(MiniSweAgentReader, [_document(_costing(1, 0.25, "usage"))])
    assert [event.cost for event in events if isinstance(event, Turn)] == [0.25]


def test_what_a_run_has_cost_so_far_is_held_until_it_ends() -> None:
    document = _document(_costing(1, None), info={"model_stats": {"instance_cost": 0.5}})
    told = [read(MiniSweAgentReader, [document], finish=finish) for finish in (False, True)]
    costs = [[event.cost for event in events if isinstance(event, Turn)] for events in told]
    assert costs == [[0.0], [0.0, 0.5]]
