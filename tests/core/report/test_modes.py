"""What an agent may do without asking: read from the log, and said in words where it matters."""

from __future__ import annotations

from typing import Any

import pytest

from core.agents.claude_code.reader import ClaudeCode
from core.agents.codex.reader import Codex
from core.agents.words import NOTHING
from core.events import Event, Prompt, SessionStart, Turn
from core.report.event_words import BYPASSES, MARKS, about, mode_words
from core.report.now import Landmarks, Teller, now_lines
from core.report.story import story
from tests.core.agents.samples import claude, codex, codex_meta, feed, new_kit


def _modes(events: list[Event]) -> list[str]:
    return [event.mode for event in events if isinstance(event, Prompt | Turn)]


def _claude(*lines: Any, agent: str = "main") -> list[Event]:
    reader = ClaudeCode(new_kit(), agent=agent, session="file")
    return [*feed(reader, lines), *reader.finish()]


def _asked(second: int, **fields: Any) -> dict[str, Any]:
    return claude("user", second, message={"role": "user", "content": f"do {second}"}, **fields)


def _answered(second: int) -> dict[str, Any]:
    usage = {"input_tokens": 9, "output_tokens": 9}
    message = {"id": f"m{second}", "model": "claude-opus-4-8", "usage": usage, "stop_reason": "end_turn"}
    return claude("assistant", second, message={**message, "content": [{"type": "text", "text": "done"}]})


def _changed(mode: Any) -> dict[str, Any]:
    """The record of Claude Code, which has neither an id nor a time."""
    return {"type": "permission-mode", "permissionMode": mode, "sessionId": "s1"}


def test_modes_of_claude_code() -> None:
    lines = [_changed("default"), _asked(1, permissionMode="plan"), _answered(2), _changed("acceptEdits"), _answered(3)]
    events = _claude(*lines, _asked(4, permissionMode="bypassPermissions"), _answered(5))
    assert _modes(events) == ["plan", "plan", "acceptEdits", "bypassPermissions", "bypassPermissions"]
    assert events[0].at == events[1].at, "the record without a time moves no clock"


@pytest.mark.parametrize("mode", [None, 7, [], {}, ""])
def test_a_mode_that_is_none_changes_nothing(mode: Any) -> None:
    lines = [_asked(1, permissionMode="plan"), _changed(mode), _asked(2, permissionMode=mode), _asked(3)]
    assert _modes(_claude(*lines)) == ["plan", "plan", "plan"]


@pytest.mark.parametrize(("kind", "words"), [("bg", "in the background"), ("", ""), (7, ""), (None, "")])
def test_a_session_in_the_background_is_named(kind: Any, words: str) -> None:
    start = next(one for one in _claude(_asked(1, sessionKind=kind)) if isinstance(one, SessionStart))
    assert (start.background, about(start)) == (bool(words), (words, start.project))


def test_the_mode_of_a_side_chain_is_not_the_sessions() -> None:
    lines = [_asked(1, permissionMode="plan"), _asked(2, isSidechain=True, permissionMode="bypassPermissions")]
    assert _modes(_claude(*lines, _asked(3)))[-1] == "plan"


def _turn_context(second: int, **settings: Any) -> dict[str, Any]:
    return codex("turn_context", second, model="gpt-5.5", **settings)


@pytest.mark.parametrize(
    ("settings", "mode", "words"),
    [
        ({"approval_policy": "on-request", "sandbox_policy": {"type": "workspace-write"}}, None, ""),
        ({"approval_policy": "never", "sandbox_policy": {"mode": "danger-full-access"}}, None, BYPASSES),
        (
            {"approval_policy": "never", "permission_profile": {"type": "disabled"}},
            "never danger-full-access",
            BYPASSES,
        ),
        ({"approval_policy": "on-request", "permission_profile": {"type": "managed"}}, "on-request", ""),
        ({"approval_policy": "never", "sandbox_policy": {"type": "workspace-write"}}, None, "never asks"),
        ({"approval_policy": "untrusted", "sandbox_policy": {"type": "read-only"}}, None, "read only"),
        ({"approval_policy": "never", "collaboration_mode": {"mode": "plan"}}, "plan", "plan mode"),
        ({"approval_policy": {"granular": {}}, "sandbox_policy": "x"}, "", ""),
        ({}, "", ""),
    ],
)
def test_modes_of_codex(settings: dict[str, Any], mode: str | None, words: str) -> None:
    lines = [codex_meta(0), _turn_context(1, **settings), codex("event_msg", 2, type="user_message", message="go")]
    (found,) = _modes(feed(Codex(new_kit(), session="file"), lines))
    if mode is None:
        mode = f"{settings['approval_policy']} {next(iter(settings['sandbox_policy'].values()))}"
    assert (found, mode_words(found)) == (mode, words)


def test_settings_that_are_changed_between_turns_count() -> None:
    changed = {"approval_policy": "never", "permission_profile": {"type": "disabled"}, "model": "gpt-5.5"}
    lines = [
        codex_meta(0),
        _turn_context(1, approval_policy="on-request"),
        codex("event_msg", 2, type="user_message", message="go"),
        codex("event_msg", 3, type="thread_settings_applied", thread_settings=changed),
        codex("event_msg", 4, type="user_message", message="go on"),
        codex("event_msg", 5, type="task_started"),
        codex("event_msg", 6, type="user_message", message="and on"),
    ]
    assert [mode_words(mode) for mode in _modes(feed(Codex(new_kit(), session="file"), lines))] == [
        "",
        BYPASSES,
        BYPASSES,
    ]


def test_a_mode_without_words_is_shown_as_it_is() -> None:
    assert mode_words("hyperdrive") == "hyperdrive"
    assert mode_words("\x1b[31mred" + "x" * 99).isprintable() and len(mode_words("x" * 99)) <= 40
    assert mode_words("") == ""
    assert BYPASSES in MARKS["mode"].values()


def test_the_mode_of_a_place_is_that_of_the_last_prompt_or_answer() -> None:
    events: list[Event] = [
        Prompt(at=1.0, characters=1, mode="plan"),
        Turn(at=2.0, mode="plan"),
        Turn(at=3.0, mode="acceptEdits"),
        Turn(at=4.0),
        Prompt(at=5.0, characters=1, mode="default"),
        Prompt(at=6.0, characters=1, mode="bypassPermissions", agent="other"),
    ]
    teller, marks = Teller(lambda _: NOTHING), Landmarks(events)
    modes = [teller.now(marks, index).mode for index in range(len(events) + 1)]
    assert modes == ["", "plan mode", "plan mode", "accepts edits", "accepts edits", "", ""]
    open_turn = Turn(at=7.0, mode="bypassPermissions")
    now = teller.now(marks, len(events), [open_turn])
    assert now.mode == BYPASSES and f"mode    {BYPASSES}" in now_lines(now, 7.0)


def test_a_recap_says_where_the_mode_changes() -> None:
    modes = ("default", "plan", "plan", "bypassPermissions", "default", "")
    events: list[Event] = [Prompt(at=at, characters=3, mode=mode) for at, mode in enumerate(modes)]
    ends = [line.partition("characters")[2] for line in story(events, read=lambda _: NOTHING).asked]
    assert ends == ["", " (plan mode)", "", f" ({BYPASSES})", " (asks as usual)", ""]
