"""The main screen: its keys, its mouse, its sizes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tui.conftest import shown
from tui.app import NooscopeApp
from tui.screens.main import ASIDE, PANELS
from tui.widgets.common.key_line import KeyLine
from tui.widgets.common.timeline_strip import TimelineStrip

Make = Callable[..., NooscopeApp]


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60), (80, 50), (120, 24)])
async def test_all_that_is_seen_lies_inside(log: Path, app_on: Make, size: tuple[int, int]) -> None:
    app = app_on(log)
    async with app.run_test(size=size) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        whole = app.screen.region
        seen = [panel for panel in app.screen.query("Panel") if panel.display]
        assert all(whole.contains_region(panel.region) and panel.size.height >= 1 for panel in seen)
        small = size[0] < 100 and size[1] < 32
        hidden = {name for name in PANELS if not app.screen.query_one(f"#{name}").display}
        assert hidden == (set(ASIDE[1:]) if small else set())
        assert app.screen.query_one("#emotion").size.height >= 6


async def test_the_footer_fits_eighty_columns(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        line = app.screen.query_one(KeyLine)
        assert len(line.keys) >= 8
        assert sum(key.width + 1 for key in line.keys) - 1 <= line.size.width == 80


async def test_a_number_focuses_its_panel_and_brings_it_forward(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        for number, name in enumerate(PANELS, 1):
            await pilot.press(str(number))
            panel = app.screen.query_one(f"#{name}")
            assert app.focused is panel
            assert panel.display
        await pilot.press("0")
        assert app.focused is app.screen.query_one(TimelineStrip)
        await pilot.press("escape")
        assert app.focused is None


async def test_enter_shows_a_panel_alone_and_escape_comes_back(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        main = app.screen
        await pilot.press("1", "enter")
        await pilot.pause()
        assert app.screen is not main
        assert app.screen.query_one("#zoomed").size.width > 100
        await pilot.press("escape")
        await pilot.pause()
        assert app.screen is main


async def test_a_click_and_a_drag_on_the_timeline_seek(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        strip = app.screen.query_one(TimelineStrip)
        await pilot.click(strip, offset=(60, 2))
        clicked = await shown(app, pilot, lambda view: view.mode == "paused")
        assert 130 < clicked.index < 170
        await pilot.mouse_down(strip, offset=(30, 2))
        await pilot.hover(strip, offset=(90, 2))
        await pilot.mouse_up(strip, offset=(90, 2))
        dragged = await shown(app, pilot, lambda view: view.index > 200)
        assert dragged.index < 250
        await pilot.click(strip, offset=(117, 2))
        assert (await shown(app, pilot, lambda view: view.mode == "live")).index == 300
        await pilot.press("1")
        for edge in ((10, 0), (10, strip.outer_size.height - 1)):
            await pilot.click(strip, offset=edge)
            await pilot.pause()
            assert app.focused is strip and app.view is not None and app.view.mode == "live"


async def test_the_timeline_zooms_and_shows_other_readings(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        strip = app.screen.query_one(TimelineStrip)
        await pilot.press("plus", "plus")
        assert "zoom 4x" in str(strip.border_subtitle)
        for _ in range(20):
            await pilot.press("plus")
        assert 300 >> strip.zoom >= 16
        for _ in range(20):
            await pilot.press("minus")
        assert strip.zoom == 0
        await pilot.press("0", "down")
        assert strip.series == "frustration"
        assert "frustration" in str(strip.border_title)


async def test_resized_while_it_plays(log: Path, app_on: Make) -> None:
    app = app_on(log, live=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.playing)
        for size in ((80, 24), (200, 60), (40, 12), (120, 40)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
        assert app.is_running
        assert app.screen.has_class("-wide") and app.screen.has_class("-tall")
