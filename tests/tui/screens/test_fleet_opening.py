"""From the fleet to a session and back, and what is done with the session under the cursor."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from msgspec.structs import replace
from textual.screen import Screen

from core.live.hook_signs import HookBoard
from core.live.source import Target
from core.settings import Settings
from tests.tui.conftest import until
from tests.tui.fleet_app import FleetApp, read, table
from tests.tui.fleet_sessions import begin, tell
from tests.tui.panel_app import stuck
from tui.feed.messages import OpenSession
from tui.feed.view import Subject
from tui.screens.changes import ChangesScreen
from tui.screens.fleet import FleetScreen
from tui.screens.main import MainScreen
from tui.screens.model import MindScreen
from tui.screens.recap import RecapScreen
from tui.screens.transcript import TranscriptScreen
from tui.widgets.common.key_line import ConfirmScreen


@pytest.fixture
def app(tmp_path: Path, still: Settings) -> FleetApp:
    tell(tmp_path)
    begin(tmp_path, "asks", 20, 50).write()
    return FleetApp(tmp_path, still)


async def test_a_session_that_works_is_followed(app: FleetApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: read(app, 10))
        chosen = table(app).chosen
        assert chosen is not None
        await pilot.press("enter")
        await until(pilot, lambda: bool(app.opened))
        assert app.opened == [OpenSession(chosen.path, True, chosen.session)]
        assert not isinstance(app.screen, FleetScreen)
        await until(pilot, lambda: app.view is not None and app.view.total > 40)


@pytest.mark.parametrize("key", ["space", "home"])
async def test_a_finished_session_opens_at_its_end_with_its_recap(app: FleetApp, key: str) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: read(app, 10))
        await pilot.press("end", "enter")
        await until(pilot, lambda: isinstance(app.screen, RecapScreen))
        assert app.opened[0].live is False
        view = app.view
        assert view is not None and view.index == view.total > 0 and not view.playing
        await pilot.press(key)
        await until(pilot, lambda: isinstance(app.screen, MainScreen))
        await until(pilot, lambda: app.view is not None and app.view.playing)


async def test_f_goes_there_and_back_and_keeps_what_was_read(tmp_path: Path, still: Settings) -> None:
    tell(tmp_path)
    log = begin(tmp_path, "mine", 30, 5).write()
    app = FleetApp(tmp_path, still)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: read(app, 10))
        screen = app.screen
        assert isinstance(screen, FleetScreen)
        app.post_message(OpenSession(log.path))
        await until(pilot, lambda: app.view is not None and app.view.total > 40)
        assert not isinstance(app.screen, FleetScreen)
        for key in ("f", "f", "f", "escape"):
            await pilot.press(key)
            await pilot.pause()
        assert not isinstance(app.screen, FleetScreen)
        await pilot.press("f")
        assert app.screen is screen
        assert read(app, 10)


async def test_without_anything_below_it_the_screen_stays(app: FleetApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: read(app, 10))
        await pilot.press("escape", "f", "space", "left", "n", "b")
        assert isinstance(app.screen, FleetScreen)
        assert app.opened == []
        assert any("open one with enter first" in notice.message for notice in app._notifications)


@pytest.mark.parametrize(("key", "screen"), [("c", ChangesScreen), ("e", TranscriptScreen), ("m", MindScreen)])
async def test_a_key_of_a_session_opens_the_chosen_one_on_that_screen(
    app: FleetApp, key: str, screen: type[Screen[None]]
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: read(app, 10))
        row = table(app).chosen
        assert row is not None
        await pilot.press(key)
        await until(pilot, lambda: isinstance(app.screen, screen))
        assert app.view is not None and app.view.subject.session == row.session


async def test_w_says_that_nobody_needs_the_person(tmp_path: Path, still: Settings) -> None:
    begin(tmp_path, "flows", 1, 4).write()
    app = FleetApp(tmp_path, still)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: read(app, 1))
        await pilot.press("W")
        await until(pilot, lambda: bool(len(app._notifications)))
        assert [notice.message for notice in app._notifications] == ["no session needs you now"]
        assert isinstance(app.screen, FleetScreen)


@pytest.mark.parametrize(("key", "inside"), [("enter", True), ("enter", False), ("R", True), ("escape", True)])
async def test_the_command_that_resumes_a_session_is_run_after_confirming(
    app: FleetApp, monkeypatch: pytest.MonkeyPatch, key: str, inside: bool
) -> None:
    """In a new window of tmux; where nothing can be run, as in a test's terminal, it is copied."""
    ran: list[str] = []
    monkeypatch.setattr("tui.screens.dialogs.show_pane", lambda *_: False)
    monkeypatch.setattr("core.live.tmux.open_window", ran.append)
    monkeypatch.setenv("TMUX", "somewhere") if inside else monkeypatch.delenv("TMUX", raising=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: read(app, 10))
        row = table(app).chosen
        assert row is not None
        command = f"cd {row.project} && claude --resume {row.session}"
        await pilot.press("R")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        assert ran == [] and app.clipboard == ""
        await pilot.press(key)
        await until(pilot, lambda: not isinstance(app.screen, ConfirmScreen))
        if key == "escape":
            await pilot.pause()
            assert (ran, app.clipboard, list(app._notifications)) == ([], "", [])
            return
        await until(pilot, lambda: bool(ran or app.clipboard))
        assert (ran, app.clipboard) == (([command], "") if key == "enter" and inside else ([], command))


