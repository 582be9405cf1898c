"""Droid: messages that name their parents, results in the person's name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.agents.droid import DroidReader
from core.agents.registry import agent_named, make_kit
from core.events import Prompt, SessionStart, Turn
from core.logs.discovery import find
from core.logs.links import links
from tests.core.agents.reading_more import kinds, new_kit, read, uses
from tests.core.agents.samples_recent import DROID, droid_call, droid_message, droid_result

AGENT = agent_named("droid")


def test_the_story() -> None:
    kit = new_kit()
    events = read(DroidReader, DROID.records(DROID.entries), kit)
    assert kinds(events) == [
        *("SessionStart", "Prompt", "Turn", "ToolUse", "Turn", "ToolUse"),
        *("Compaction", "Turn", "ToolUse"),
    ]
    start = events[0]
    assert isinstance(start, SessionStart)
    assert (start.session, start.project, start.version) == ("s1", "/home/ada/mill", "0.9")
    assert start.at == events[1].at
    assert start.untold == ("tokens", "model", "cost")
    assert [(use.action, use.outcome, use.exit_code) for use in uses(events)] == [
        ("shell_exec", "failure", 2),
        ("file_read", "success", None),
        ("other", "success", None),
    ]
    assert uses(events)[1].targets == ("a.c",)
    assert [event.characters for event in events if isinstance(event, Prompt)] == [len("Fix the mill.")]
    assert {event.cost for event in events if isinstance(event, Turn)} == {None}
    assert kit.diagnostics.total == 0


def test_what_the_program_says_is_no_prompt() -> None:
    reminder = {"type": "text", "text": "  <system-reminder>todo</system-reminder>"}
    assert kinds(read(DroidReader, [droid_message(1, "user", reminder)])) == ["SessionStart"]
    plain = {**droid_message(1, "user"), "message": {"role": "user", "content": "Fix it."}}
    assert kinds(read(DroidReader, [plain])) == ["SessionStart", "Prompt"]


def test_a_session_without_messages_begins() -> None:
    assert kinds(read(DroidReader, DROID.entries[:1])) == ["SessionStart"]


def test_a_call_without_a_result_is_pending() -> None:
    events = read(DroidReader, [droid_message(1, "assistant", droid_call("c1", "Execute"))])
    assert [use.outcome for use in uses(events)] == ["pending"]


def test_a_refusal_is_no_failure() -> None:
    records = [
        droid_message(1, "assistant", droid_call("c1", "Execute")),
        droid_message(2, "user", droid_result("c1", "User rejected tool use", is_error=True)),
    ]
    assert [use.outcome for use in uses(read(DroidReader, records))] == ["rejected"]


def test_messages_hang_below_their_parents(tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    path.write_text("\n".join(json.dumps(entry) for entry in DROID.entries))
    found = list(links(path, make_kit()))
    assert [(one.id, one.parent) for one in found[:4]] == [("s1", None), ("m1", "s1"), ("m2", "m1"), ("m3", "m2")]
    assert (found[-1].kind, found[0].kind) == ("compaction", "start")


@pytest.mark.parametrize("place", ["-home-ada-mill/s1.jsonl", "s1.jsonl"])
def test_sessions_are_found_where_droid_keeps_them(tmp_path: Path, place: str) -> None:
    path = tmp_path / ".factory" / "sessions" / place
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(json.dumps(entry) for entry in DROID.entries))
    [found] = find((AGENT,), {}, tmp_path)
    assert (found.agent, found.session, found.project) == ("droid", "s1", "/home/ada/mill")
