"""What OpenHands says last, and how its turns end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.agents.openhands import OpenHandsFolderReader, OpenHandsReader
from core.agents.registry import make_kit
from core.agents.words import words_of
from core.events import Event, Prompt, Turn
from core.logs.finder import sessions
from core.logs.session import read_session
from core.report.story import Close, last_word
from core.settings import Settings
from tests.core.agents.reading_more import kinds, new_kit, read, uses
from tests.core.agents.samples_rest import (
    openhands_action,
    openhands_answer,
    openhands_call,
    openhands_file,
    openhands_result,
)

_FINAL = frozenset(Settings().response.notices.final)
_ASKED = openhands_action(1, "message", {"content": "Build a mill."}, "user")
_RUN = [openhands_action(2, "run", {"command": "make"}), openhands_result(3, 2, "run", "ok", exit_code=0)]
_GO = openhands_file(1, "MessageEvent", llm_message={"content": [{"type": "text", "text": "Go."}]})
_MADE = [openhands_call(2, "c1", "terminal", command="make"), openhands_answer(3, "c1", "ok", exit_code=0)]


def _says(number: int, text: str, *, waits: bool = True) -> dict[str, Any]:
    return openhands_action(number, "message", {"content": text, "wait_for_response": waits})


def _state(number: int, state: str, **more: Any) -> dict[str, Any]:
    return openhands_result(number, 0, "agent_state_changed", "", agent_state=state, **more)


def _status(number: int, status: str) -> dict[str, Any]:
    return openhands_file(number, "ConversationStateUpdateEvent", key="execution_status", value=status)


def _answered(number: int, text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
    return openhands_file(number, "MessageEvent", llm_message=message, llm_response_id="r9") | {"source": "agent"}


def _close(events: list[Event]) -> Close:
    return last_word(reversed(events), _FINAL).close


def _said(tmp_path: Path, name: str, content: str) -> list[str]:
    path = tmp_path / name
    path.write_text(content)
    kit = make_kit()
    [session] = sessions([path], kit)
    return [words_of(event).said for event in read_session(session, kit) if isinstance(event, Turn)]


@pytest.mark.parametrize(
    ("end", "close", "added"),
    [
        ([_says(4, "It turns. More?")], "done", ["Turn"]),
        ([_says(4, "It turns. More?"), _state(5, "awaiting_user_input")], "done", ["Turn"]),
        ([_says(4, "I go on.", waits=False)], "said", ["Turn"]),
        ([_says(4, "I go on.", waits=False), _state(5, "awaiting_user_input")], "done", ["Turn", "Turn"]),
        ([_state(4, "awaiting_user_input"), _state(5, "finished")], "done", ["Turn"]),
        ([_state(4, "running")], "tool", []),
        ([_state(4, "error", reason="no credit")], "failed", ["Turn"]),
        ([_state(4, "paused"), _state(5, "stopped")], "stopped", ["Prompt"]),
        ([openhands_action(4, "finish", {"thought": "Done."}), _state(5, "finished")], "ended", ["Turn", "SessionEnd"]),
    ],
)
def test_a_state_or_a_message_ends_the_turn(end: list[Any], close: Close, added: list[str]) -> None:
    """Once, however often the log tells it."""
    events = read(OpenHandsReader, [[_ASKED, *_RUN, *end]])
    assert _close(events) == close
    assert kinds(events)[3:] == added


def test_a_state_before_the_work_ends_nothing() -> None:
    """A new conversation waits for its first prompt, and takes that up a little later."""
    events = read(OpenHandsReader, [[_state(0, "awaiting_user_input"), _ASKED, _state(2, "awaiting_user_input")]])
    assert kinds(events) == ["SessionStart", "Prompt"]


def test_an_error_before_the_work_is_one() -> None:
    assert _close(read(OpenHandsReader, [[_ASKED, _state(2, "error")]])) == "failed"


def test_words_are_told_without_the_models_responses(tmp_path: Path) -> None:
    """Of an edit the words beside it, not the file; thoughts of their own are not said."""
    edit = {"path": "a.py", "content": "print(1)", "thought": "I write it."}
    steps = [
        _ASKED,
        openhands_action(2, "write", edit),
        openhands_action(3, "think", {"thought": "Hm."}),
        openhands_action(4, "run", {"command": "make", "thought": ""}),
        _says(5, "It turns. More?"),
        openhands_action(6, "finish", {"thought": "", "final_thought": "All done."}),
    ]
    assert _said(tmp_path, "log.json", json.dumps(steps)) == ["I write it.", "It turns. More?", "All done."]


def test_a_thought_is_not_said_though_a_response_counts_its_tokens(tmp_path: Path) -> None:
    think = openhands_action(2, "think", {"thought": "Hm."})
    think["tool_call_metadata"] = {"model_response": {"id": "r1", "usage": {"prompt_tokens": 9}}}
    assert _said(tmp_path, "log.json", json.dumps([_ASKED, think])) == [""]


def test_a_result_without_words_shows_none(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps([_ASKED, _RUN[0], openhands_result(3, 2, "run", "", exit_code=0)]))
    kit = make_kit()
    [session] = sessions([path], kit)
    assert [words_of(use).output for use in uses(list(read_session(session, kit)))] == [""]


def test_a_failed_state_says_why(tmp_path: Path) -> None:
    told = json.dumps([_ASKED, *_RUN, _state(4, "error", reason="no credit left")])
    assert _said(tmp_path, "log.json", told) == ["no credit left"]


@pytest.mark.parametrize(
    ("end", "close", "added"),
    [
        ([_answered(4, "It turns.")], "done", ["Turn"]),
        ([_answered(4, "It turns."), _status(5, "finished")], "done", ["Turn"]),
        ([_answered(4, "<think>Hm.</think>")], "said", ["Turn"]),
        ([openhands_call(4, "c2", "finish", message="Done."), openhands_answer(5, "c2", "")], "done", ["Turn"]),
        (
            [openhands_call(4, "c2", "finish", message="Done.") | {"llm_response_id": "r2"}, _status(5, "finished")],
            "done",
            ["Turn"],
        ),
        ([_status(4, "finished"), _status(5, "finished")], "done", ["Turn"]),
        ([_status(4, "running")], "tool", []),
        ([_status(4, "stuck")], "failed", ["Turn"]),
        ([openhands_file(4, "ConversationErrorEvent", code="x", detail="y"), _status(5, "error")], "failed", ["Turn"]),
        ([openhands_file(4, "PauseEvent"), _status(5, "paused")], "stopped", ["Prompt"]),
        (
            [openhands_file(4, "ConversationStateUpdateEvent", key="full_state", value={"execution_status": "error"})],
            "failed",
            ["Turn"],
        ),
    ],
)
def test_a_turn_of_a_folder_ends(end: list[Any], close: Close, added: list[str]) -> None:
    """By the agent's words, its finish, or what the program tells of the conversation."""
    kit = new_kit()
    events = read(OpenHandsFolderReader, [_GO, *_MADE, *end], kit)
    assert _close(events) == close
    assert kinds(events)[4:] == added
    assert [use.tool for use in uses(events)] == ["terminal"]
    assert kit.diagnostics.total == 0


