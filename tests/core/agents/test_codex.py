"""Codex rollouts of all eras."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.agents.codex.reader import FORMATS, Codex
from core.events import AgentEnd, Compaction, Event, Prompt, SessionStart, Turn
from core.logs.format import Sample
from tests.core.agents.samples import (
    codex,
    codex_call,
    codex_meta,
    codex_output,
    codex_tokens,
    feed,
    new_kit,
    stamp,
    uses,
)


def _read(*lines: Any, agent: str = "main") -> list[Event]:
    return feed(Codex(new_kit(), agent=agent, session="file"), lines)


def _shell(output: Any, tool: str = "shell", arguments: Any = None) -> tuple[str, int | None, float | None]:
    asked = codex_call(1, "c", tool, arguments or {"command": ["bash", "-lc", "make"]})
    (use,) = uses(_read(codex_meta(0), asked, codex_output(3, "c", output)))
    return use.outcome, use.exit_code, use.duration


@pytest.mark.parametrize(
    ("output", "found"),
    [
        (json.dumps({"output": "ok", "metadata": {"exit_code": 0, "duration_seconds": 0.5}}), ("success", 0, 0.5)),
        (json.dumps({"output": "no", "metadata": {"exit_code": 2, "duration_seconds": 0.5}}), ("failure", 2, 0.5)),
        (json.dumps({"output": "", "metadata": {"exit_code": 0}}), ("empty", 0, 2.0)),
        ("Exit code: 1\nWall time: 1.5 seconds\nOutput:\nboom", ("failure", 1, 1.5)),
        ("Chunk ID: a\nWall time: 0.2 seconds\nProcess exited with code 0\nOutput:\nfine", ("success", 0, 0.2)),
        ("Chunk ID: a\nWall time: 9.0 seconds\nProcess running with session ID 7\nOutput:\n", ("pending", None, 9.0)),
        ("Script completed\nWall time 0.1 seconds\nOutput:\nx", ("success", None, 0.1)),
        ("Script failed\nOutput:\nReferenceError", ("failure", None, 2.0)),
        ("Script running with cell ID 4", ("pending", None, 2.0)),
        ("exec command rejected by user", ("rejected", None, 2.0)),
        ("aborted by user after 3.0s", ("rejected", None, 2.0)),
        ("failed to parse function arguments: x", ("failure", None, 2.0)),
        ({"content": "x", "success": False}, ("failure", None, 2.0)),
        ([{"type": "input_text", "text": "fine"}], ("success", None, 2.0)),
        ("the log says: Exit code: 3", ("success", None, 2.0)),
        (None, ("empty", None, 2.0)),
    ],
)
def test_outputs(output: Any, found: tuple[str, int | None, float | None]) -> None:
    """Each era's words for how a command ended."""
    assert _shell(output) == found


def test_the_oldest_era_has_bare_items_and_no_times() -> None:
    """Times are made up, and said to be."""
    header = {"id": "t0", "timestamp": "2025-05-01T10:00:00.000Z", "instructions": None, "git": {"branch": "dev"}}
    call = {"type": "function_call", "name": "shell", "arguments": '{"command":["cat","/w/a.py"]}', "call_id": "c"}
    output = {
        "type": "function_call_output",
        "call_id": "c",
        "output": '{"output":"x","metadata":{"exit_code":0,"duration_seconds":3}}',
    }
    added = {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": "<environment_context><cwd>/w</cwd>"}],
    }
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]}
    events = _read(header, {"record_type": "state"}, added, said, call, {"record_type": "state"}, output)
    start, prompt, use = events
    assert isinstance(start, SessionStart)
    assert (start.session, start.branch, start.synthetic_time) == ("t0", "dev", True)
    assert isinstance(prompt, Prompt)
    assert prompt.characters == 5
    (found,) = uses([use])
    assert (found.action, found.targets, found.duration) == ("file_read", ("a.py",), 3.0)
    assert start.at < prompt.at < found.at


def test_a_running_process_goes_on_with_what_is_typed_into_it() -> None:
    """Its first call is pending; the one that sees it end says how it ended."""
    events = _read(
        codex_meta(0),
        codex_call(1, "a", "exec_command", {"cmd": "pytest -q"}),
        codex_output(2, "a", "Wall time: 1.0 seconds\nProcess running with session ID 5\nOutput:\n.."),
        codex_call(3, "b", "write_stdin", {"session_id": 5, "chars": ""}),
        codex_output(9, "b", "Wall time: 6.0 seconds\nProcess exited with code 1\nOutput:\nFAILED"),
        codex_call(10, "c", "write_stdin", {"session_id": 99, "chars": ""}),
        codex_output(11, "c", "write_stdin failed: unknown process"),
    )
    assert [(use.program, use.purpose, use.outcome) for use in uses(events)] == [
        ("pytest", "test", "pending"),
        ("pytest", "test", "failure"),
        ("write_stdin", "wait", "failure"),
    ]


