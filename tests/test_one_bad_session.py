"""One bad input costs only itself: a fault in one session never reaches another."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.errors import NooscopeError
from core.live.fleet.member import Member
from core.live.fleet.roster import FleetWatch, Roster, once
from core.logs import database, discovery
from core.logs.session import LogSession
from core.report import analysis
from core.report.analysis import Analysis
from core.settings import Settings
from tests.conftest import Run
from tui.cli import main

NOW = 1_795_000_000.0


def claude_log(path: Path, session: str, target: str, question: str = "") -> Path:
    """A session that reads one file, and asks one question at its end."""

    def line(kind: str, number: int, content: Any) -> str:
        at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(NOW - 60 + number))
        message = {"id": f"m{number}", "role": kind, "model": "claude-opus-4-8", "content": content}
        fields = {"sessionId": session, "cwd": "/p", "version": "2.0.0", "uuid": f"{session}{number}"}
        return json.dumps({"type": kind, "timestamp": at, "message": message, **fields})

    ask = {"questions": [{"question": question, "header": "h", "options": [{"label": "yes"}]}]}
    lines = [
        line("user", 0, "go on"),
        line("assistant", 1, [{"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": target}}]),
        line("user", 2, [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]),
        line("assistant", 3, [{"type": "tool_use", "id": "t2", "name": "AskUserQuestion", "input": ask}]),
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines[: 4 if question else 3]) + "\n")
    os.utime(path, (NOW - 30, NOW - 30))
    return path


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    claude_log(tmp_path / "deep.jsonl", "deep", "/p" + "/a" * 5_000)
    claude_log(tmp_path / "asks.jsonl", "asks", "/p/b.py", "May I deploy?")
    return tmp_path


def roster(folder: Path) -> Roster:
    return Roster(Settings(), os.environ, Path("nowhere"), paths=[folder], wall=lambda: NOW)


@pytest.mark.parametrize("words", [("analyze",), ("frame",), ("diff",), ("recap",), ("why",), ("events",), ("export",)])
def test_a_very_deep_path_is_read_by_every_command(words: tuple[str, ...], logs: Path, run: Run) -> None:
    code, out, err = run(*words, str(logs / "deep.jsonl"))
    assert (code, "nooscope" in err) == (0, False)
    assert out


def test_a_very_deep_path_silences_nobody(logs: Path) -> None:
    rows = {row.session: row.status for row in once(roster(logs))[0]}
    assert not rows["deep"].reason.startswith("nooscope")
    assert "deploy" in rows["asks"].words or rows["asks"].level == 3


def test_a_fault_in_a_row_is_that_rows_status(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Member, *rest: Any) -> Any:
        if self.found.session == "deep":
            raise RecursionError("too deep")
        return before(self, *rest)

    before = Member._take
    monkeypatch.setattr(Member, "_take", broken)
    shown: list[Any] = []
    watch = FleetWatch(roster(logs), lambda rows, _: shown.append(rows))
    watch._turn(threading.Event())
    rows = {row.session: row for row in shown[-1]}
    assert "too deep" in rows["deep"].status.reason
    assert rows["deep"].status.level == 3
    assert rows["asks"].status.level == 3
    assert rows["asks"].status.word != rows["deep"].status.word


def test_a_search_that_fails_is_tried_again(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet = roster(logs)
    shown: list[Any] = []
    watch = FleetWatch(fleet, lambda rows, _: shown.append(rows))
    watch._turn(threading.Event())
    monkeypatch.setattr(fleet, "_find", lambda _: 1 / 0)
    watch._looked = float("-inf")
    watch._turn(threading.Event())
    assert len(shown[-1]) == 2
    assert "ZeroDivisionError" in fleet.unread[-1]


def test_a_fault_in_one_log_leaves_the_others_analysed(logs: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(session: LogSession, *more: Any) -> Analysis:
        if session.id == "deep":
            raise RecursionError("too deep")
        return before(session, *more)

    before = analysis.analyse
    monkeypatch.setattr(analysis, "analyse", broken)
    _, out, err = run("analyze", "--json", str(logs / "deep.jsonl"), str(logs / "asks.jsonl"))
    assert [one["id"] for one in json.loads(out)["sessions"]] == ["asks"]
    assert "deep.jsonl" in err
    assert "too deep" in err
    assert run("analyze", str(logs / "deep.jsonl"))[0] == 1


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id"


def hostile(path: Path) -> Path:
    """A database whose tables are views that never end."""
    with sqlite3.connect(path) as base:
        for table, columns in {
            "session": "'' AS title, '' AS parent_id, 0 AS time_created, 0 AS time_updated, '' AS directory",
            "message": "'s' AS session_id, '{}' AS data, 0 AS time_created",
            "part": "'s' AS session_id, '{}' AS data, 'm' AS message_id",
            "project": "'' AS worktree",
        }.items():
            base.execute(f"CREATE VIEW {table} AS {ENDLESS}, {columns} FROM n WHERE i > 0 AND i % 3 = 7")
    return path


@pytest.mark.parametrize("command", ["sessions", "analyze", "frame"])
def test_an_endless_query_ends(command: str, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_SECONDS", 0.3)
    began = time.monotonic()
    _, _, err = run(command, str(hostile(tmp_path / "opencode.db")))
    assert "opencode.db" in err
    assert time.monotonic() - began < 20


def test_a_query_is_bounded_in_time_and_rows_and_hears_ctrl_c(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = hostile(tmp_path / "log.db")
    monkeypatch.setattr(database, "_SECONDS", 0.2)
    with pytest.raises(OSError, match="too long"), database.reading(path) as base:
        base.execute("SELECT * FROM message").fetchall()
    path = hostile(tmp_path / "other.db")
    monkeypatch.setattr(database, "_SECONDS", 60.0)
    threading.Timer(0.3, signal.raise_signal, (signal.SIGINT,)).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), database.reading(path) as base:
        base.execute("SELECT * FROM message").fetchall()
    assert time.monotonic() - began < 5


def test_an_endless_database_costs_its_time_once(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = hostile(logs / "opencode.db")
    monkeypatch.setattr(database, "_SECONDS", 0.3)
    fleet = roster(logs)
    assert {row.session: row.status.word for row in once(fleet)[0]}["asks"] == "needs you"
    monkeypatch.setattr(database, "_SECONDS", 60.0)
    began = time.monotonic()
    fleet.look()
    with pytest.raises(OSError, match="too long"), database.reading(path):
        pass
    assert time.monotonic() - began < 5
    with sqlite3.connect(path) as base:
        base.execute("DROP VIEW message")
        base.execute("CREATE TABLE message (id, session_id, data, time_created)")
    with database.reading(path) as base:
        assert base.execute("SELECT * FROM message").fetchall() == []


@pytest.mark.parametrize("fault", [MemoryError(), ImportError("x.so: failed to map segment from shared object")])
def test_a_want_of_memory_is_one_line(
    fault: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def hungry(_: object) -> int:
        raise fault

    monkeypatch.setattr("tui.cli._run_command", hungry)
    assert main(["sessions"]) == 1
    assert capsys.readouterr().err == "nooscope: not enough memory for this\n"
    assert not issubclass(MemoryError, NooscopeError)


def test_a_missing_module_is_not_called_a_want_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> int:
        raise ImportError("no module named x")

    monkeypatch.setattr("tui.cli._run_command", broken)
    with pytest.raises(ImportError):
        main(["sessions"])


@pytest.mark.parametrize("deed", ["update", "keep"])
def test_a_fault_while_looking_or_settling_is_that_sessions_alone(
    deed: str, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(member: Member, *more: Any) -> None:
        if member.found.session == "deep":
            raise RecursionError("too deep")
        before(member, *more)

    fleet = roster(logs)
    once(fleet)
    before = getattr(Member, deed)
    monkeypatch.setattr(Member, deed, broken)
    claude_log(logs / "new.jsonl", "new", "/p/c.py", "Which one?")
    rows = {row.session: row.status for row in once(fleet)[0]}
    assert set(rows) == {"deep", "asks", "new"}
    assert rows["new"].word == rows["asks"].word == "needs you"


def test_a_folder_that_cannot_be_searched_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(agent: Any, *more: Any) -> Iterator[Any]:
        if agent.name == "codex":
            raise RecursionError("too deep")
        return before(agent, *more)

    before = discovery._survey
    monkeypatch.setattr(discovery, "_survey", broken)
    (tmp_path / ".codex" / "sessions").mkdir(parents=True)
    claude_log(tmp_path / ".claude" / "projects" / "p" / "asks.jsonl", "asks", "/p/b.py", "May I deploy?")
    fleet = Roster(Settings(), {}, tmp_path, wall=lambda: NOW)
    [row] = once(fleet)[0]
    assert row.status.word == "needs you"
    assert "cannot be searched" in fleet.unread[0]
