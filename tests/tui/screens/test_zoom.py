"""A panel shown alone is arranged as it was, and what is arranged there stays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.conftest import shown
from tui.app import NooscopeApp
from tui.screens.board import ZoomScreen
from tui.screens.main import MainScreen
from tui.screens.transcript import TranscriptScreen
from tui.widgets.common.card import Card
from tui.widgets.common.key_line import KeyLine
from tui.widgets.common.panel import Panel
from tui.widgets.common.timeline_strip import TimelineStrip
from tui.widgets.main.paths import PathTree
from tui.widgets.main.signals import SignalFeed

Make = Callable[..., NooscopeApp]


def _look(panel: Panel) -> dict[str, Any]:
    return {name.strip("_"): getattr(panel, name) for name in panel.LOOK}


async def still_at(app: NooscopeApp, pilot: Pilot[None]) -> None:
    """Hold the film at its end."""
    await shown(app, pilot, lambda view: view.total == 300 and view.loading is None)
    await pilot.press("space")
    await shown(app, pilot, lambda view: view.mode == "paused")


async def press(pilot: Pilot[None], *keys: str) -> None:
    await pilot.press(*keys)
    await pilot.pause()


async def test_the_tree_keeps_order_folds_and_cursor_both_ways(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await still_at(app, pilot)
        tree = app.screen.query_one(PathTree)
        await press(pilot, "3", "v", "down", "o", "down", "down")
        assert tree.order == "recency" and tree.folded and tree.cursor
        before = _look(tree)
        await press(pilot, "z")
        zoomed = app.screen.query_one("#zoomed", PathTree)
        assert zoomed is not tree and _look(zoomed) == before
        assert [row.path for row in zoomed.rows] == [row.path for row in tree.rows]
        assert "by recency" in str(zoomed.border_subtitle)
        await press(pilot, "v", "down")
        chosen = _look(zoomed)
        assert chosen["order"] == "edits" and chosen["cursor"] != before["cursor"]
        await press(pilot, "escape")
        assert isinstance(app.screen, MainScreen)
        assert _look(tree) == chosen
        assert [row.path for row in tree.rows] == [row.path for row in zoomed.rows]
        assert "by edits" in str(tree.border_subtitle)
        await press(pilot, "up")
        assert tree.cursor != chosen["cursor"] and zoomed.cursor == chosen["cursor"]


async def test_the_line_of_keys_says_that_the_key_leads_back(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await still_at(app, pilot)

        def called(key: str) -> str:
            keys = app.screen.query_one(KeyLine).keys
            return next((one.description for one in keys if one.key == key), "")

        for panel, key in (("1", "enter"), ("3", "z")):
            await press(pilot, panel)
            assert called(key) == "zoom"
            await press(pilot, key)
            assert called(key) == "all panels"
            await press(pilot, key)
        await press(pilot, "m", "tab")
        assert called("enter") == "zoom"
        await press(pilot, "enter")
        assert called("enter") == "all panels"
        await press(pilot, "enter")
        assert called("enter") == "zoom"


async def test_the_trees_filter_goes_along(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await still_at(app, pilot)
        tree = app.screen.query_one(PathTree)
        await press(pilot, "3")
        part = tree.rows[-1].path.rsplit("/", 1)[-1][:4]
        await press(pilot, "slash", *part, "enter", "z")
        zoomed = app.screen.query_one("#zoomed", PathTree)
        assert zoomed.sought == part and zoomed.has_class("-filtering")
        assert zoomed.query_one("Input").display
        await press(pilot, "escape")
        assert zoomed.sought == "" and not isinstance(app.screen, MainScreen)
        await press(pilot, "escape")
        assert isinstance(app.screen, MainScreen)
        assert tree.sought == "" and not tree.has_class("-filtering")
        assert len(tree.rows) == len(zoomed.rows)


async def test_the_feed_keeps_whose_entries_it_shows_and_the_one_chosen(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await still_at(app, pilot)
        feed = app.screen.query_one(SignalFeed)
        await press(pilot, "6", "v", "down", "down")
        before = _look(feed)
        assert not before["everyone"] and before["chosen"] is not None
        await press(pilot, "z")
        zoomed = app.screen.query_one("#zoomed", SignalFeed)
        assert _look(zoomed) == before
        assert str(zoomed.border_subtitle).startswith("3 of")
        await press(pilot, "v", "down")
        chosen = _look(zoomed)
        assert chosen["everyone"] and chosen["chosen"] != before["chosen"]
        await press(pilot, "z")
        assert isinstance(app.screen, MainScreen)
        assert _look(feed) == chosen


@pytest.mark.parametrize(("there", "back"), [("z", "escape"), ("m", "m"), ("m", "escape"), ("e", "e")])
async def test_the_film_is_drawn_alike_on_every_screen(log: Path, app_on: Make, there: str, back: str) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await still_at(app, pilot)
        strip = app.screen.query_one(TimelineStrip)
        await press(pilot, "0", "down", "plus", "3", there)
        above = app.screen.query_one(TimelineStrip)
        assert above is not strip
        assert above.series == "frustration" and above.zoom == 1
        assert "frustration" in str(above.border_title)
        above.action_series(1)
        await press(pilot, "plus", back)
        assert isinstance(app.screen, MainScreen)
        assert strip.series == above.series != "frustration" and strip.zoom == 2
        assert above.series in str(strip.border_title)


@pytest.mark.parametrize("panel", ["emotion", "triangle", "context", "salience"])
async def test_a_double_click_zooms_a_panel_and_another_one_goes_back(log: Path, app_on: Make, panel: str) -> None:
    """Two clicks show it alone, as enter does."""
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await still_at(app, pilot)
        await pilot.click(f"#{panel}", offset=(5, 2))
        assert isinstance(app.screen, MainScreen)
        await pilot.double_click(f"#{panel}", offset=(5, 2))
        await pilot.pause()
        assert isinstance(app.screen, ZoomScreen)
        await pilot.double_click("#zoomed", offset=(5, 2))
        await pilot.pause()
        assert isinstance(app.screen, MainScreen)


async def test_a_double_click_zooms_a_card_and_another_one_shows_all(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await still_at(app, pilot)
        await press(pilot, "m")
        card = app.screen.query(Card).first()
        await pilot.double_click(card, offset=(5, 2))
        await pilot.pause()
        assert app.screen.maximized is card and card.detailed
        await pilot.double_click(card, offset=(5, 2))
        await pilot.pause()
        assert app.screen.maximized is None and not card.detailed
        await pilot.double_click(app.screen.query_one(TimelineStrip), offset=(20, 2))
        await pilot.pause()
        assert app.screen.maximized is None


async def test_a_double_click_on_a_path_or_a_signal_goes_there_and_zooms_nothing(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await still_at(app, pilot)
        await pilot.double_click(SignalFeed, offset=(5, 1))
        await pilot.pause()
        assert isinstance(app.screen, MainScreen)
        await pilot.double_click(TimelineStrip, offset=(20, 2))
        await pilot.pause()
        assert isinstance(app.screen, MainScreen)
        await pilot.double_click(PathTree, offset=(12, 1))
        await pilot.pause()
        assert isinstance(app.screen, TranscriptScreen)
