"""Every screen has help behind `?`, and escape leads from each back to the fleet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tui.conftest import press_each, shown, until
from tests.tui.fleet_sessions import begin
from tui.app import NooscopeApp
from tui.screens.fleet import FleetScreen
from tui.screens.main import MainScreen
from tui.widgets.common.key_line import KeyLine

KEYS = {"main": "", "transcript": "e", "agents": "a", "model": "m", "fleet": "f"}


async def test_help_and_the_way_back(
    app_on: Callable[..., NooscopeApp], log: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(home))
    begin(home, "mill", 1, 50).write()
    app = app_on(log, live=False)
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot, lambda view: view.loading is None and view.total > 200)
        await pilot.press("end")
        await shown(app, pilot, lambda view: view.index == view.total)

        for name, key in KEYS.items():
            if key:
                await pilot.press(key)
                await pilot.pause()
                assert not isinstance(app.screen, MainScreen), name
            assert any(one.binding.action == "show('help')" for one in app.screen.active_bindings.values())
            if key:
                await pilot.press("escape")
                await until(pilot, lambda: isinstance(app.screen, MainScreen))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, FleetScreen) and bool(app.screen.rows))


@pytest.mark.usefixtures("home")
async def test_what_is_opened_over_the_empty_fleet_is_not_left_with_it(
    app_on: Callable[..., NooscopeApp], log: Path
) -> None:
    app = app_on(log, live=False)
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot, lambda view: view.total > 200)
        await press_each(pilot, "f")
        fleet = app.screen
        assert isinstance(fleet, FleetScreen)
        await until(pilot, lambda: fleet.has_class("-empty"))
        await press_each(pilot, "question_mark")
        help_screen = app.screen
        fleet.visit()
        await pilot.pause()
        assert app.screen is help_screen
        await press_each(pilot, "escape", "escape")
        assert isinstance(app.screen, MainScreen)


@pytest.mark.usefixtures("home")
async def test_where_there_is_no_session_escape_stays(app_on: Callable[..., NooscopeApp], log: Path) -> None:
    app = app_on(log, live=False)
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot, lambda view: view.total > 200)
        for _ in range(2):
            app.clear_notifications()
            await pilot.press("escape")
            await until(pilot, lambda: bool(len(app._notifications)))
            assert isinstance(app.screen, MainScreen)
            [notice] = app._notifications
            assert notice.message == "no other session on this machine; q quits"
        await press_each(pilot, "f")
        await until(pilot, lambda: app.screen.has_class("-empty"))
        await pilot.pause()
        keys = [key.key for key in app.screen.query_one(KeyLine).keys]
        assert keys[0] == "escape" and "question_mark" in keys[:3]
        assert not set(keys) & set("vobhR") and "enter" not in keys and "slash" not in keys
        await press_each(pilot, "v", "b", "2", "slash", "escape")
        assert isinstance(app.screen, MainScreen)
