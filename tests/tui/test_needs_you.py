"""A session that waits for the person says so: in the header, by toast, bell and terminal title."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

import pytest

from core.live.source import Target
from core.settings import Settings
from core.settings.layers import Given, Layer, resolve
from tests.core.logs.log_lines import START, call, prompt, result
from tests.tui.conftest import shown
from tui.app import NooscopeApp
from tui.feed.messages import Seek, StepBy
from tui.feed.notices import Terminal
from tui.feed.view import View
from tui.widgets.common.header import NowStrip, StatusHeader


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """All that goes to the terminal beside the screen."""
    said: list[str] = []

    def write(self: Terminal, text: str) -> int:
        said.append(text)
        return len(text)

    monkeypatch.setattr(Terminal, "write", write)
    return said


async def test_a_question_rings_once_and_is_taken_back(home: Path, still: Settings, written: list[str]) -> None:
    chosen = resolve([Layer("test", (Given("response.notices.desktop", "osc9"),))]).settings
    settings = chosen.replace(screen=still.screen)
    log = home / "log.jsonl"
    log.write_bytes(prompt(0.0))
    app = NooscopeApp(Target(log), settings, theme_folder=home / "themes", live=True)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.loading is None and view.total > 0)
        with log.open("ab") as file:
            file.write(call(1.0, "q1", tool="AskUserQuestion"))
        view = await shown(app, pilot, lambda view: view.status is not None and view.status.needs_you)
        assert view.status is not None and view.status.level == 3
        strip = app.screen.query_one(NowStrip)
        for size in ((120, 4), (80, 2), (60, 2)):
            text = "".join(piece for line in strip.lines(view, *size) for piece, _ in line)
            assert "▲ NEEDS YOU" in text
        for _ in range(5):
            await pilot.pause(0.05)
        toasts = [notice for notice in app._notifications if notice.title == "Needs you"]
        assert [notice.message for notice in toasts] == ["▲ asks: “echo q1”"]
        assert written.count("\a\a") == 1
        assert [text for text in written if text.startswith("\x1b]9;")] == [
            "\x1b]9;nooscope needs you: asks: “echo q1”\x1b\\"
        ]
        assert [text for text in written if text.startswith("\x1b]2;▲ needs you")]
        with log.open("ab") as file:
            file.write(result(30.0, "q1"))
        await shown(app, pilot, lambda view: view.status is not None and not view.status.needs_you)
        assert written[-1] == "\x1b]2;nooscope\x07"


def _stands_at(place: int, view: View) -> bool:
    return view.index == place


async def test_the_status_is_true_at_any_place_of_a_replay(home: Path, still: Settings) -> None:
    log = home / "log.jsonl"
    log.write_bytes(prompt(0.0) + call(1.0, "q1", tool="AskUserQuestion") + result(300.0, "q1") + prompt(301.0))
    app = NooscopeApp(Target(log, live=False), still, theme_folder=home / "themes")
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.loading is None and view.total > 0)
        app.post_message(StepBy(-99))
        await shown(app, pilot, lambda view: view.index == 0 and not view.playing)
        words = []
        for place in range(1, 6):
            app.post_message(Seek(place))
            view = await shown(app, pilot, partial(_stands_at, place))
            assert view.status is not None
            words.append(view.status.word)
        assert words == ["working", "needs you", "working", "working", "ended"]


async def test_a_question_is_not_lost_where_the_playhead_is_held(home: Path, still: Settings) -> None:
    log = home / "log.jsonl"
    log.write_bytes(prompt(0.0) + call(1.0, "q1", tool="AskUserQuestion"))
    app = NooscopeApp(Target(log), still, theme_folder=home / "themes")
    async with app.run_test(size=(120, 40)) as pilot:
        view = await shown(app, pilot, lambda view: view.total > 0 and view.status is not None)
        assert view.status is not None and view.status.word == "needs you"
        await pilot.press("space")
        view = await shown(app, pilot, lambda view: view.mode == "paused")
        assert view.status is not None and view.status.word == "needs you"


async def test_who_looks_back_is_told_that_the_session_needs_them_now(home: Path, still: Settings) -> None:
    log, now = home / "log.jsonl", time.time() - START
    log.write_bytes(prompt(now - 60) + call(now - 50, "c1") + result(now - 40, "c1") + prompt(now - 30))
    app = NooscopeApp(Target(log), still, theme_folder=home / "themes")
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot, lambda view: view.loading is None and view.total > 2)
        app.post_message(Seek(2))
        view = await shown(app, pilot, lambda view: view.index == 2)
        assert view.edge is None
        with log.open("ab") as file:
            file.write(call(now - 20, "q1", tool="AskUserQuestion"))
        view = await shown(app, pilot, lambda view: view.edge is not None)
        assert view.index == 2 and view.status is not None and not view.status.needs_you
        header = app.screen.query_one(StatusHeader)
        for width in (40, 78, 118):
            assert "now ▲ needs you" in "".join(piece for piece, _ in header.lines(view, width, 1)[0])
        await pilot.press("end")
        view = await shown(app, pilot, lambda view: view.index == view.total)
        assert view.edge is None and view.status is not None and view.status.needs_you
        with log.open("ab") as file:
            file.write(result(now - 10, "q1"))
        app.post_message(Seek(2))
        await shown(app, pilot, lambda view: view.index == 2 and view.total > 5 and view.edge is None)
