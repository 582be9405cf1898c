"""One panel alone, with its details."""

from __future__ import annotations

from collections.abc import Iterable

from textual.widget import Widget

from core.settings.screen import ScreenSettings
from tui.panels import PANELS
from tui.screens.board import Board
from tui.widgets.panel import Panel


class ZoomScreen(Board):
    """A panel between status and timeline; all keys of the film work here too."""

    AUTO_FOCUS = "#zoomed"
    DEFAULT_CSS = """
    ZoomScreen #zoomed { height: 1fr; }
    """

    def __init__(self, name: str, settings: ScreenSettings) -> None:
        super().__init__(settings)
        self._panel = name

    def body(self) -> Iterable[Widget]:
        panel = PANELS[self._panel](id="zoomed")
        panel.detailed = True
        yield panel.data_bind(Board.view, Board.recording)

    def on_panel_zoom(self, message: Panel.Zoom) -> None:
        message.stop()
        if message.panel.id == "zoomed":
            self.action_leave()
