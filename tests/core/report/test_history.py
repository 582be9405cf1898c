"""What an agent may ask about earlier sessions: bounded, redacted, and of its own project."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from core.hooks.link import serve
from core.report.history import LONGEST, TOOLS, SessionHistory
from core.settings import Settings
from tests.core.report.test_changes import ClaudeLog

SECRET = "sk-ant-api03-" + "Ab1" * 31


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, project in (("mine", "/work/here"), ("inside", "/work/here/sub"), ("other", "/work/hereafter")):
        folder = tmp_path / ".claude" / "projects" / name
        folder.mkdir(parents=True)
        log = ClaudeLog(folder / f"{name}-session.jsonl")
        log.say("assistant", [{"type": "text", "text": f"The kingfisher of {name} has {SECRET}"}])
        log.call(
            "Write",
            {"file_path": f"{project}/a.py", "content": f"{SECRET} and more words\n" * 700},
            told={"type": "create", "originalFile": None},
        )
        for record in log.records:
            record.update(cwd=project, sessionId=f"{name}-session")
        log.path.write_text("".join(json.dumps(record) + "\n" for record in log.records))
    return tmp_path


def ask(home: Path, name: str, project: str | None = "/work/here", **arguments: Any) -> tuple[str, bool]:
    history = SessionHistory(Settings(), None if project is None else Path(project), {}, home)
    return history.answer(name, arguments)


def test_only_sessions_of_the_project_are_listed_and_found(home: Path) -> None:
    text, failed = ask(home, "list_sessions")
    assert not failed
    assert {line.split()[0] for line in text.splitlines()} == {"mine-session", "inside-session"}
    assert len(ask(home, "list_sessions", project=None)[0].splitlines()) == 3
    assert len(ask(home, "list_sessions", limit=1)[0].splitlines()) == 1
    hits = ask(home, "search_sessions", words="kingfisher")[0]
    assert {line.split()[0] for line in hits.splitlines()} == {"mine-session", "inside-session"}
    assert ask(home, "search_sessions", words="kingfisher", project="/nowhere")[0] == "Nothing found."
    assert ask(home, "search_sessions", words="")[1]


@pytest.mark.parametrize("session", ["other-session", "", "nobody"])
def test_a_session_of_another_project_cannot_be_read(session: str, home: Path) -> None:
    for name in TOOLS:
        if "session" in TOOLS[name]["inputSchema"]["required"]:
            text, failed = ask(home, name, session=session)
            assert failed and "begin with" in text


@pytest.mark.parametrize(
    ("name", "arguments", "part"),
    [
        ("session_overview", {}, "1 file changed, +700 -0"),
        ("session_messages", {"from": 1, "to": 3}, "you: do it"),
        ("session_messages", {"from": 90}, "No messages"),
        ("session_changes", {}, "a.py  +700 -0"),
        ("session_changes", {"file": "a.py"}, "left out"),
        ("session_cost", {}, "cost "),
    ],
)
def test_answers_are_bounded_and_hold_no_secret(name: str, arguments: dict[str, Any], part: str, home: Path) -> None:
    text, failed = ask(home, name, session="mine", **arguments)
    assert not failed
    assert part in text
    assert SECRET not in text and len(text) <= LONGEST + 40


def test_messages_are_read_only_as_far_as_they_fit(home: Path) -> None:
    log = ClaudeLog(home / ".claude" / "projects" / "mine" / "long-session.jsonl")
    for number in range(60):
        log.call("Bash", {"command": f"make {number}"}, "word " * 200)
    for record in log.records:
        record.update(cwd="/work/here", sessionId="long-session")
    log.path.write_text("".join(json.dumps(record) + "\n" for record in log.records))
    numbers, first = [], 1
    while first:
        asked: dict[str, Any] = {"session": "long", "from": first, "to": 999}
        text, _ = ask(home, "session_messages", **asked)
        *lines, rest = text.splitlines()
        assert len(text) <= LONGEST
        more = re.fullmatch(r"\.\.\. the next message is event (\d+) of 62", rest)
        numbers += [int(line.split()[0]) for line in (lines if more else [*lines, rest])]
        first = int(more[1]) if more else 0
    assert numbers == list(range(2, 63))


def test_the_protocol_offers_them_only_if_asked_to(home: Path) -> None:
    history = SessionHistory(Settings(), Path("/work/here"), {}, home)
    listed = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    params = {"name": "list_sessions", "arguments": {}}
    called = json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})
    for allowed in (history, None):
        answers = [json.loads(line) for line in serve([listed, called], lambda *_: None, "/x", "", allowed)]
        names = {tool["name"] for tool in answers[0]["result"]["tools"]}
        assert (set(TOOLS) <= names) is (allowed is not None)
        assert ("error" in answers[1]) is (allowed is None)
