"""A screen of one session says how many others need you, and follows a newer one in its folder."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from core.live.source import Target
from core.settings import Settings
from tests.tui.conftest import until
from tests.tui.fleet_sessions import Log
from tui.app import NooscopeApp
from tui.feed.messages import OpenSession
from tui.widgets.common.header import StatusHeader


def finished(home: Path, project: str, number: int, ago: float) -> Log:
    log = Log(Path.home(), project, number, time.time() - ago)
    log.prompt()
    log.say()
    return log.write()


def asking(home: Path, project: str, number: int, ago: float) -> Log:
    log = Log(Path.home(), project, number, time.time() - ago)
    log.prompt()
    log.call("AskUserQuestion", questions=[])
    return log.write()


def working(home: Path, project: str, number: int) -> Log:
    log = Log(Path.home(), project, number, time.time())
    log.prompt()
    log.call("Bash", command="make")
    return log.write()


def header(app: NooscopeApp) -> str:
    widget = app.screen.query_one(StatusHeader)
    assert app.view is not None
    return "".join(text for line in widget.lines(app.view, 160, 1) for text, _ in line)


def app_on(log: Log, still: Settings, home: Path, *, newest: bool = False) -> NooscopeApp:
    return NooscopeApp(Target(log.path, True, newest=newest), still, theme_folder=home / "themes", live=True)


async def test_the_header_counts_others_in_need_and_w_goes_there(home: Path, still: Settings) -> None:
    here, first = finished(home, "here", 1, 60), asking(home, "there", 2, 90)
    asking(home, "elsewhere", 3, 30)
    app = app_on(here, still, home)
    async with app.run_test(size=(160, 40)) as pilot:
        await until(pilot, lambda: app.view is not None and app.view.others == 2)
        assert "2 others need you (W)" in header(app)
        await pilot.press("W")
        await until(pilot, lambda: app.view is not None and app.view.subject.session == first.id)
        await until(pilot, lambda: app.view is not None and app.view.others == 1)
        assert "another needs you (W)" in header(app)


@pytest.mark.parametrize("kind", [asking, working])
async def test_a_place_of_a_session_at_work_is_opened_live(
    home: Path, still: Settings, kind: Callable[..., Log]
) -> None:
    here, old = finished(home, "here", 1, 60), finished(home, "old", 3, 100_000)
    there = asking(home, "there", 2, 30) if kind is asking else working(home, "there", 2)
    app = app_on(here, still, home)
    async with app.run_test(size=(160, 40)) as pilot:
        await until(pilot, lambda: app._others.is_live(there.path, there.id))
        assert not app._others.is_live(old.path, old.id)
        app.post_message(OpenSession(there.path, False, "", "1"))
        await until(
            pilot, lambda: app.view is not None and app.view.subject.session == there.id and app.view.index == 1
        )
        assert app.view is not None and app.view.mode == "paused"
        await pilot.press("end")
        await until(pilot, lambda: app.view is not None and app.view.mode == "live" and app.view.status is not None)
        assert app.view.status is not None and app.view.status.word != "ended"


@pytest.mark.parametrize("newest", [False, True])
async def test_a_newer_session_in_the_folder_is_followed_or_named(home: Path, still: Settings, newest: bool) -> None:
    here = finished(home, "here", 1, 60)
    working(home, "another", 2)
    app = app_on(here, still, home, newest=newest)
    async with app.run_test(size=(160, 40)) as pilot:
        await until(pilot, lambda: app.view is not None and app.view.status is not None)
        second = working(home, "here", 3)
        if newest:
            await until(pilot, lambda: app.view is not None and app.view.subject.session == second.id)
            return
        await until(pilot, lambda: app.view is not None and bool(app.view.newer))
        assert "newer session here: claude-code working (W)" in header(app)
        await pilot.press("W")
        await until(pilot, lambda: app.view is not None and app.view.subject.session == second.id)