async def test_a_session_in_tmux_is_shown_there(app: FleetApp, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def answer(words: list[str]) -> str:
        asked.append(words)
        row = table(app).chosen
        return f"%7\t{row.project}\tclaude\t7\n" if row is not None else ""

    monkeypatch.setenv("TMUX", "somewhere")
    monkeypatch.setattr("core.live.tmux.ask_tmux", answer)
    monkeypatch.setattr("core.live.tmux.panes.__defaults__", (answer,))
    monkeypatch.setattr("core.live.tmux.go_to_pane.__defaults__", (answer,))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: read(app, 10))
        await pilot.press("R")
        await until(pilot, lambda: len(asked) == 2)
        assert asked[1] == ["switch-client", "-t", "%7"]
        assert app.clipboard == ""


async def test_from_one_that_needs_a_person_to_the_next(app: FleetApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: read(app, 10))
        screen = app.screen
        assert isinstance(screen, FleetScreen)
        needing = [row for row in screen.rows if row.status.level == 3]
        assert len(needing) > 2
        others = app._others
        first = others.next_needing(None, HookBoard())
        seen_paths = []
        row = first
        for _ in needing:
            assert row is not None
            seen_paths.append(row.path)
            view = replace(stuck(), subject=Subject(session=row.session))
            row = others.next_needing(view, HookBoard())
        assert len(set(seen_paths)) == len(needing)
        assert row == first, "it goes round"
        await pilot.press("W")
        await until(pilot, lambda: bool(app.opened))
        assert app.opened[0].path == seen_paths[0]


async def test_escape_returns_to_the_fleet(tmp_path: Path, still: Settings) -> None:
    tell(tmp_path)
    path = begin(tmp_path, "asks", 20, 50).write().path
    app = FleetApp(tmp_path, still, Target(path, live=False))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, FleetScreen))
        app.open(Target(path, live=False))
        app.pop_screen()
        await until(pilot, lambda: app.view is not None)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, FleetScreen))


async def test_the_title_of_the_fleet_is_not_told_anew_while_nobody_sees_it(app: FleetApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: read(app, 10))
        fleet = cast(FleetScreen, app.screen)
        assert isinstance(fleet, FleetScreen)
        assert fleet._clock._active.is_set()
        await pilot.press("enter")
        await until(pilot, lambda: app.view is not None and not fleet._clock._active.is_set())
        await pilot.press("f")
        await until(pilot, lambda: app.screen is fleet and fleet._clock._active.is_set())
