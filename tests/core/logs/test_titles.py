"""A session is named by the title its log keeps, else by what was asked first; safe to show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.agents.claude_code.reader import claude_title
from core.agents.registry import AGENTS, make_kit
from core.logs.discovery import describe_sessions, find
from core.logs.finder import sessions
from core.logs.glimpse import LONGEST, read_title, title_of
from tests.core.logs import log_lines as logs

CUSTOM = {"type": "custom-title", "customTitle": "The gate", "sessionId": "s-1"}
MADE = {"type": "ai-title", "aiTitle": "Repair a gate", "sessionId": "s-1"}
SUMMARY = {"type": "summary", "summary": "Gate repaired", "leafUuid": "u1"}
LAST = {"type": "last-prompt", "lastPrompt": "and now the fence", "sessionId": "s-1"}


def lines(*records: Any) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


@pytest.mark.parametrize(
    ("records", "title"),
    [
        ([CUSTOM, MADE, SUMMARY, LAST], "The gate"),
        ([LAST, SUMMARY, MADE], "Repair a gate"),
        ([LAST, SUMMARY], "Gate repaired"),
        ([LAST], "and now the fence"),
        ([CUSTOM, {**CUSTOM, "customTitle": "Another"}], "Another"),
        ([{**CUSTOM, "customTitle": "  "}], "go on"),
        ([{**CUSTOM, "customTitle": 5}], "go on"),
        ([], "go on"),
    ],
)
def test_the_highest_title_wins_and_the_last_of_equals(records: list[Any], title: str) -> None:
    assert read_title(logs.prompt(1) + lines(*records), b"", claude_title) == title
    assert read_title(logs.prompt(1), lines(*records), claude_title) == title


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("\n\n  repair it\nand more", "repair it"),
        ("<system-reminder>x</system-reminder>", ""),
        ("<task>mend the mill</task><environment_details>", "mend the mill"),
        ("# Context from my IDE setup:\n## My request for Codex:\nmend", "mend"),
        ("Caveat: the messages below", ""),
        ("# Task: mend it", "Task: mend it"),
        ("#12 is broken", "#12 is broken"),
        ("red \x1b[31m and [b]bold[/b]", "red  and [b]bold[/b]"),
        ("\x1b[0m\n\x1b[1;38:5:9mmend\x9b0m it\x1b[31", "mend it [31"),
        ("\x1b[[b]odd", "[[b]odd"),
        ("key sk-ant-\x1b[1mapi03-" + "A1b2" * 20, None),
        ("key sk-ant-" + "api03-" + "A1b2" * 20, None),
        ("x" * 500, "x" * LONGEST),
    ],
)
def test_the_first_prompt_names_a_session_without_a_title(said: str, title: str | None) -> None:
    found = read_title(logs.prompt(1, said), b"", claude_title)
    if title is None:
        assert "A1b2A1b2" not in found
        assert found.startswith("key ")
    else:
        assert found == title


@pytest.mark.parametrize(
    "record",
    [
        {"role": "user", "content": "mend"},
        {"type": "event_msg", "payload": {"type": "user_message", "message": "mend"}},
        {"type": "message", "message": {"role": "user", "content": [{"type": "text", "text": "mend"}]}},
        {"type": "user.message", "data": {"content": "mend"}},
        {"source": "user", "action": "message", "args": {"content": "mend"}},
        {"type": "user", "message": {"role": "user", "parts": [{"text": "mend"}]}},
        {"step_index": 0, "type": "USER_INPUT", "content": "<USER_REQUEST>\nmend\n</USER_REQUEST>"},
        {"role": "user", "message": {"content": [{"type": "text", "text": "<user_query>mend</user_query>"}]}},
        {"info": {"role": "user"}, "parts": [{"type": "text", "text": "mend"}]},
        {"messages": [{"role": "system", "content": "be"}, {"role": "user", "content": "mend"}]},
    ],
)
def test_every_agents_first_prompt_is_found(record: dict[str, Any]) -> None:
    assert read_title(lines(record), b"", None) == "mend"


def test_what_others_say_is_no_prompt() -> None:
    said = lines(
        {"role": "assistant", "content": "done"},
        {"type": "user", "isMeta": True, "message": {"role": "user", "content": "told"}},
        {"type": "user", "subtype": "cron", "message": {"role": "user", "parts": [{"text": "told"}]}},
        {"role": "user", "content": [{"type": "tool_result", "content": "ran"}]},
    )
    assert read_title(said, b"", None) == ""


def test_a_title_amid_a_log_is_found_in_lists_and_when_it_is_opened(tmp_path: Path) -> None:
    path = tmp_path / ".claude/projects/p/s-1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(logs.session(60) + lines(CUSTOM) + logs.session(60, first=500))
    [one] = find(AGENTS, {}, tmp_path)
    assert one.title == "The gate"
    [session] = sessions([path], make_kit())
    assert title_of(session) == "The gate"
    path.unlink()
    assert title_of(session) == ""


def test_real_sessions_have_titles(shared_data: Path) -> None:
    found = describe_sessions(AGENTS, sessions([shared_data / "real_sessions"], make_kit()), 2e9)
    named = {one.session: one.title for one in found}
    assert named["c0fff321-13d9-40df-a7e8-0ec69ff04b78"] == "PowerShell streaming speed regression"
    assert named["019dd4b9-496d-7581-a780-16f20aecff69"] == "Fix issue 6"
    spoken = [one for one in found if one.agent in ("claude-code", "codex", "pi", "copilot-cli", "opencode")]
    assert sum(not one.title for one in spoken) <= 1
    assert not any("\x1b" in one.title or "\n" in one.title for one in found)


_JUNK = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.text(max_size=6)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["type", "role", "message", "content", "text", "info", "say", "payload", "parts"]),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)


@given(values=st.lists(_JUNK, max_size=4), cut=st.integers(0, 200))
def test_whatever_a_log_holds_gives_a_title_or_none(values: list[Any], cut: int) -> None:
    data = lines(*values, {"type": "custom-title", "customTitle": "The gate"})
    assert read_title(data, b"", claude_title) == "The gate"
    for known in AGENTS:
        for each in known.formats:
            assert isinstance(read_title(data[cut:], data[:cut], each.titles), str)
            assert "\n" not in read_title(lines(*values), b"", each.titles)


@pytest.mark.parametrize(
    ("prompts", "title"),
    [
        (("/mode", "fix the mill"), "fix the mill"),
        (("/mode",), "/mode"),
        (("/review the parser", "more"), "/review the parser"),
        (("/home/ada/mill is broken", "more"), "/home/ada/mill is broken"),
    ],
)
def test_a_bare_command_does_not_name_a_session(prompts: tuple[str, ...], title: str) -> None:
    lines = [json.dumps({"type": "user", "message": {"role": "user", "content": said}}) for said in prompts]
    assert read_title("\n".join(lines).encode(), b"", None) == title
