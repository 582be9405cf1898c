"""`nooscope fleet` for scripts and where there is no terminal."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from tests.tui import fleet_sessions as fleets
from tests.tui.fleet_sessions import STORIES, begin, tell
from tui.cli import main


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stories that happened just now, as the real clock has it."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NOOSCOPE_CONFIG", str(tmp_path / "settings.toml"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(fleets, "NOW", time.time())
    tell(tmp_path)
    return tmp_path


def test_json_tells_everything_once(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fleet", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    found = {os.path.basename(one["project"]): one for one in told["sessions"]}  # noqa: PTH119
    assert {name: one["status"] for name, one in found.items()} == STORIES
    assert told["counts"]["need"] == 4
    assert [one["needs_person"] for one in told["sessions"]][:4] == [True] * 4
    asks = found["asks"]
    assert asks["why"] == "asks you something (AskUserQuestion)"
    assert 39 <= asks["for_seconds"] < 100
    assert asks["governor"] in ("IDLE", "RECOVERING", "HALTED")
    assert asks["tokens_per_minute"] > 0
    assert Path(asks["path"]).is_file()


def test_a_table_without_a_terminal(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fleet"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("▲  needs you ")
    assert "asks you something (AskUserQuestion)" in lines[1]
    assert lines[-1].startswith("4 need you")


def test_only_the_paths_that_are_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    elsewhere = home / "elsewhere"
    log = begin(elsewhere, "other", 40, 5).write()
    assert main(["fleet", "--json", str(log.path)]) == 0
    (one,) = json.loads(capsys.readouterr().out)["sessions"]
    assert one["session"] == log.id


def test_how_far_back_is_looked(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fleet", "--once", "--within", "1"]) == 0
    assert "abandoned" not in capsys.readouterr().out
    assert main(["fleet", "--once", "--within", "3"]) == 0
    assert "abandoned" in capsys.readouterr().out
    with pytest.raises(SystemExit) as refused:
        main(["fleet", "--within", "0"])
    assert refused.value.code == 2


def test_an_empty_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert main(["fleet", "--once"]) == 0
    assert "npm install -g" in capsys.readouterr().out
    assert main(["fleet", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sessions"] == []


def test_a_named_file_that_is_no_log_is_said_and_never_taken_for_quiet(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd, blank = home / "odd.jsonl", home / "blank.jsonl"
    odd.write_bytes(bytes(range(256)) * 64)
    blank.touch()
    assert main(["fleet", "--once", str(odd), str(blank)]) == 1
    told = capsys.readouterr()
    assert told.out == "" and "odd.jsonl: a binary file" in told.err
    assert main(["fleet", "--once", str(blank)]) == 0
    assert capsys.readouterr() == (
        "No session changed within the last 24 hours; --within HOURS shows older ones.\n",
        "",
    )
    assert main(["fleet", "--json", str(home / ".claude"), str(odd)]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["sessions"] and told.err.endswith("odd.jsonl: a binary file\n")
