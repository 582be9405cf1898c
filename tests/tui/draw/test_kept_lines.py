"""Lines that are kept look as if everything had been drawn anew, whatever changed in between."""

from __future__ import annotations

from typing import Any

import pytest
from rich.segment import Segment
from textual._styles_cache import StylesCache
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

import themes
from core.settings.program import ScreenSettings
from core.timeline.timeline import Timeline
from tests.tui.panel_app import view_at
from tests.tui.screen_app import recorded
from tui.app import NooscopeApp
from tui.draw.kept_lines import SAFE_LINES, KeptLines, with_kept_lines
from tui.screens.board import Board
from tui.screens.main import MainScreen
from tui.screens.model import MindScreen
from tui.widgets.common.panel import Panel


class Observatory(App[None]):
    """One screen over a recording."""

    CSS_PATH = NooscopeApp.CSS_PATH

    def __init__(self, shown: MainScreen | Board, recording: Timeline) -> None:
        super().__init__()
        self.shown = shown
        self.recording = recording
        self.animation_level = "none"

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.defaults(self.current_theme)

    def get_line_filters(self) -> Any:
        return [*super().get_line_filters(), SAFE_LINES]

    def on_mount(self) -> None:
        self.push_screen(self.shown)
        self.shown.recording = self.recording

    def show(self, index: int) -> None:
        self.shown.view = view_at(self.recording, index)


def picture(app: Observatory) -> list[list[tuple[str, Any]]]:
    """Every cell on the screen with its style, however the lines are cut into pieces."""
    return [cells(strip) for strip in app.shown._compositor.render_strips()]


def cells(strip: Strip) -> list[tuple[str, Any]]:
    return [(char, segment.style) for segment in strip for char in segment.text]


async def drawn_anew(app: Observatory) -> list[list[tuple[str, Any]]]:
    """The same picture with nothing kept."""
    for widget in (app.shown, *app.shown.walk_children(Widget)):
        widget._styles_cache.clear()
        if isinstance(widget, Panel):
            widget._strips = None
    return picture(app)


@pytest.mark.parametrize(
    ("make", "size"),
    [
        (lambda: MainScreen(ScreenSettings()), (120, 40)),
        (lambda: MainScreen(ScreenSettings()), (80, 24)),
        (lambda: MainScreen(ScreenSettings()), (200, 60)),
        (MindScreen, (120, 40)),
    ],
)
async def test_kept_lines_look_as_if_all_were_drawn_anew(make: Any, size: tuple[int, int]) -> None:
    app = Observatory(make(), recorded())
    async with app.run_test(size=size) as pilot:
        for index in (200, 201, 202, 260, 261, 262, 263, 50, 0, 51, 600):
            app.show(index)
            await pilot.pause()
            kept = picture(app)
            assert kept == await drawn_anew(app)
        app.theme = "textual-light"
        await pilot.pause()
        app.show(300)
        await pilot.pause()
        kept = picture(app)
        assert kept == await drawn_anew(app)
        for panel in app.shown.query(Panel):
            if panel.focusable:
                panel.focus()
                await pilot.pause()
                app.show(301 if app.shown.view is not None and app.shown.view.index == 300 else 300)
                await pilot.pause()
                kept = picture(app)
                assert kept == await drawn_anew(app)
                break
        await pilot.resize_terminal(size[0] + 10, size[1])
        app.show(310)
        await pilot.pause()
        kept = picture(app)
        assert kept == await drawn_anew(app)


async def test_a_picture_asks_only_for_what_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Observatory(MainScreen(ScreenSettings()), recorded())
    async with app.run_test(size=(120, 40)) as pilot:
        app.show(300)
        await pilot.pause()
        picture(app)
        drawn: list[Widget] = []
        whole = StylesCache.render_widget

        def noted(self: Any, widget: Widget, crop: Any) -> list[Strip]:
            drawn.append(widget)
            return whole(self, widget, crop)

        monkeypatch.setattr(StylesCache, "render_widget", noted)
        picture(app)
        assert [widget for widget in drawn if isinstance(widget._styles_cache, KeptLines)] == []
        app.show(301)
        await pilot.pause()
        picture(app)
        assert app.shown not in drawn
        assert {type(widget).__name__ for widget in drawn if isinstance(widget, Panel)} <= {
            "TimelineStrip",
            "PathTree",
            "SignalFeed",
            "SalienceQueue",
        }


async def test_a_hidden_panel_is_drawn_as_it_stands_once_it_is_seen() -> None:
    screen = MainScreen(ScreenSettings())
    app = Observatory(screen, recorded())
    async with app.run_test(size=(80, 24)) as pilot:
        for index in (100, 200, 300):
            app.show(index)
            await pilot.pause()
        for name in ("context", "salience", "paths"):
            screen.aside = name
            await pilot.pause()
            kept = picture(app)
            assert kept == await drawn_anew(app)


class _Wide(Widget):
    """As wide as it is told to be, of which only a part is in sight."""

    DEFAULT_CSS = "_Wide { width: 40; height: 4; }"

    def render_line(self, y: int) -> Strip:
        return Strip([Segment(f"{self.region.width}".ljust(50))])


async def test_a_widget_that_changed_its_width_out_of_sight_is_drawn_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stage(App[None]):
        def compose(self) -> ComposeResult:
            yield with_kept_lines(_Wide())

    app = Stage()
    async with app.run_test(size=(20, 6)) as pilot:
        wide = app.query_one(_Wide)
        seen = Region(0, 0, 20, 4)
        assert wide.render_lines(seen)[1].text.startswith("40")
        monkeypatch.setattr(_Wide, "region", Region(0, 0, 50, 4))
        wide._styles_cache.set_dirty(Region(0, 1, 50, 1))
        assert [strip.text[:2] for strip in wide.render_lines(seen)] == ["50"] * 4
        await pilot.pause()