@pytest.mark.parametrize(
    ("script", "action", "program", "targets"),
    [
        ('await tools.exec_command({cmd: "cat src/a.py"})', "file_read", "cat", ("src/a.py",)),
        ("const r = await tools.shell_command({command: 'rg x && pytest'})", "shell_exec", "pytest", ()),
        ('tools.exec_command({cmd:"ls"}); tools.exec_command({cmd:`make`})', "shell_exec", "make", ()),
        (
            'tools.apply_patch("*** Begin Patch\\n*** Update File: b.py\\n-x\\n+y\\n*** End Patch")',
            "file_edit",
            "",
            ("b.py",),
        ),
        ("await tools.apply_patch(text)", "file_edit", "", ()),
        ("tools.update_plan({})", "plan", "", ()),
        ("1 + 1", "shell_exec", "exec", ()),
    ],
)
def test_code_mode(script: str, action: str, program: str, targets: tuple[str, ...]) -> None:
    """A script is what the strongest of its calls is."""
    asked = codex("response_item", 1, type="custom_tool_call", name="exec", input=script, call_id="c")
    done = codex("response_item", 2, type="custom_tool_call_output", call_id="c", output="Script completed")
    (use,) = uses(_read(codex_meta(0), asked, done))
    assert (use.action, use.program, use.targets) == (action, program, targets)


def test_the_programs_own_word_on_a_call() -> None:
    """A patch that did not apply and a server that failed are failures whatever their output says."""
    events = _read(
        codex_meta(0),
        codex(
            "response_item", 1, type="custom_tool_call", name="apply_patch", input="*** Add File: a\n+x", call_id="p"
        ),
        codex("event_msg", 2, type="patch_apply_end", call_id="p", success=False),
        codex("response_item", 2, type="custom_tool_call_output", call_id="p", output="done"),
        codex_call(3, "m", "mcp__db__query", {}),
        codex(
            "event_msg", 4, type="mcp_tool_call_end", call_id="m", result={"Err": "x"}, duration={"secs": 1, "nanos": 5}
        ),
        codex_output(4, "m", "x"),
        codex("event_msg", 5, type="patch_apply_end", call_id="unknown", success=False),
        codex("response_item", 6, type="web_search_call", status="completed", action={"query": "x"}),
        codex("response_item", 7, type="local_shell_call", call_id="l", action={"command": ["ls"]}, status="completed"),
        codex_output(8, "l", "a.py"),
    )
    assert [(use.tool, use.action, use.outcome) for use in uses(events)] == [
        ("apply_patch", "file_edit", "failure"),
        ("mcp__db__query", "search", "failure"),
        ("web_search_call", "search", "success"),
        ("local_shell_call", "search", "success"),
    ]


def test_tokens_are_the_difference_of_running_totals() -> None:
    """Told twice they count once; cached tokens are part of those sent; a total that falls starts again."""
    last = {"last_token_usage": {"input_tokens": 900}, "model_context_window": 272_000}
    events = _read(
        codex_meta(0),
        codex("turn_context", 1, model="gpt-5-codex"),
        codex("event_msg", 1, type="token_count", info=None),
        codex_tokens(2, 1000, 400, 50),
        codex_tokens(3, 1000, 400, 50),
        codex_tokens(4, 3000, 1400, 80, **last),
        codex_tokens(5, 200, 100, 10),
    )
    turns = [event for event in events if isinstance(event, Turn)]
    assert [(turn.input_tokens, turn.cache_read, turn.output_tokens) for turn in turns] == [
        (600, 400, 50),
        (1000, 1000, 30),
        (100, 100, 10),
    ]
    assert [(turn.context_tokens, turn.context_window) for turn in turns] == [
        (1000, 272_000),
        (900, 272_000),
        (200, 272_000),
    ]
    assert all(turn.cost is not None and turn.cost > 0 for turn in turns)


