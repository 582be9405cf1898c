"""Eight failing calls, each another one: the screen, the fleet and headless commands all say stuck."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tui.conftest import shown
from tests.tui.fleet_sessions import Log
from tests.tui.tuning_app import seen
from tui.app import NooscopeApp
from tui.cli import main

COMMANDS = ("make", "pytest -q", "npm ci", "cargo build", "go vet", "tox", "mvn test", "gradle check")


@pytest.fixture
def storm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NOOSCOPE_CONFIG", str(tmp_path / "settings.toml"))
    monkeypatch.chdir(tmp_path)
    log = Log(tmp_path, "storm", 7, time.time() - 60.0)
    log.prompt()
    for number, command in enumerate(COMMANDS):
        log.at += 3.0
        log.call("Bash", command=command)
        log.at += 1.0
        log.result(f"Exit code 1\nerror {number}", failed=True)
    return log.write().path


def test_the_fleet_says_stuck(storm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fleet", "--json", str(storm)]) == 0
    (one,) = json.loads(capsys.readouterr().out)["sessions"]
    assert (one["status"], one["why"]) == ("stuck", "8 actions in a row failed")


def test_a_storm_that_is_a_loop_says_both(storm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = Log(storm.parents[3], "round", 8, time.time() - 60.0)
    log.prompt()
    path = log.work(8, same=True, gap=4.0).write().path
    assert main(["fleet", "--json", str(path)]) == 0
    (one,) = json.loads(capsys.readouterr().out)["sessions"]
    assert one["status"] == "looping"
    assert one["why"] == "pytest failed the same way 8 times"


def test_headless_says_stuck(storm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", "--headless", str(storm), "--idle", "0.05"]) == 0
    assert "✗ stuck: 8 actions in a row failed" in capsys.readouterr().out
    assert main(["watch", "--headless", str(storm), "--idle", "0.05", "--json"]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(one["kind"], one["text"]) for one in told if one["kind"] == "stuck"] == [
        ("stuck", "8 actions in a row failed")
    ]
    assert main(["frame", str(storm)]) == 0
    assert any(
        line.startswith("status  ended: ") and line.endswith("it was stuck")
        for line in capsys.readouterr().out.splitlines()
    )


async def test_the_screen_says_stuck(storm: Path, app_on: Callable[..., NooscopeApp]) -> None:
    app = app_on(storm)
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot, lambda view: view.now.failures == len(COMMANDS))
        await pilot.pause()
        assert "STUCK" in seen(app)
