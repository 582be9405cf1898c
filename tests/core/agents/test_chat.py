"""Chat-completions messages, however a harness saved them."""

from __future__ import annotations

from typing import Any

import pytest

from core.agents.chat import ChatReader
from core.agents.reader import STEP
from core.events import Prompt, SessionStart, Turn
from tests.core.agents.reading_more import kinds, new_kit, read, uses
from tests.core.agents.samples_rest import CHAT, chat_call, chat_result


def _said(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def test_the_same_conversation_as_lines_document_and_list() -> None:
    told = [*CHAT.entries, *CHAT.tail]
    lines, document, listed = (read(ChatReader, told), read(ChatReader, [{"messages": told}]), read(ChatReader, [told]))
    assert kinds(lines) == kinds(document) == kinds(listed)
    assert [(use.tool, use.outcome, use.exit_code) for use in uses(document)] == [
        ("execute_bash", "failure", 2),
        ("execute_bash", "success", 0),
        ("finish", "pending", None),
        ("tailtool", "success", None),
    ]
    assert [use.at for use in uses(lines)] == [STEP, 2 * STEP, 3 * STEP, 4 * STEP]


def test_runs_on_lines_are_sessions_with_their_own_times() -> None:
    messages = [_said("user", "Go."), chat_call("c1", "execute_bash", {"command": "ls"}), chat_result("c1", "a")]
    runs = [
        {"run": f"r{n}", "model": "m", "resolved": True, "times": [1000.5 * n], "messages": messages} for n in (1, 2)
    ]
    events = read(ChatReader, runs)
    starts = [event for event in events if isinstance(event, SessionStart)]
    assert [(event.session, event.model, event.at, event.synthetic_time) for event in starts] == [
        ("r1", "m", 1000.5, False),
        ("r2", "m", 2001.0, False),
    ]
    assert [(use.at, use.duration) for use in uses(events)] == [(1000.5, None), (2001.0, None)]
    assert all(turn.model == "m" for turn in events if isinstance(turn, Turn))


def test_calls_in_the_text() -> None:
    call = (
        "I edit.\n<function=str_replace_editor>\n<parameter=command>str_replace</parameter>\n"
        "<parameter=path>/w/a.py</parameter>\n<parameter=old_str>\nx = 1\n</parameter>\n"
        "<parameter=new_str>\nx = 2\n</parameter>\n</function>"
    )
    answer = _said("user", "EXECUTION RESULT of [str_replace_editor]:\nThe file /w/a.py has been edited.")
    (use,) = uses(read(ChatReader, [[_said("assistant", call), answer]]))
    assert (use.tool, use.action, use.targets, use.outcome) == (
        "str_replace_editor",
        "file_edit",
        ("/w/a.py",),
        "success",
    )
    assert 0 != use.before != use.after != 0


def test_an_answer_whose_call_was_cut_from_the_text_still_counts() -> None:
    told = [
        _said("assistant", "I <function=execu\n[... cut ...]"),
        _said("user", "EXECUTION RESULT of [execute_bash]:\nERROR: no"),
    ]
    (use,) = uses(read(ChatReader, [told]))
    assert (use.tool, use.outcome) == ("execute_bash", "failure")


def test_a_call_given_up_is_not_answered_by_a_later_result() -> None:
    call = "<function=execute_bash>\n<parameter=command>{}</parameter>\n</function>"
    told = [
        _said("assistant", call.format("make")),
        _said("user", "Please continue."),
        _said("assistant", call.format("ls")),
        _said("user", "EXECUTION RESULT of [execute_bash]:\na.py"),
    ]
    events = read(ChatReader, [told])
    assert [(use.program, use.outcome) for use in uses(events)] == [("make", "pending"), ("ls", "success")]
    assert kinds(events).count("Prompt") == 1


def test_a_refused_call_is_a_failure_and_no_prompt() -> None:
    said = "Missing required parameters for function 'execute_bash'\n[Error occurred in processing last action]"
    events = read(ChatReader, [[_said("user", said)]])
    assert kinds(events) == ["SessionStart", "ToolUse"]
    assert (uses(events)[0].tool, uses(events)[0].outcome) == ("execute_bash", "failure")


@pytest.mark.parametrize(
    ("told", "outcome", "code"),
    [
        ("fine\n[Command finished with exit code 0]", "success", 0),
        ("boom\n[Python Interpreter: /p]\n[Command finished with exit code 127]", "failure", 127),
        ("\n[The command completed with exit code 0.]\n[Command finished with exit code 0]", "empty", 0),
        ("half\n[Command finished with exit code -1]", "pending", None),
        ("ERROR:\nNo replacement was performed", "failure", None),
        ("Traceback (most recent call last):\n x", "failure", None),
        ("<returncode>3</returncode>", "failure", 3),
        ("The function exited early", "success", None),
    ],
)
def test_outcomes(told: str, outcome: str, code: int | None) -> None:
    (use,) = uses(read(ChatReader, [[chat_call("c", "execute_bash", {"command": "make"}), chat_result("c", told)]]))
    assert (use.outcome, use.exit_code) == (outcome, code)


def test_a_search_that_found_nothing_is_empty() -> None:
    told = "\n[Command finished with exit code 1]"
    call = chat_call("c", "execute_bash", {"command": "grep x a.py"})
    assert uses(read(ChatReader, [[call, chat_result("c", told)]]))[0].outcome == "empty"


def test_several_calls_of_one_answer_are_paired_by_id() -> None:
    calls = [chat_call(name, "execute_bash", {"command": name})["tool_calls"][0] for name in ("a", "b")]
    told = [_said("assistant", None, tool_calls=calls), chat_result("b", "x"), chat_result("a", "y")]
    assert [(use.id, use.program) for use in uses(read(ChatReader, [told]))] == [("b", "b"), ("a", "a")]


def test_content_parts_and_the_older_function_call() -> None:
    parts = [{"type": "tool_use", "id": "c1", "name": "read_file", "input": {"path": "a"}}]
    result = [
        {"type": "tool_result", "tool_use_id": "c1", "content": "no", "is_error": True},
        {"type": "text", "text": "Hm"},
    ]
    legacy = {"role": "assistant", "content": "", "function_call": {"name": "read_file", "arguments": '{"path": "b"}'}}
    told = [
        _said("assistant", parts),
        _said("user", result),
        legacy,
        {"role": "function", "name": "read_file", "content": "x"},
    ]
    events = read(ChatReader, [told])
    assert [(use.targets, use.outcome) for use in uses(events)] == [(("a",), "failure"), (("b",), "success")]
    assert [event.characters for event in events if isinstance(event, Prompt)] == [2]


def test_own_times_and_usage_of_messages() -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 40}}
    call = chat_call("c", "execute_bash", {"command": "ls"}) | {"timestamp": 50.0, "usage": usage, "model": "gpt-5"}
    events = read(ChatReader, [call, chat_result("c", "a") | {"timestamp": 53.0}])
    start, turn, _ = events
    assert isinstance(start, SessionStart)
    assert not start.synthetic_time
    assert isinstance(turn, Turn)
    assert (turn.input_tokens, turn.cache_read, turn.context_tokens) == (60, 40, 100)
    assert uses(events)[0].duration == 3.0


def test_counted_faults() -> None:
    kit = new_kit()
    read(ChatReader, [{"x": 1}, _said("narrator", "x"), chat_result("nobody", "x")], kit)
    assert kit.diagnostics.counts == {"neither a message nor a run": 1, "result without a call": 1}