def test_prompts_come_from_the_person_once() -> None:
    """The same words stand in two lines; what the program adds is none of them."""
    message = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]}
    events = _read(
        codex_meta(0),
        codex("response_item", 1, **message),
        codex("event_msg", 1, type="user_message", message="hello"),
        codex("event_msg", 2, type="user_message", message="<environment_context>"),
        codex("event_msg", 3, type="agent_message", message="hi"),
        codex("event_msg", 4, type="turn_aborted", reason="interrupted"),
        codex("event_msg", 5, type="turn_aborted", reason="replaced"),
    )
    assert [(event.characters, event.interrupt) for event in events if isinstance(event, Prompt)] == [
        (5, False),
        (0, True),
    ]


def test_compactions_leave_one_sign_or_two() -> None:
    """Both signs of one compaction are one."""
    events = _read(
        codex_meta(0),
        codex("compacted", 1, message=""),
        codex("event_msg", 1, type="context_compacted"),
        codex("compacted", 2, message=""),
        codex("compacted", 3, message=""),
        codex("event_msg", 3, type="context_compacted"),
        codex("event_msg", 4, type="context_compacted"),
    )
    assert sum(isinstance(event, Compaction) for event in events) == 4


@pytest.mark.parametrize(
    ("head", "sure"),
    [
        (codex_meta(0), 100),
        ({"record_type": "state"}, 90),
        ({"id": "x", "timestamp": "y", "instructions": None}, 60),
        ({"type": "user", "sessionId": "s"}, 0),
    ],
)
def test_recognised_by_content(head: dict[str, Any], sure: int) -> None:
    """Whatever the file is called."""
    assert FORMATS[0].sniff(Sample(json.dumps(head).encode(), Path("x.txt"))) == sure


def test_faults_are_counted() -> None:
    """What is wrong costs only itself."""
    kit = new_kit()
    lines = [
        codex_meta(0),
        {"type": "event_msg", "payload": 3},
        b"{half",
        codex("event_msg", 1, type="token_count", info=[]),
    ]
    rest = [codex_output(2, "lost", "x"), codex_call(3, "c", "shell", {"command": "make"}), codex_output(4, "c", "ok")]
    assert [use.id for use in uses(feed(Codex(kit), [*lines, *rest]))] == ["c"]
    assert kit.diagnostics.counts == {
        "payload is not an object": 1,
        "not JSON": 1,
        "info is not an object": 1,
        "result without a call": 1,
    }


def _item(second: int, kind: str, **fields: Any) -> dict[str, Any]:
    return codex("event_msg", second, type="item_completed", item={"type": kind, **fields})


def _said(second: int, text: str) -> dict[str, Any]:
    return _item(second, "UserMessage", id="x", content=[{"type": "text", "text": text, "text_elements": []}])


def _record(second: int, sent: int, answered: int, **more: int) -> dict[str, Any]:
    usage = {"input_tokens": sent, "output_tokens": answered, **more}
    return codex("token_usage_record", second, response_id=f"r{second}", usage=usage)


def _message(second: int, role: str, text: str) -> dict[str, Any]:
    said = [{"type": "input_text", "text": text}]
    return codex("response_item", second, type="message", role=role, content=said)


def test_prompts_of_newer_logs_are_completed_items() -> None:
    """What hooks and the program put in, as developer or in the person's name, is not the person's."""
    events = _read(
        codex_meta(0),
        _message(1, "developer", "A hook says hello."),
        _message(1, "user", "<environment_context> x"),
        codex("world_state", 1, full=True, state={}),
        _message(2, "user", "make it work"),
        _said(2, "make it work"),
        _said(3, "<environment_context> x"),
        _item(4, "AgentMessage", id="m", content=[{"type": "Text", "text": "It works."}]),
        _said(5, "make it work"),
    )
    prompts = [event for event in events if isinstance(event, Prompt)]
    assert [(event.at - events[0].at, event.characters) for event in prompts] == [(2.0, 12), (5.0, 12)]


def test_a_prompt_told_by_two_signs_is_one() -> None:
    """Whichever comes first; said again, it is another."""
    old = [codex("event_msg", second, type="user_message", message="go") for second in (1, 3)]
    for first, second in ((old[0], _said(1, "go")), (_said(1, "go"), old[0])):
        events = _read(codex_meta(0), first, second, old[1], _said(3, "go"))
        assert sum(isinstance(event, Prompt) for event in events) == 2


