"""OpenHands: lists, evaluations, folders."""

from __future__ import annotations

from typing import Any

import pytest

from core.agents.openhands import OpenHandsFolderReader, OpenHandsReader
from core.events import AgentEnd, AgentStart, Compaction, Event, Prompt, SessionEnd, SessionStart, Turn
from tests.core.agents.reading_more import kinds, new_kit, read, uses
from tests.core.agents.samples_rest import (
    OPENHANDS,
    OPENHANDS_FOLDER,
    openhands_action,
    openhands_answer,
    openhands_call,
    openhands_file,
    openhands_result,
)


def test_the_story() -> None:
    events = read(OpenHandsReader, OPENHANDS.records(OPENHANDS.entries))
    assert kinds(events) == [
        *("SessionStart", "Prompt", "ToolUse", "ToolUse", "AgentStart", "ToolUse", "ToolUse", "AgentEnd", "ToolUse")
    ]
    assert [(use.tool, use.agent, use.outcome) for use in uses(events)] == [
        ("run", "main", "failure"),
        ("read", "main", "success"),
        ("browse", "5", "success"),
        ("delegate", "main", "success"),
        ("tailtool", "main", "success"),
    ]
    assert uses(events)[1].targets == ("mill.c",)
    start, child, report = events[0], events[4], events[7]
    assert isinstance(start, SessionStart)
    assert (start.project, start.at) == ("/workspace", 1772359200.0)
    assert isinstance(child, AgentStart)
    assert (child.child, child.role) == ("5", "BrowsingAgent")
    assert isinstance(report, AgentEnd)
    assert report.duration == 3.0


@pytest.mark.parametrize(
    ("result", "outcome", "code"),
    [
        (openhands_result(2, 1, "run", "x", metadata={"exit_code": 0}), "success", 0),
        (openhands_result(2, 1, "run", "x", metadata={"exit_code": 3}), "failure", 3),
        (openhands_result(2, 1, "run", "x", exit_code=3), "failure", 3),
        (openhands_result(2, 1, "run", "x", metadata={"exit_code": -1}), "pending", None),
        (openhands_result(2, 1, "error", "x"), "failure", None),
        ({"observation": "error", "content": "x", "timestamp": "2026-03-01T10:00:02"}, "failure", None),
        (openhands_result(2, 1, "user_rejected", "x"), "rejected", None),
        (openhands_result(2, 1, "run_ipython", "[No exact match found in a for x"), "failure", None),
        (openhands_result(2, 1, "run", ""), "empty", None),
    ],
)
def test_outcomes(result: dict[str, Any], outcome: str, code: int | None) -> None:
    (use,) = uses(read(OpenHandsReader, [[openhands_action(1, "run", {"command": "make"}), result]]))
    assert (use.outcome, use.exit_code) == (outcome, code)


def test_an_answer_is_counted_once_though_action_and_observation_repeat_it() -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 9,
        "cache_read_input_tokens": 60,
        "cache_creation_input_tokens": 30,
    }
    metadata = {"model_response": {"id": "g1", "model": "claude-3-5-sonnet-20241022", "usage": usage}}
    action = openhands_action(1, "run", {"command": "ls"}) | {"tool_call_metadata": metadata}
    twin = openhands_action(3, "run", {"command": "pwd"}) | {"tool_call_metadata": metadata}
    result = openhands_result(2, 1, "run", "x") | {"tool_call_metadata": metadata}
    turns = [event for event in read(OpenHandsReader, [[action, result, twin]]) if isinstance(event, Turn)]
    (turn,) = turns
    assert (turn.input_tokens, turn.cache_read, turn.cache_write, turn.context_tokens) == (10, 60, 30, 100)


def _run(name: str, *history: Any) -> dict[str, Any]:
    return {"instance_id": name, "instruction": "x", "git_patch": "", "history": list(history)}


def test_each_line_of_an_evaluation_is_a_session() -> None:
    def step(action: str, **told: Any) -> dict[str, Any]:
        return {"action": action, **told}

    bare = [
        step("message", content="Fix it."),
        step("run", command="make"),
        {"observation": "run", "content": "x", "exit_code": 2},
        step("finish", outputs={}),
    ]
    pairs = [[openhands_action(1, "run", {"command": "ls"}), openhands_result(2, 1, "run", "a")]]
    events = read(OpenHandsReader, [_run("one", *bare), _run("two", *pairs)])
    starts = [event for event in events if isinstance(event, SessionStart)]
    assert [(event.session, event.synthetic_time) for event in starts] == [("one", True), ("two", False)]
    assert kinds(events) == ["SessionStart", "Prompt", "ToolUse", "SessionEnd", "SessionStart", "ToolUse"]
    assert isinstance(events[3], SessionEnd)
    assert [use.where.entry for use in uses(events) if use.where] == ["/history/2", "/history/0/1"]


def _turns(events: list[Event]) -> list[Turn]:
    return [event for event in events if isinstance(event, Turn)]


