"""SWE-agent: times made up, failure told by text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.agents.reader import STEP
from core.agents.swe_agent import SweAgentReader, called
from core.events import Event, Prompt, SessionEnd, SessionStart, Turn
from tests.core.agents.reading_more import kinds, read, uses
from tests.core.agents.samples_more import SWE_AGENT


def _document(*steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"trajectory": list(steps), "history": [], "info": {}, **more}


def _step(action: str, observation: str, **more: Any) -> dict[str, Any]:
    return {"action": action, "observation": observation, **more}


def test_times_are_made_up_and_said_to_be() -> None:
    steps = (_step("ls", "a", execution_time=2.5), _step("ls", "a"), _step("ls", "a"))
    events = read(SweAgentReader, [_document(*steps)])
    assert isinstance(events[0], SessionStart)
    assert events[0].synthetic_time
    assert [use.at for use in uses(events)] == [2.5, 2.5 + STEP, 2.5 + 2 * STEP]
    assert [use.duration for use in uses(events)] == [2.5, None, None]


@pytest.mark.parametrize(
    ("action", "observation", "outcome"),
    [
        ("python a.py", "Traceback (most recent call last):\n  x", "failure"),
        ("open a.py", "1:Traceback (most recent call last)", "success"),
        ("foo", "/bin/bash: line 1: foo: command not found", "failure"),
        ("edit 1:2\nx\nend_of_edit", "Your proposed edit has introduced new syntax error(s).", "failure"),
        ("str_replace_editor str_replace /a --old_str x --new_str y", "No replacement was performed, x", "failure"),
        ("sleep 999", "EXECUTION TIMED OUT BECAUSE", "failure"),
        ("", "no action", "failure"),
        ("  \n", "", "failure"),
        ("rm a", "", "empty"),
        ("rm a", "Your command ran successfully and did not produce any output.", "empty"),
        ("edit 1:2\nx\nend_of_edit", "[File: a]", "success"),
    ],
)
def test_outcomes(action: str, observation: str, outcome: str) -> None:
    (use,) = uses(read(SweAgentReader, [_document(_step(action, observation))]))
    assert use.outcome == outcome


@pytest.mark.parametrize(
    ("action", "tool", "sort", "targets"),
    [
        ("open src/a.py 10", "open", "file_read", ("src/a.py",)),
        ('find_file "a.py" src', "find_file", "search", ("src",)),
        ("create b.py", "create", "file_edit", ("b.py",)),
        ("edit 1:1\nx\nend_of_edit", "edit", "file_edit", ("shown.py",)),
        ("scroll_down", "scroll_down", "file_read", ("shown.py",)),
        ("str_replace_editor view /r/a.py", "str_replace_editor", "file_read", ("/r/a.py",)),
        ("str_replace_editor create /r/a.py --file_text x", "str_replace_editor", "file_edit", ("/r/a.py",)),
        ("grep -rn x src", "grep", "search", ("src",)),
        ("cat a.py", "cat", "file_read", ("a.py",)),
        ("pytest tests/a.py", "pytest", "shell_exec", ("tests/a.py",)),
    ],
)
def test_actions(action: str, tool: str, sort: str, targets: tuple[str, ...]) -> None:
    first = _step("open shown.py", "x", state='{"open_file": "shown.py", "working_dir": ""}')
    use = uses(read(SweAgentReader, [_document(first, _step(action, "x"))]))[1]
    assert (use.tool, use.action, use.targets) == (tool, sort, targets)


def test_paths_are_relative_to_the_working_folder() -> None:
    step = _step("open /repo/src/a.py", "x", state={"working_dir": "/repo", "open_file": "n/a"})
    events = read(SweAgentReader, [_document(step)])
    assert uses(events)[0].targets == ("src/a.py",)


def test_an_edit_fingerprints_what_it_takes_and_puts() -> None:
    first = uses(read(SweAgentReader, [_document(_step("edit 'old' 'new'", "ok"), _step("edit 'new' 'old'", "ok"))]))
    assert first[0].before == first[1].after != 0
    assert called("edit 'old' 'new'", "f")[1] == {"path": "f", "old_str": "old", "new_str": "new"}


def test_a_document_with_only_a_history() -> None:
    history = [
        {"role": "system", "content": "s", "agent": "main"},
        {"role": "user", "content": "demo", "is_demo": True, "agent": "main"},
        {"role": "assistant", "content": "demo\n```\nls demo\n```", "is_demo": True, "agent": "main"},
        {"role": "user", "content": [{"type": "text", "text": "Fix it."}], "agent": "main"},
        {"role": "assistant", "content": "I look.", "action": "ls", "agent": "main"},
        {"role": "user", "content": "a.py", "agent": "main"},
        {"role": "assistant", "content": "I run.\n```\npython a.py\n```", "agent": "main"},
        {"role": "tool", "content": "Traceback (most recent call last):", "agent": "main"},
        {"role": "assistant", "content": "Done.", "action": "submit", "agent": "main"},
    ]
    events = read(SweAgentReader, [{"history": history, "info": {"exit_status": "submitted"}}])
    assert [event.characters for event in events if isinstance(event, Prompt)] == [7]
    assert [(use.tool, use.outcome) for use in uses(events)] == [
        ("ls", "success"),
        ("python", "failure"),
        ("submit", "pending"),
    ]
    assert isinstance(events[-1], SessionEnd)
    assert events[-1].reason == "submitted"


def test_the_place_of_a_step_is_named() -> None:
    events = read(SweAgentReader, SWE_AGENT.records(SWE_AGENT.entries))
    assert [use.where.entry for use in uses(events) if use.where][:2] == ["/trajectory/0", "/trajectory/1"]
    assert kinds(events)[:3] == ["SessionStart", "Prompt", "Turn"]


_STATS = {"total_cost": 9.0, "instance_cost": 0.5, "tokens_sent": 900, "tokens_received": 40, "api_calls": 2}


def _turns(events: list[Event]) -> list[Turn]:
    return [event for event in events if isinstance(event, Turn)]


def test_what_the_run_spent_is_told_at_its_end() -> None:
    info = {"exit_status": "submitted", "model_stats": _STATS}
    events = read(SweAgentReader, [_document(_step("ls", "a"), _step("ls", "a"), info=info)])
    assert kinds(events)[-2:] == ["Turn", "SessionEnd"]
    *answers, total = _turns(events)
    assert (total.input_tokens, total.output_tokens, total.cost, total.stop) == (900, 40, 0.5, "total")
    assert (total.context_tokens, total.context_window) == (0, 0)
    assert [turn.cost for turn in answers] == [0.0, 0.0]
    assert isinstance(events[0], SessionStart)
    assert events[0].untold == ("times", "model")


def test_what_a_run_has_spent_so_far_is_held_until_it_ends() -> None:
    document = _document(_step("ls", "a"), info={"model_stats": _STATS})
    assert [turn.stop for turn in _turns(read(SweAgentReader, [document], finish=False))] == [""]
    assert [turn.stop for turn in _turns(read(SweAgentReader, [document]))] == ["", "total"]


def test_a_run_that_says_it_spent_nothing_does_not_know() -> None:
    info = {"exit_status": "submitted", "model_stats": {"instance_cost": 0, "tokens_sent": 0}}
    events = read(SweAgentReader, [_document(_step("ls", "a"), info=info)])
    assert isinstance(events[0], SessionStart)
    assert events[0].untold == ("times", "tokens", "model", "cost")
    assert [turn.cost for turn in _turns(events)] == [None]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(("name", "model"), [("gpt-4o", "gpt-4o"), ("replay", ""), (3, "")])
def test_the_model_stands_in_the_settings_of_the_run(name: Any, model: str, packed: bool) -> None:
    config: Any = {"agent": {"model": {"name": name}}}
    document = _document(_step("ls", "a"), replay_config=json.dumps(config) if packed else config)
    events = read(SweAgentReader, [document])
    assert isinstance(events[0], SessionStart)
    assert (events[0].model, "model" in events[0].untold) == (model, not model)
    assert [turn.model for turn in _turns(events)] == [model]


def test_tokens_of_a_known_model_are_priced_where_the_run_tells_no_cost() -> None:
    config = {"agent": {"model": {"name": "gpt-4o"}}}
    info = {"exit_status": "submitted", "model_stats": {"tokens_sent": 1000, "tokens_received": 10}}
    events = read(SweAgentReader, [_document(_step("ls", "a"), info=info, replay_config=config)])
    answer, total = _turns(events)
    assert total.cost
    assert answer.cost == 0.0