def test_usage_records_and_totals_are_one_turn() -> None:
    """A record for each answer; the running totals beside it add nothing but the window."""
    events = _read(
        codex_meta(0),
        codex("event_msg", 0, type="task_started", model_context_window=258_400),
        codex("event_msg", 0, type="thread_settings_applied", thread_settings={"model": "gpt-5.5"}),
        _record(1, 1200, 20, cached_input_tokens=200, cache_write_input_tokens=100),
        codex_tokens(1, 1200, 200, 20),
        _record(2, 1500, 30),
        codex_tokens(2, 2700, 200, 50),
        codex_tokens(3, 9999, 200, 50),
    )
    turns = [event for event in events if isinstance(event, Turn)]
    assert [
        (turn.input_tokens, turn.cache_read, turn.cache_write, turn.output_tokens, turn.context_tokens)
        for turn in turns
    ] == [(900, 200, 100, 20, 1200), (1500, 0, 0, 30, 1500)]
    assert [turn.id for turn in turns] == ["r1", "r2"]
    assert {(turn.model, turn.context_window) for turn in turns} == {("gpt-5.5", 258_400)}
    assert turns[0].cost is not None


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"status": "failed", "exit_code": 2}, ("failure", 2)),
        ({"status": "completed", "exit_code": 0}, ("success", 0)),
        ({"status": "failed"}, ("failure", None)),
        ({"status": "declined"}, ("rejected", None)),
    ],
)
def test_a_completed_item_tells_how_its_call_ended(fields: dict[str, Any], found: Any) -> None:
    """The item comes before the output, whose text need not say."""
    events = _read(
        codex_meta(0),
        codex_call(1, "c", "exec_command", {"cmd": "make"}),
        _item(2, "CommandExecution", id="c", **fields),
        codex_output(2, "c", "words"),
    )
    assert [(use.outcome, use.exit_code) for use in uses(events)] == [found]


def test_a_compaction_of_newer_logs_is_one() -> None:
    """A line and a completed item."""
    events = _read(codex_meta(0), codex("compacted", 1, message="x"), _item(1, "ContextCompaction", id="y"))
    assert sum(isinstance(event, Compaction) for event in events) == 1


_HEAD = "Script completed\nWall time 1 seconds\nOutput:\n"
_TWO = 'const a = await tools.exec_command({cmd:"cat a.py"}); await tools.exec_command({cmd:"npm test"})'


@pytest.mark.parametrize(
    ("printed", "between", "outcome", "exit_code"),
    [
        ('{"chunk_id":"x","exit_code": 0,"output":"ok"}', [], "success", 0),
        ('{"exit_code": 0}\n{"exit_code": 2,"output":"no"}', [], "failure", 2),
        ('{"exit_code": 1,"output":"1 failed"}', [], "failure", 1),
        ("all is well", [], "success", None),
        ("ok", [{"type": "patch_apply_end", "call_id": "exec-1", "success": False}], "failure", None),
        (
            "ok",
            [
                {"type": "item_completed", "item": {"type": "CommandExecution", "id": "i1", "exit_code": 0}},
                {"type": "item_completed", "item": {"type": "CommandExecution", "id": "i2", "exit_code": 3}},
                {"type": "item_completed", "item": {"type": "CommandExecution", "id": "i3", "exit_code": 0}},
            ],
            "failure",
            3,
        ),
    ],
)
def test_a_script_ends_as_its_inner_commands_do(
    printed: str, between: list[dict[str, Any]], outcome: str, exit_code: int | None
) -> None:
    asked = codex("response_item", 1, type="custom_tool_call", name="exec", input=_TWO, call_id="c")
    output = [{"type": "input_text", "text": "Script completed\nWall time 1 seconds\nOutput:\n"}]
    output += [{"type": "input_text", "text": printed}]
    done = codex("response_item", 9, type="custom_tool_call_output", call_id="c", output=output)
    events = [codex("event_msg", 2, **event) for event in between]
    (use,) = uses(_read(codex_meta(0), asked, *events, done))
    assert (use.program, use.purpose, use.outcome, use.exit_code) == ("npm", "test", outcome, exit_code)


def test_a_search_in_a_script_that_prints_nothing_found_is_empty() -> None:
    asked = codex(
        "response_item", 1, type="custom_tool_call", name="exec", call_id="c", input='tools.exec_command({cmd:"rg x"})'
    )
    done = codex(
        "response_item", 2, type="custom_tool_call_output", call_id="c", output=f'{_HEAD}{{"exit_code":1,"output":""}}'
    )
    (use,) = uses(_read(codex_meta(0), asked, done))
    assert (use.action, use.outcome, use.exit_code) == ("search", "empty", 1)


_SEARCHES = 'await Promise.all([tools.exec_command({cmd:"rg x"}), tools.exec_command({cmd:"npm test"})])'