_BARE = (
    {"action": "message", "content": "Fix it."},
    {"action": "run", "command": "make"},
    {"observation": "run", "content": "x", "exit_code": 2},
    {"action": "message", "content": "So be it."},
    {"action": "finish", "outputs": {}},
)


def _billed(*history: Any, **metrics: Any) -> list[Event]:
    return read(OpenHandsReader, [{**_run("one", *history), "metrics": metrics}])


@pytest.mark.parametrize("named", [False, True])
def test_a_run_tells_the_cost_of_each_call_of_the_model(named: bool) -> None:
    costs = [{"model": "m", "cost": cost} if named else cost for cost in (0.25, 0.5, 1.0)]
    events = _billed(*_BARE, accumulated_cost=1.75, costs=costs)
    told = [event.cost for event in _turns(events)]
    assert told == [0.25, 0.5, 1.0]
    assert {turn.model for turn in _turns(events)} == {"m" if named else ""}
    assert isinstance(events[0], SessionStart)
    assert events[0].untold == (("times", "tokens") if named else ("times", "tokens", "model"))
    assert kinds(events)[-2:] == ["Turn", "SessionEnd"]


def test_the_answers_of_one_run_are_not_those_of_the_next() -> None:
    run = {**_run("one", *_BARE), "metrics": {"accumulated_cost": 3.0, "costs": [1.0, 1.0, 1.0]}}
    events = read(OpenHandsReader, [run, {**run, "instance_id": "two"}])
    assert [turn.cost for turn in _turns(events)] == [1.0] * 6


def test_costs_that_fit_no_answers_are_told_as_a_whole_before_the_end() -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 9, "cache_read_tokens": 60}
    events = _billed(*_BARE, accumulated_cost=0.75, costs=[0.25, 0.5], accumulated_token_usage=usage)
    assert kinds(events)[-2:] == ["Turn", "SessionEnd"]
    (total,) = _turns(events)
    assert (total.cost, total.stop, total.at) == (0.75, "total", events[-1].at)
    assert (total.input_tokens, total.output_tokens, total.cache_read) == (40, 9, 60)


_USAGE = {"prompt_tokens": 100, "completion_tokens": 9, "cache_read_input_tokens": 60}


def _response(number: int) -> dict[str, Any]:
    told = {"id": f"g{number}", "model": "claude-3-5-sonnet-20241022", "usage": _USAGE}
    return {"tool_call_metadata": {"model_response": told}}


def test_the_cost_a_run_tells_wins_over_our_prices() -> None:
    first = openhands_action(1, "run", {"command": "ls"}) | _response(1)
    second = openhands_action(3, "run", {"command": "pwd"}) | _response(2)
    assert [turn.cost for turn in _turns(_billed(first, second, accumulated_cost=3.0, costs=[1.0, 2.0]))] == [1.0, 2.0]
    summed = _turns(_billed(first, second, accumulated_cost=3.0, costs=[]))
    assert [turn.cost for turn in summed] == [0.0, 0.0, 3.0]
    usage = {"prompt_tokens": 200, "completion_tokens": 18, "cache_read_tokens": 120}
    whole = _turns(_billed(first, second, accumulated_cost=3.0, accumulated_token_usage=usage))
    assert sum(turn.input_tokens for turn in whole) == 80
    assert whole[-1].output_tokens + whole[-1].cache_read == 0
    assert all(turn.cost for turn in _turns(_billed(first, second, accumulated_cost=0.0, costs=[])))


