"""Every screen has help behind `?`, and escape leads from each back to the fleet."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tui.conftest import shown
from tui.app import NooscopeApp
from tui.screens.fleet import FleetScreen
from tui.screens.main import MainScreen

KEYS = {
    "main": "",
    "transcript": "e",
    "agents": "S",
    "mind": "m",
    "governance": "v",
    "response": "r",
    "fleet": "f",
}


@pytest.mark.usefixtures("home")
async def test_help_and_the_way_back(app_on: Callable[..., NooscopeApp], log: Path) -> None:
    app = app_on(log, live=False)
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot, lambda view: view.loading is None and view.total > 200)
        await pilot.press("end")
        await shown(app, pilot, lambda view: view.index == view.total)

        async def until(screen: type) -> None:
            async with asyncio.timeout(30):
                while not isinstance(app.screen, screen):
                    await pilot.pause(0.01)

        for name, key in KEYS.items():
            if key:
                await pilot.press(key)
                await pilot.pause()
                assert not isinstance(app.screen, MainScreen), name
            assert any(one.binding.action == "show('help')" for one in app.screen.active_bindings.values())
            if key:
                await pilot.press("escape")
                await until(MainScreen)
        await pilot.press("escape")
        await until(FleetScreen)
