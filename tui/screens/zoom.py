"""One panel alone, with its details."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.reactive import var
from textual.screen import Screen
from textual.widgets import Footer

from core.settings.screen import ScreenSettings
from core.store.bookmarks import Bookmark
from core.timeline.timeline import Timeline
from tui.panels import PANELS
from tui.view import View
from tui.widgets.header import StatusHeader
from tui.widgets.panel import Panel
from tui.widgets.timeline import TimelineStrip

WIDTHS: list[tuple[int, str]] = [(0, "-narrow"), (100, "-wide"), (160, "-huge")]
HEIGHTS: list[tuple[int, str]] = [(0, "-low"), (32, "-tall"), (52, "-vast")]


class ZoomScreen(Screen[None]):
    """A panel between status and timeline; all keys of the film work here too."""

    AUTO_FOCUS = "#zoomed"
    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,backspace", "leave", "back", id="zoom.leave", tooltip="Back to all panels"),
        Binding(
            "plus,equals_sign",
            "zoom(1)",
            "closer",
            show=False,
            id="timeline.closer",
            tooltip="Show less time",
        ),
        Binding("minus", "zoom(-1)", "wider", show=False, id="timeline.wider", tooltip="Show more time"),
    ]

    view: var[View | None] = var(None)
    recording: var[Timeline | None] = var(None)
    bookmarks: var[tuple[Bookmark, ...]] = var(())

    def __init__(self, name: str, settings: ScreenSettings) -> None:
        super().__init__()
        self._panel = name
        self._settings = settings

    def compose(self) -> ComposeResult:
        yield StatusHeader().data_bind(ZoomScreen.view)
        panel = PANELS[self._panel](id="zoomed")
        panel.detailed = True
        yield panel.data_bind(ZoomScreen.view, ZoomScreen.recording)
        strip = TimelineStrip(self._settings.gap)
        strip.series = self._settings.series
        yield strip.data_bind(ZoomScreen.view, ZoomScreen.recording, ZoomScreen.bookmarks)
        yield Footer(compact=True, show_command_palette=False)

    def on_panel_zoom(self, message: Panel.Zoom) -> None:
        message.stop()
        self.action_leave()

    def action_leave(self) -> None:
        self.dismiss()

    def action_zoom(self, steps: int) -> None:
        """Show a shorter or a longer stretch of the timeline."""
        self.query_one(TimelineStrip).zoom_by(steps)
