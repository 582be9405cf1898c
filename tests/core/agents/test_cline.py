"""Cline, Roo Code and older Kilo: both documents of a task, the newer form, and their place on disk."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from core.agents.cline import API, HISTORY, UI, ClineReader
from core.agents.registry import AGENTS, make_kit
from core.events import AgentEnd, AgentStart, Compaction, Event, Prompt, SessionStart, Turn
from core.logs.discovery import find
from core.logs.finder import sessions
from core.logs.follow import Follower
from core.logs.glimpse import title_of
from core.logs.session import log_events, read_session
from core.settings.program import LineSettings
from tests.core.agents.samples import encoded, feed, new_kit, uses

BEGAN = 1_772_359_200_000
DETAILS = "<environment_details>\n# Current Working Directory (/home/ada/mill) Files\n</environment_details>"


def of(kind: type[Event], events: list[Event]) -> list[Any]:
    return [event for event in events if type(event) is kind]


def user(*texts: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": one} for one in texts], **more}


def says(said: str, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "text", "text": said}], **more}


def asks(name: str, tool: str, arguments: Any, **more: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": name, "name": tool, "input": arguments}
    return {"role": "assistant", "content": [block], **more}


def answers(name: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": name, "content": content, **more}]}


OLD = [
    user("<task>\nmend the mill\n</task>", DETAILS),
    says("<thinking>x</thinking>\n<read_file>\n<path>a.py</path>\n</read_file>"),
    user("[read_file for 'a.py'] Result:", "text", DETAILS),
    says("<execute_command>\n<command>make</command>\n</execute_command>"),
    user("[execute_command for 'make'] Result:\nCommand failed. Exit code: 2\nno", DETAILS),
    says("<replace_in_file>\n<path>a.py</path>\n<diff>x</diff>\n</replace_in_file>"),
    user("[replace_in_file for 'a.py'] Result:\nThe tool execution failed with the following error: x", DETAILS),
    says("<execute_command>\n<command>rm x</command>\n</execute_command>"),
    user("[execute_command for 'rm x'] Result:\nThe user denied this operation.", "<feedback>\nno\n</feedback>"),
    says("<attempt_completion>\n<result>done</result>\n</attempt_completion>"),
]


def shown(number: int, kind: str, said: Any, how: str = "say", **more: Any) -> dict[str, Any]:
    told = said if isinstance(said, str) else json.dumps(said)
    return {"ts": BEGAN + number * 1000, "type": how, how: kind, "text": told, **more}


def request(number: int, **more: Any) -> dict[str, Any]:
    return shown(number, "api_req_started", {"request": "x", **more})


PANEL = [
    shown(0, "task", "mend the mill"),
    request(1, tokensIn=100, tokensOut=20, cacheReads=50, cacheWrites=10, cost=0.01),
    shown(2, "tool", {"tool": "readFile", "path": "a.py"}),
    request(3, tokensIn=110, tokensOut=21, cost=0.02),
    shown(4, "command", "make", "ask"),
    shown(5, "command_output", "no rule"),
    shown(6, "text", "half", partial=True),
    request(7, tokensIn=120, tokensOut=22),
    shown(8, "tool", {"tool": "editedExistingFile", "path": "a.py", "diff": "x"}, "ask"),
    shown(9, "diff_error", "no match"),
    shown(10, "condense_context", ""),
    shown(11, "user_feedback", "once more"),
    request(12),
    shown(13, "tool", {"tool": "newTask", "mode": "code", "content": "x"}, "ask"),
]


def test_a_conversation_in_words_gets_its_times_and_costs_from_the_panel() -> None:
    kit = new_kit()
    events = feed(ClineReader(kit, session="7"), [OLD, PANEL])
    [start] = of(SessionStart, events)
    assert (start.session, start.project, start.synthetic_time) == ("7", "/home/ada/mill", False)
    assert [prompt.characters for prompt in of(Prompt, events)] == [len("mend the mill"), 2]
    assert [(use.tool, use.outcome, use.exit_code) for use in uses(events)] == [
        ("read_file", "success", None),
        ("execute_command", "failure", 2),
        ("replace_in_file", "failure", None),
        ("execute_command", "rejected", None),
        ("attempt_completion", "pending", None),
    ]
    turns = of(Turn, events)
    assert [(turn.at - BEGAN / 1000, turn.input_tokens, turn.cost) for turn in turns][:2] == [
        (1.0, 100, 0.01),
        (3.0, 110, 0.02),
    ]
    assert (turns[0].cache_read, turns[0].cache_write) == (50, 10)
    assert all(later.at >= before.at for before, later in pairwise(events))
    assert kit.diagnostics.total == 0


def test_a_conversation_without_a_panel_has_made_up_times() -> None:
    events = feed(ClineReader(new_kit(), session="7"), [OLD])
    assert of(SessionStart, events)[0].synthetic_time
    assert len(uses(events)) == 5


def test_a_panel_alone_is_read_in_its_stead() -> None:
    events = feed(ClineReader(new_kit(), session="7"), [PANEL])
    assert len(of(Prompt, events)) == 2
    assert [(use.tool, use.action, use.outcome) for use in uses(events)] == [
        ("readFile", "file_read", "success"),
        ("command", "shell_exec", "pending"),
        ("editedExistingFile", "file_edit", "failure"),
        ("newTask", "delegation", "pending"),
    ]
    assert uses(events)[1].size == len("no rule")
    assert [turn.input_tokens for turn in of(Turn, events)] == [100, 110, 120, 0]
    assert len(of(Compaction, events)) == 1
    assert len(of(AgentStart, events)) == 1


ROO = [
    user("<user_message>\nmend\n</user_message>", DETAILS, ts=BEGAN),
    asks("a", "apply_diff", {"path": "a.py", "diff": "x"}, ts=BEGAN + 1000, metrics={}),
    {**answers("a", '{"status":"error","message":"no"}'), "ts": BEGAN + 2000},
    asks("b", "execute_command", {"command": "rm x"}, ts=BEGAN + 3000, metrics={}),
    {**answers("b", '{"status":"denied"}'), "ts": BEGAN + 4000},
    {**user("what was so far", isSummary=True), "ts": BEGAN + 5000},
    asks("c", "new_task", {"mode": "code", "message": "x"}, ts=BEGAN + 6000, metrics={}),
    {**answers("c", "done"), "ts": BEGAN + 7000},
    {**user("Tool [read_file] was not executed because a tool has already been used."), "ts": BEGAN + 8000},
]


def test_blocks_with_ids_are_paired_by_them() -> None:
    history = {"id": "7", "workspace": "/home/ada/roo", "parentTaskId": "6", "task": "mend"}
    events = feed(ClineReader(new_kit(), session="7"), [history, ROO, PANEL])
    [start] = of(SessionStart, events)
    assert (start.project, start.parent) == ("/home/ada/roo", "6")
    assert [(use.id, use.outcome, use.duration) for use in uses(events)] == [
        ("a", "failure", 1.0),
        ("b", "rejected", 1.0),
        ("c", "success", 1.0),
    ]
    assert [one.child for one in of(AgentEnd, events)] == ["c"]
    assert len(of(Compaction, events)) == 1
    assert len(of(Prompt, events)) == 1


SDK = {
    "agent": "lead",
    "sessionId": "s-1",
    "system_prompt": "4. Working Directory: /home/ada/sdk\n",
    "messages": [
        {"id": "m1", "role": "user", "content": [{"type": "text", "text": "mend"}], "ts": BEGAN},
        {
            **asks("a", "run_commands", {"commands": ["make", "make test"]}),
            "id": "m2",
            "ts": BEGAN + 1000,
            "modelInfo": {"id": "anthropic/claude-opus-4.8"},
            "metrics": {"inputTokens": 900, "outputTokens": 10, "cacheReadTokens": 600, "cost": 0.5},
        },
        {**answers("a", [{"query": "make", "result": "no", "success": False}]), "id": "m3", "ts": BEGAN + 2000},
    ],
}


def test_the_newer_form() -> None:
    events = feed(ClineReader(new_kit()), [SDK])
    [start] = of(SessionStart, events)
    assert (start.session, start.project, start.model) == ("s-1", "/home/ada/sdk", "anthropic/claude-opus-4.8")
    [turn] = of(Turn, events)
    assert (turn.input_tokens, turn.cache_read, turn.cost) == (300, 600, 0.5)
    [use] = uses(events)
    assert (use.action, use.program, use.outcome) == ("shell_exec", "make", "failure")


def put(path: Path, value: Any, when: float = BEGAN / 1000) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encoded(value))
    os.utime(path, (when, when))
    return path


@pytest.mark.parametrize("extension", ["saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline"])
def test_a_task_is_one_session_however_many_documents_it_has(tmp_path: Path, extension: str) -> None:
    task = tmp_path / f".config/Code/User/globalStorage/{extension}/tasks/7"
    put(task / API, OLD)
    put(task / UI, PANEL)
    put(task / HISTORY, {"id": "7", "workspace": "/w", "task": "mend\nthe mill"})
    [one] = find(AGENTS, {}, tmp_path, now=BEGAN / 1000 + 60)
    assert (one.agent, one.session, one.project, one.title) == ("cline", "7", "/w", "mend")
    assert one.active
    assert one.last == BEGAN / 1000 + 13
    assert abs(one.events - 15) <= 6
    for path in (one.path, task / API, task / UI):
        [session] = sessions([path], make_kit())
        assert (session.tool, session.id, title_of(session)) == ("cline", "7", "mend")
        kit = make_kit()
        assert len(uses(list(log_events(session.logs[0], kit, LineSettings())))) == 5


def test_events_of_a_conversation_are_in_its_own_document(tmp_path: Path) -> None:
    """It is read once the panel's messages came, which only give it times and costs."""
    task = tmp_path / "tasks/7"
    put(task / API, OLD)
    put(task / UI, PANEL)
    [session] = sessions([task], make_kit())
    places = [event.where for event in read_session(session, make_kit()) if event.where is not None]
    assert {Path(place.file).name for place in places} == {API}
    assert "/9" in {place.entry for place in places}


