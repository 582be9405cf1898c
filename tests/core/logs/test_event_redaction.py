"""Secrets in names never leave the reading of a log, and other names stay the very same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.agents.registry import make_kit
from core.events import Advice, AgentStart, Compaction, Event, Prompt, SessionStart, ToolUse, Turn
from core.logs.finder import sessions
from core.logs.follow import Follower
from core.logs.redact.values import redact_event
from core.logs.session import read_session

SECRET = "ghp_" + "Ab3dEf" * 6


@pytest.mark.parametrize(
    "event",
    [
        ToolUse(at=1.0, tool="Read", targets=("src/a.py", f"/x/{SECRET}/b.py")),
        ToolUse(at=1.0, tool=f"mcp__{SECRET}"),
        ToolUse(at=1.0, program=SECRET),
        SessionStart(at=1.0, session="s", tool="x", project=f"/x/token={SECRET}"),
        SessionStart(at=1.0, session="s", tool="x", branch=f"fix-{SECRET}"),
        Turn(at=1.0, model=f"model-{SECRET}"),
        AgentStart(at=1.0, child="c", role=f"uses {SECRET}"),
        SessionStart(at=1.0, session="s", tool=f"x-{SECRET}"),
        SessionStart(at=1.0, session="s", tool="x", version=f"2.0-{SECRET}"),
        Compaction(at=1.0, trigger=f"auto-{SECRET}"),
        Prompt(at=1.0, agent=f"sub-{SECRET}", characters=3),
        Advice(at=1.0, agent=f"sub-{SECRET}", characters=3),
    ],
)
def test_no_name_holds_a_secret(event: Event) -> None:
    assert SECRET in str(event)
    assert SECRET not in str(redact_event(event))
    assert redact_event(redact_event(event)) == redact_event(event)


def test_an_event_without_a_secret_is_the_same_one() -> None:
    event = ToolUse(at=1.0, tool="Edit", targets=("src/a_rather_long_name_of_a_module.py",), program="pytest")
    assert redact_event(event) is event


def _log(path: Path) -> Path:
    line = {"at": 1_767_600_000, "session": "s1", "tool": "Read", "target": f"/home/x/{SECRET}/notes.txt"}
    path.write_text(json.dumps(line) + "\n" + json.dumps({**line, "at": 1_767_600_009}) + "\n")
    return path


def test_saved_and_followed_logs_are_clean_alike(tmp_path: Path) -> None:
    log, kit = _log(tmp_path / "log.jsonl"), make_kit()
    [session] = sessions([log], kit)
    saved = list(read_session(session, kit))
    followed = [*(follower := Follower(log, kit)).poll(), *follower.finish()]
    assert SECRET not in str(saved) + str(followed)
    assert [event for event in saved if isinstance(event, ToolUse)] == [
        event for event in followed if isinstance(event, ToolUse)
    ]


@pytest.mark.parametrize("first", [70_000, 2_000_000])
def test_a_first_line_longer_than_a_head_is_looked_at_whole(tmp_path: Path, first: int) -> None:
    log = tmp_path / "chat.jsonl"
    system = {"role": "system", "content": "x" * first}
    log.write_text("\n".join(json.dumps(line) for line in (system, {"role": "user", "content": "go"})) + "\n")
    [session] = sessions([log], make_kit())
    assert session.tool == "chat"


def test_sessions_whose_lines_stand_between_each_others_are_taken_apart(tmp_path: Path) -> None:
    log, kit = tmp_path / "two.jsonl", make_kit()
    event = {"tool": "Read", "target": "a.py"}
    lines = [json.dumps({"at": 1_767_600_000 + number, "session": f"s{number % 2}", **event}) for number in range(20)]
    log.write_text("\n".join([*lines[:9], "{broken", *lines[9:]]) + "\n")
    found = sessions([log], kit)
    assert [one.id for one in found] == ["s0", "s1"]
    for number, one in enumerate(found):
        times = [each.at for each in read_session(one, kit) if isinstance(each, ToolUse)]
        assert times == [1_767_600_000 + number + 2 * step for step in range(10)]
