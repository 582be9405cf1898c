"""A key pressed twice before a screen is gone leaves that screen alone, not the one below it too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.screen import Screen
from textual.widgets import Input

from core.settings import Settings
from core.settings.draft import Draft
from core.store.profiles import ProfileFiles
from tests.tui.conftest import shown, until
from tui.app import NooscopeApp
from tui.screens.dialogs import AskScreen, SaveScreen
from tui.screens.model import MindScreen
from tui.widgets.common.key_line import ConfirmScreen


@pytest.mark.parametrize(
    "make",
    [
        lambda: AskScreen("Bookmark at event 3", hint="", keys="", most=9),
        lambda: ConfirmScreen("Remove?"),
        lambda: SaveScreen(ProfileFiles.usual(), Draft(Settings()), []),
        MindScreen,
    ],
)
async def test_a_screen_takes_only_itself_away(
    make: Callable[[], Screen[None]], log: Path, app_on: Callable[..., NooscopeApp]
) -> None:
    app = app_on(log)
    async with app.run_test(size=(100, 30)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        below = app.screen
        app.push_screen(opened := make())
        await until(pilot, lambda: app.screen is opened)
        opened.dismiss()
        opened.dismiss()
        await until(pilot, lambda: app.screen is below)
        assert app.screen_stack == [below]


async def test_enter_twice_at_once(log: Path, app_on: Callable[..., NooscopeApp]) -> None:
    app = app_on(log)
    async with app.run_test(size=(100, 30)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        below = app.screen
        await pilot.press("b")
        await until(pilot, lambda: app.screen is not below)
        line = app.screen.query_one(Input)
        await line.action_submit()
        await line.action_submit()
        await until(pilot, lambda: app.screen is below)
        assert app.screen_stack == [below]
