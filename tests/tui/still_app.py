"""The app on a recording that stands still, without a feed."""

from __future__ import annotations

from pathlib import Path

from textual import on

from core.settings import Settings
from core.timeline.timeline import Timeline
from tests.tui.panel_app import view_at
from tui.app import NooscopeApp
from tui.feed import messages

_NOWHERE = Path(__file__).parent / "no-themes-here"


class Observatory(NooscopeApp):
    """Shows one moment of a recording, then any other that is asked for."""

    def __init__(self, timeline: Timeline, index: int, *, theme: str = "nocturne", screen: str = "") -> None:
        plain = Settings()
        look = plain.screen.replace(theme=theme, motion=False)
        super().__init__(None, plain.replace(screen=look), theme_folder=_NOWHERE)
        self._timeline = timeline
        self._index = index
        self._first = screen

    def on_mount(self) -> None:
        self.screen.data_bind(NooscopeApp.view, NooscopeApp.recording, NooscopeApp.bookmarks)
        self.recording = self._timeline
        self.show(self._index)
        if self._first:
            self.action_show(self._first)

    @on(messages.Apply)
    def _apply(self, message: messages.Apply) -> None:
        message.done()

    def action_sessions(self) -> None:
        """There is nothing to pick from."""

    def show(self, index: int) -> None:
        """Put the playhead after the first `index` events."""
        self.view = view_at(self._timeline, index)
