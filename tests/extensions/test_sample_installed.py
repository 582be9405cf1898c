"""The sample is built, installed into a fresh environment, and seen at work there, in the app too."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import NamedTuple

import pytest
from hatchling import build

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "sample_extension"
LINES = [
    {"plain": 1, "t": 1_700_000_000, "session": "p-1", "project": "/work", "say": "make the tests pass"},
    *({"plain": 1, "t": 1_700_000_010 + n, "run": "npm test", "ok": False, "output": "FAIL"} for n in range(4)),
]
APP = """
import asyncio, sys
from pathlib import Path
from core.live.source import Target
from core.settings import Settings
from core.timeline.initial_state import configured_start
from tui.app import NooscopeApp

async def main():
    app = NooscopeApp(Target(Path(sys.argv[1]), False), Settings(), begin=configured_start)
    async with app.run_test(size=(120, 40)) as pilot:
        for _ in range(400):
            await pilot.pause(0.02)
            if app.view is not None and app.view.loading is None and app.recording is not None:
                break
        await pilot.press("end")
        app.action_show("extensions")
        for _ in range(100):
            await pilot.pause(0.02)
            if app.screen.query("FailuresCard"):
                break
        await pilot.pause(0.1)
        for strip in app.screen._compositor.render_strips():
            print(strip.text)
        print([mark.name for mark in app.recording.marks if mark.kind == "method"])
asyncio.run(main())
"""


class Place(NamedTuple):
    """A fresh environment and a home."""

    python: Path
    home: Path

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "PYTHON"))}
        return subprocess.run(
            [str(self.python), *words],
            env={**kept, "HOME": str(self.home)},
            cwd=self.home,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The sample's wheel in an environment that has nooscope and nothing else of ours."""
    folder = tmp_path_factory.mktemp("fresh")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(SAMPLE)
        wheel = folder / build.build_wheel(str(folder))
    venv.create(folder / "env", with_pip=False)
    [packages] = (folder / "env").glob("lib/python*/site-packages")
    (packages / "parent.pth").write_text(f"{ROOT}\n{sysconfig.get_path('purelib')}\n")
    python = folder / "env" / "bin" / "python"
    quiet = ["--quiet", "--no-deps", "--no-index", "--disable-pip-version-check"]
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(python), "install", *quiet, str(wheel)],
        check=True,
        capture_output=True,
    )
    (folder / "home").mkdir()
    log = folder / "home" / "session.jsonl"
    log.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    return Place(python, folder / "home")


def test_every_part_is_listed_and_the_detector_is_sound(place: Place) -> None:
    listed = place.run("-m", "tui.cli", "extensions").stdout
    for name in ("repeated-failure", "diary", "failures", "notice-file", "failures-csv", "plain-agent"):
        assert f" {name} " in listed, listed
    assert "on, in the step" in listed and "package nooscope_sample 1.0" in listed
    checked = place.run("-m", "tui.cli", "extensions", "check", "repeated-failure")
    assert checked.returncode == 0 and "two runs give the same result" in checked.stdout, checked


def test_its_agent_is_read_watched_told_of_and_exported(place: Place) -> None:
    log = str(place.home / "session.jsonl")
    watched = place.run("-m", "tui.cli", "watch", log, "--headless", "--all", "--idle", "0")
    assert "run failed 3 times in a row" in watched.stdout or "npm failed 3 times" in watched.stdout, watched
    diary = (place.home / ".local/share/nooscope/diary.log").read_text()
    assert "session p-1" in diary and "left after" in diary
    exported = place.run("-m", "tui.cli", "export", log, "--format", "failures-csv")
    assert exported.stdout.count("npm") + exported.stdout.count("run") >= 4, exported
    assert place.run("-m", "tui.cli", "export", log, "--format", "nonsense").returncode == 2


def test_it_is_at_work_in_the_app(place: Place) -> None:
    done = place.run("-c", APP, str(place.home / "session.jsonl"))
    assert "Failures by tool" in done.stdout, done
    assert "repeated-failure.row" in done.stdout
    assert "notice-file" in done.stdout