@pytest.mark.parametrize(
    ("codes", "outcome", "exit_code"),
    [
        (((1, ""), (0, "ok")), "success", 0),
        (((1, "rg: bad pattern"), (0, "ok")), "failure", 1),
        (((2, ""), (0, "ok")), "failure", 2),
        (((0, "x"), (1, "")), "failure", 1),
        (((1, ""), (3, "no")), "failure", 3),
    ],
)
@pytest.mark.parametrize("printed", [True, False])
def test_a_search_that_finds_nothing_does_not_fail_the_script_around_it(
    printed: bool, codes: tuple[tuple[int, str], ...], outcome: str, exit_code: int
) -> None:
    """Whether the script prints the exit codes, or completed items have them."""
    commands = ["rg x", "npm test"]
    results = [json.dumps({"chunk_id": "x", "exit_code": code, "output": output}) for code, output in codes]
    items = [
        {
            "type": "CommandExecution",
            "id": f"i{number}",
            "command": ["bash", "-lc", command],
            "exit_code": code,
            "aggregated_output": output,
        }
        for number, (command, (code, output)) in enumerate(zip(commands, codes, strict=True))
    ]
    body = [{"type": "input_text", "text": text} for text in (_HEAD, *(results if printed else ["done"]))]
    (use,) = uses(
        _read(
            codex_meta(0),
            codex("response_item", 1, type="custom_tool_call", name="exec", call_id="c", input=_SEARCHES),
            *([] if printed else [codex("event_msg", 2, type="item_completed", item=item) for item in items]),
            codex("response_item", 3, type="custom_tool_call_output", call_id="c", output=body),
        )
    )
    assert (use.outcome, use.exit_code) == (outcome, exit_code)


def test_the_end_of_a_running_script_is_read_like_a_scripts() -> None:
    asked = codex("response_item", 1, type="custom_tool_call", name="exec", call_id="c", input=_TWO)
    runs = "Script running with cell ID 7\nWall time 1 seconds\nOutput:\n"
    waits = codex("response_item", 3, type="function_call", name="wait", call_id="w", arguments='{"cell_id":"7"}')
    lines = [asked, codex("response_item", 2, type="custom_tool_call_output", call_id="c", output=runs), waits]
    done = codex(
        "response_item", 4, type="function_call_output", call_id="w", output=f'{_HEAD}{{"exit_code":3,"output":"no"}}'
    )
    assert [(use.program, use.outcome, use.exit_code) for use in uses(_read(codex_meta(0), *lines, done))] == [
        ("npm", "pending", None),
        ("npm", "failure", 3),
    ]


def test_activity_of_sub_agents_searches_and_new_kinds() -> None:
    reader = Codex(new_kit(), session="file")
    lines = [
        codex_meta(0),
        codex("turn_context", 1, model="gpt-5.2"),
        *(
            {
                "timestamp": stamp(second),
                "type": "event_msg",
                "payload": {"type": "sub_agent_activity", "agent_thread_id": "t", "kind": kind},
            }
            for second, kind in enumerate(("started", "interacted", "interrupted"), 2)
        ),
        codex("event_msg", 5, type="thread_rolled_back", num_turns=1),
        codex("world_state", 6, full=True, state={}),
        codex("response_item", 7, type="web_search_call", id="w", status="completed", action={}),
        codex_tokens(8, 1000, 0, 10),
        codex("event_msg", 9, type="telepathy"),
        codex("response_item", 10, type="mind_reading"),
        codex("brainwave", 11),
    ]
    events = feed(reader, lines)
    assert [type(event).__name__ for event in events if "Agent" in type(event).__name__] == ["AgentStart", "AgentEnd"]
    assert [event.outcome for event in events if isinstance(event, AgentEnd)] == ["rejected"]
    (turn,) = [event for event in events if isinstance(event, Turn)]
    plain = reader.kit.models.cost("gpt-5.2", 1000, 10)
    assert plain is not None and turn.cost == pytest.approx(plain + 0.01)
    kinds = [kind for _, _, kind in reader.kit.diagnostics.skipped]
    assert kinds == ["event_msg/telepathy", "response_item/mind_reading", "brainwave"]
    assert reader.kit.diagnostics.total == 0


@pytest.mark.parametrize("kind", [[], {}, 7, None])
def test_a_kind_that_is_not_a_text_is_counted(kind: Any) -> None:
    reader = Codex(new_kit(), session="file")
    feed(reader, [codex_meta(0), {"timestamp": stamp(1), "type": kind, "payload": {}}])
    assert len(reader.kit.diagnostics.skipped) == 1
