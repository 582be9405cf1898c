"""A screen is styled for its size from the start."""

from __future__ import annotations

import pytest
from textual.app import App
from textual.screen import Screen

import themes
from core.settings.program import ScreenSettings
from tests.tui.conftest import until
from tests.tui.screen_app import recorded
from tests.tui.still_app import Observatory
from tui.screens.board import classes_for
from tui.screens.main import PANELS, MainScreen


@pytest.mark.parametrize("width", [0, 99, 100, 159, 160, 300])
@pytest.mark.parametrize("height", [0, 31, 32, 51, 52, 90])
def test_the_classes_are_those_that_textual_gives(width: int, height: int) -> None:
    screen = MainScreen(ScreenSettings())
    told = screen._get_breakpoint_classes(width, screen.HORIZONTAL_BREAKPOINTS or [])
    told |= screen._get_breakpoint_classes(height, screen.VERTICAL_BREAKPOINTS or [])
    assert set(classes_for(width, height).split()) == told


class _Sized(App[None]):
    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.defaults(self.current_theme)

    def get_default_screen(self) -> Screen[None]:
        return MainScreen(ScreenSettings(), size=self.size)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}")
async def test_a_screen_that_knows_its_size_keeps_its_classes_and_takes_others(size: tuple[int, int]) -> None:
    app = _Sized()
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert set(classes_for(*size).split()) <= app.screen.classes
        await pilot.resize_terminal(100, 30)
        await pilot.pause()
        assert {"-wide", "-low"} <= app.screen.classes
        assert not {"-narrow", "-huge", "-tall", "-vast"} & app.screen.classes


@pytest.mark.parametrize("number", range(1, 7))
async def test_every_panel_can_be_seen_whole_on_a_very_small_terminal(number: int) -> None:
    app = Observatory(recorded(60, 1), 40)
    async with app.run_test(size=(60, 15)) as pilot:
        await pilot.press(str(number))
        panels, panel = app.screen.query_one("#panels"), app.screen.query_one(f"#{list(PANELS)[number - 1]}")
        await until(pilot, lambda: panels.region.height > 0 and panels.region.contains_region(panel.region))
