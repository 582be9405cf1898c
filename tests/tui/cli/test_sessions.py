"""The list of sessions, as a person and as a program see it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from core.logs import discovery
from core.logs.discovery import Found
from core.report.formatting import byte_size, plain
from core.report.log_tree import SessionRow
from tests.core.logs import log_lines as logs
from tui.cli import main
from tui.cli.commands.sessions import _age, _path_tail


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of our own, and no hints to another."""
    for name in (
        *("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_DATA_HOME", "PI_CODING_AGENT_DIR"),
        *("OPENHANDS_CONVERSATIONS_DIR", "OPENHANDS_PERSISTENCE_DIR", "COPILOT_HOME", "XDG_CONFIG_HOME"),
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(path: Path, data: bytes, when: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (when, when))
    return path


def test_an_empty_machine_is_told_what_to_do(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sessions"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("No sessions found on this machine.")
    assert "nooscope sessions PATH" in out
    assert main(["sessions", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"sessions": []}


def test_the_order_is_that_of_the_age_shown(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A log that was copied or touched later is no newer for it."""
    old = logs.session(3, session="s-old")
    put(home / ".claude/projects/p/s-old.jsonl", old, logs.START + 900_000)
    late = logs.prompt(500_000, "later", session="s-late")
    put(home / ".claude/projects/p/s-late.jsonl", late, logs.START + 600_000)
    assert main(["sessions", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["sessions"]
    assert [row["session"] for row in rows] == ["s-late", "s-old"]
    assert rows[0]["age"] < rows[1]["age"]


def test_the_newest_comes_first(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(home / ".claude/projects/p/s-old.jsonl", logs.session(3, session="s-old"), 1000)
    new = put(home / ".claude/projects/p/s-new.jsonl", logs.session(3, cwd="/srv/\x1b[31mred"), 2000)
    assert main(["sessions"]) == 0
    header, first, second, blank, total = capsys.readouterr().out.splitlines()
    assert header.split() == ["agent", "project", "title", "age", "events", "size", "log"]
    assert first.split()[:4] == ["·", "claude-code", "/srv/", "[31mred"]
    assert first.endswith("~/.claude/projects/p/s-new.jsonl")
    assert second.endswith("~/.claude/projects/p/s-old.jsonl")
    assert (blank, total) == ("", "2 sessions, 0 changed in the last minutes (●)")
    assert main(["sessions", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["sessions"]
    assert rows[0]["path"] == str(new)
    assert set(rows[0]) == {
        *("agent", "session", "project", "path", "paths", "modified", "age", "size", "events", "active"),
        *("title", "last"),
    }
    assert rows[0]["title"] == "go on"
    assert "  go on  " in first
    assert rows[0]["modified"] == 2000.0
    assert rows[0]["size"] == new.stat().st_size


def test_named_paths_are_listed_instead(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(home / ".claude/projects/p/s-1.jsonl", logs.session(3), 1000)
    put(home / "elsewhere/s-2.jsonl", logs.session(3, first=9, session="s-2"), 1000)
    assert main(["sessions", "--json", str(home / "elsewhere"), str(home / "gone")]) == 0
    out, err = capsys.readouterr()
    assert [row["session"] for row in json.loads(out)["sessions"]] == ["s-2"]
    assert "gone: no such file" in err
    assert main(["sessions", str(home / "gone")]) == 1
    assert "no such file" in capsys.readouterr().err


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How often the disk was searched."""
    seen: list[str] = []
    real = discovery.find

    def noted(*given: Any, **named: Any) -> list[Found]:
        seen.append("find")
        return real(*given, **named)

    monkeypatch.setattr(discovery, "find", noted)
    return seen


def listed(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    assert main(["sessions", "--json", *words]) == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["sessions"]
    return rows


def test_an_unchanged_machine_is_not_searched_again(
    home: Path, capsys: pytest.CaptureFixture[str], searches: list[str]
) -> None:
    put(home / ".claude/projects/p/s-1.jsonl", logs.session(3, session="s-1"), 1000)
    first = listed(capsys)
    again = listed(capsys)
    assert [{**row, "age": 0} for row in again] == [{**row, "age": 0} for row in first]
    assert len(searches) == 1
    put(home / ".codex/sessions/2026/01/01/rollout-1.jsonl", b'{"no": "log"}\n', 1000)
    listed(capsys)
    assert len(searches) == 2, "a file in a folder that was not there before"
    put(home / ".claude/projects/p/s-1.jsonl", logs.session(4, session="s-1"), 1000)
    assert listed(capsys)[0]["events"] > first[0]["events"]
    assert len(searches) == 3


def test_agents_kept_in_another_place_are_looked_for_there(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    put(home / ".claude/projects/p/s-1.jsonl", logs.session(3, session="s-1"), 1000)
    put(home / "mine/projects/p/s-2.jsonl", logs.session(3, session="s-2"), 1000)
    assert [row["session"] for row in listed(capsys)] == ["s-1"]
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "mine"))
    assert [row["session"] for row in listed(capsys)] == ["s-2"]
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    assert [row["session"] for row in listed(capsys)] == ["s-1"]


def test_a_list_of_projects_elsewhere_is_looked_through_every_time(
    home: Path, capsys: pytest.CaptureFixture[str], searches: list[str]
) -> None:
    (home / ".local/share/crush").mkdir(parents=True)
    for _ in range(2):
        listed(capsys)
    assert len(searches) == 2


@pytest.mark.parametrize(("silent", "active"), [(0.0, True), (300.0, True), (300.5, False)])
def test_a_kept_session_falls_silent_with_time(silent: float, active: bool) -> None:
    row = SessionRow("a", "s", "", "", "p", ("p",), 1000.0, 990.0, 1, 1, active=True)
    assert row.at(990.0 + silent, 300.0).active is active
    ended = SessionRow("a", "s", "", "", "p", ("p",), 1000.0, 990.0, 1, 1, active=False)
    assert not ended.at(990.0, 300.0).active


@pytest.mark.parametrize(
    ("seconds", "text"), [(-5, "0 s"), (59.9, "59 s"), (60, "1 min"), (7200, "2 h"), (200_000, "2 d")]
)
def test_ages(seconds: float, text: str) -> None:
    assert _age(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (20_000, "20 kB"), (3_200_000_000, "3.2 GB")]
)
def test_sizes(count: int, text: str) -> None:
    assert byte_size(count) == text


def test_text_is_made_harmless_and_short() -> None:
    assert plain("a\x1b]0;x\x07b\nc") == "a ]0;x b c"
    assert _path_tail("/a/very/long/path", 10) == "…long/path"
    assert _path_tail("/short", 10) == "/short"