def _metered(number: int, cost: float, sent: int) -> dict[str, Any]:
    used = {"model": "m", "prompt_tokens": sent, "completion_tokens": sent // 10}
    return {"llm_metrics": {"accumulated_cost": cost, "accumulated_token_usage": used}}


def test_a_list_may_tell_with_each_action_what_was_spent_so_far() -> None:
    steps = [
        openhands_action(0, "message", {"content": "Fix it."}, "user"),
        openhands_action(1, "run", {"command": "ls"}) | _response(1) | _metered(1, 0.25, 100),
        openhands_action(2, "run", {"command": "pwd"}) | _response(1) | _metered(2, 0.25, 100),
        openhands_action(3, "message", {"content": "Done."}) | _metered(3, 1.0, 300),
    ]
    events = read(OpenHandsReader, [steps])
    assert [(turn.id, turn.model, turn.cost, turn.input_tokens) for turn in _turns(events)] == [
        ("g1", "claude-3-5-sonnet-20241022", 0.25, 40),
        ("answer-3", "m", 0.75, 200),
    ]
    assert isinstance(events[0], SessionStart)
    assert events[0].untold == ()


def test_a_sub_agent_that_counts_anew_is_not_counted_twice() -> None:
    costs = (1.0, 0.25, 1.5)
    steps = [
        openhands_action(number, "run", {"command": "ls"}) | _metered(number, cost, int(100 * cost))
        for number, cost in enumerate(costs)
    ]
    assert [turn.cost for turn in _turns(read(OpenHandsReader, [steps]))] == [1.0, 0.5]


def test_a_call_left_open_in_one_run_is_not_answered_by_the_next() -> None:
    first = _run("one", {"action": "run", "command": "make"})
    second = _run("two", {"observation": "run", "content": "x", "exit_code": 0})
    kit = new_kit()
    events = read(OpenHandsReader, [first, second], kit)
    assert [use.outcome for use in uses(events)] == ["pending"]
    assert kinds(events) == ["SessionStart", "ToolUse", "SessionStart"]
    assert kit.diagnostics.counts == {"result without a call": 1}


def test_condensation_is_compaction() -> None:
    events = read(OpenHandsReader, [[openhands_action(1, "condensation", {})]])
    assert isinstance(events[1], Compaction)


def test_a_folder_of_events() -> None:
    events = read(OpenHandsFolderReader, OPENHANDS_FOLDER.records(OPENHANDS_FOLDER.entries))
    assert kinds(events) == [
        *("SessionStart", "Prompt", "Turn", "ToolUse", "Turn", "ToolUse", "Compaction", "Turn", "ToolUse")
    ]
    assert [(use.tool, use.action, use.outcome, use.exit_code) for use in uses(events)][:2] == [
        ("terminal", "shell_exec", "failure", 2),
        ("file_editor", "file_read", "failure", None),
    ]


def test_a_folder_with_sub_agents_and_rejections() -> None:
    events = read(
        OpenHandsFolderReader,
        [
            openhands_call(1, "c1", "delegate", command="spawn", ids=["a", "b"]),
            openhands_answer(2, "c1", "spawned"),
            openhands_call(3, "c2", "delegate", command="delegate", tasks={"a": "look", "b": "look"}),
            openhands_answer(4, "c2", "found"),
            openhands_call(5, "c3", "task", prompt="look", subagent_type="scout"),
            openhands_answer(6, "c3", "found"),
            openhands_call(7, "c4", "terminal", command="rm -rf /"),
            openhands_file(8, "UserRejectObservation", tool_call_id="c4", rejection_reason="no"),
        ],
    )
    assert [event.child for event in events if isinstance(event, AgentStart)] == ["a", "b", "c3"]
    assert [event.child for event in events if isinstance(event, AgentEnd)] == ["a", "b", "c3"]
    assert uses(events)[-1].outcome == "rejected"
    assert uses(events)[-1].purpose == "destructive"


def test_a_pause_is_a_stop_by_the_person() -> None:
    events = read(OpenHandsFolderReader, [openhands_file(1, "PauseEvent")])
    assert isinstance(events[1], Prompt)
    assert events[1].interrupt


def _stats(number: int, **spent: tuple[float, int]) -> dict[str, Any]:
    metrics = {
        name: {
            "model_name": "m",
            "accumulated_cost": cost,
            "accumulated_token_usage": {"prompt_tokens": sent, "completion_tokens": sent // 50},
        }
        for name, (cost, sent) in spent.items()
    }
    value = {"usage_to_metrics": metrics}
    return openhands_file(number, "ConversationStateUpdateEvent", key="stats", value=value)


@pytest.mark.parametrize("answering", ["default", "agent", "mill"])
def test_what_summing_up_cost_counts_without_being_an_answer(answering: str) -> None:
    """By whatever name the program counts its answers."""

    def spent(number: int, cost: float, sent: int, aside: tuple[float, int]) -> dict[str, Any]:
        return _stats(number, **{answering: (cost, sent), "condenser": aside})

    events = read(
        OpenHandsFolderReader,
        [
            spent(1, 0.25, 100, (0.0, 0)),
            openhands_call(2, "c1", "terminal", command="make"),
            spent(3, 0.25, 100, (0.5, 70)),
            spent(4, 1.0, 250, (0.5, 70)),
        ],
    )
    assert [(turn.cost, turn.input_tokens, turn.stop) for turn in _turns(events)] == [
        (0.25, 100, ""),
        (0.5, 70, "total"),
        (0.75, 150, ""),
    ]
    assert isinstance(events[0], SessionStart)
    assert events[0].untold == ()


def test_a_state_told_as_a_whole_tells_what_was_spent() -> None:
    """Once, where the same was told before."""
    told = _stats(1, agent=(0.25, 100))
    whole = told | {"key": "full_state", "value": {"execution_status": "running", "stats": told["value"]}}
    for events in (read(OpenHandsFolderReader, [whole]), read(OpenHandsFolderReader, [told, whole])):
        assert [(turn.cost, turn.input_tokens) for turn in _turns(events)] == [(0.25, 100)]


@pytest.mark.parametrize("odd", [[7], [[7]], [None, "x"]])
def test_an_event_that_is_none_is_counted_beside_pairs(odd: list[Any]) -> None:
    """Old evaluations hold the events in pairs, which are more than the entries of their list."""
    kit = new_kit()
    pair = [openhands_action(1, "run", {"command": "ls"}), openhands_result(2, 1, "run", "a")]
    events = read(OpenHandsReader, [[pair, *odd]], kit)
    assert len(uses(events)) == 1
    assert kit.diagnostics.counts == {"event is not an object": 1}