def test_a_task_without_notes_is_called_by_its_first_prompt(tmp_path: Path) -> None:
    put(tmp_path / "tasks/7" / API, OLD)
    [session] = sessions([tmp_path / "tasks/7"], make_kit())
    assert title_of(session) == "mend the mill"
    put(tmp_path / "tasks/8" / UI, PANEL)
    [session] = sessions([tmp_path / "tasks/8"], make_kit())
    assert title_of(session) == "mend the mill"


def test_the_newer_form_is_found_in_its_own_folder(tmp_path: Path) -> None:
    place = tmp_path / ".cline/data/sessions/s-1"
    put(place / "s-1.json", {"session_id": "s-1", "cwd": "/w", "status": "done"})
    put(place / "s-1.messages.json", SDK)
    [one] = find(AGENTS, {}, tmp_path, now=BEGAN / 1000 + 9000)
    assert (one.session, one.project, one.title, one.active) == ("s-1", "/w", "mend", False)
    there = find(AGENTS, {"CLINE_DATA_DIR": str(tmp_path / ".cline/data")}, tmp_path / "none")
    assert [other.path for other in there] == [one.path]


def test_a_task_is_followed_while_its_documents_are_written_again(tmp_path: Path) -> None:
    task = tmp_path / "tasks/7"
    put(task / API, OLD[:3])
    put(task / UI, PANEL[:4])
    follower = Follower(task / API, make_kit())
    assert [use.tool for use in uses(follower.poll())] == ["read_file"]
    put(task / API, OLD[:4], BEGAN / 1000 + 1)
    assert uses(follower.poll()) == []
    assert [call.tool for call in follower.in_flight()] == ["execute_command"]
    put(task / API, OLD, BEGAN / 1000 + 2)
    put(task / UI, PANEL, BEGAN / 1000 + 2)
    told = follower.poll()
    assert [use.tool for use in uses(told)] == ["execute_command", "replace_in_file", "execute_command"]
    assert len(of(Prompt, told)) == 1
    assert follower.poll() == []


@pytest.mark.parametrize("junk", [None, 5, "x", [], {}, [None], [[]], {"messages": 5}])
@pytest.mark.parametrize("place", range(3))
def test_whatever_stands_in_a_message_costs_only_that_message(junk: Any, place: int) -> None:
    for key in ("content", "role", "ts", "metrics", "modelInfo"):
        broken = [dict(message) for message in ROO]
        broken[place][key] = junk
        events = feed(ClineReader(new_kit()), [broken, PANEL])
        assert [use.id for use in uses(events) if use.id == "c"] == ["c"]
    assert feed(ClineReader(new_kit()), [junk]) is not None


def test_what_the_program_says_in_the_persons_name_is_no_prompt() -> None:
    """As version 3 of its command line writes it."""
    said = [
        {"role": "user", "content": [{"type": "text", "text": text}], "ts": 1_000_000_000_000 + place}
        for place, text in enumerate(
            ('<user_input mode="yolo">make it work</user_input>', "[SYSTEM] This run is not complete until ...")
        )
    ]
    document = {"agent": "lead", "sessionId": "7", "messages": said}
    [prompt] = of(Prompt, feed(ClineReader(new_kit(), session="7"), [document]))
    assert prompt.characters == len("make it work")
