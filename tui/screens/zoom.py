"""One panel alone, with its details."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from textual.widget import Widget

from core.settings.screen import ScreenSettings
from tui.screens.board import ZOOMED, Board
from tui.widgets.common.panel import Panel


class ZoomScreen(Board):
    """A panel between status and timeline; the playback keys work here too."""

    AUTO_FOCUS = "#zoomed"
    key_names: ClassVar[Mapping[str, str]] = ZOOMED
    """What the keys that zoom do here."""
    DEFAULT_CSS = """
    ZoomScreen #zoomed { height: 1fr; }
    """

    def __init__(self, origin: Panel, settings: ScreenSettings) -> None:
        super().__init__(settings)
        self._origin = origin
        """The panel on the main screen."""

    def shared(self) -> Iterable[tuple[Panel, Panel]]:
        yield from super().shared()
        yield self._origin, self.query_one("#zoomed", Panel)

    def body(self) -> Iterable[Widget]:
        panel = type(self._origin)(id="zoomed")
        panel.detailed = True
        yield panel.data_bind(Board.view, Board.recording)

    def on_panel_zoom(self, message: Panel.Zoom) -> None:
        message.stop()
        if message.panel.id == "zoomed":
            self.action_leave()