def test_words_of_a_folder(tmp_path: Path) -> None:
    """With the tokens that were told before them, and without thoughts written out."""
    used = {"prompt_tokens": 100, "completion_tokens": 9}
    stats = {"usage_to_metrics": {"default": {"model_name": "gpt-5", "accumulated_token_usage": used}}}
    call = openhands_call(3, "c1", "terminal", command="make")
    call["thought"] = [{"type": "text", "text": "<think>Hm.</think>\n\nI make it."}]
    lines = [
        _GO,
        openhands_file(2, "ConversationStateUpdateEvent", key="stats", value=stats),
        call,
        openhands_answer(4, "c1", "ok", exit_code=0),
        openhands_call(5, "c2", "finish", message="It turns."),
        openhands_file(6, "ConversationErrorEvent", code="LLMError", detail="no credit left"),
    ]
    said = _said(tmp_path, "events.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    assert said == ["I make it.", "It turns.", "no credit left"]
    first, *_ = (event for event in read(OpenHandsFolderReader, lines) if isinstance(event, Turn))
    assert (first.output_tokens, first.model, first.said is not None) == (9, "gpt-5", True)


def test_a_finish_in_an_answer_with_other_calls_says_its_words(tmp_path: Path) -> None:
    """Once, and at no cost of its own."""
    finish = openhands_call(4, "c2", "finish", message="It turns.") | {"llm_response_id": "r2"}
    lines = [_GO, _MADE[0] | {"thought": [{"type": "text", "text": "I make it."}]}, finish, finish, _MADE[1]]
    told = "".join(json.dumps(line) + "\n" for line in lines)
    assert _said(tmp_path, "events.jsonl", told) == ["I make it.", "It turns."]
    turns = [event for event in read(OpenHandsFolderReader, lines) if isinstance(event, Turn)]
    assert [(turn.cost, turn.stop) for turn in turns] == [(None, ""), (0.0, "end_turn")]


def test_a_finish_that_could_not_be_called_ends_nothing() -> None:
    kit = new_kit()
    bad = openhands_call(4, "c2", "finish") | {"action": None}
    told = openhands_file(5, "AgentErrorEvent", tool_name="finish", tool_call_id="c2", error="no message")
    events = read(OpenHandsFolderReader, [_GO, *_MADE, bad, told], kit)
    assert [(use.tool, use.outcome) for use in uses(events)] == [("terminal", "success"), ("finish", "failure")]
    assert _close(events) == "tool"
    assert kit.diagnostics.total == 0


def test_a_prompt_keeps_all_that_the_person_wrote() -> None:
    said = {"content": [{"type": "text", "text": "<think>hard</think> please"}]}
    (prompt,) = (
        event
        for event in read(OpenHandsFolderReader, [openhands_file(1, "MessageEvent", llm_message=said)])
        if isinstance(event, Prompt)
    )
    assert prompt.characters == len("<think>hard</think> please")
