"""A stage for a screen: an app that hands it a recording and keeps what it asks for."""

from __future__ import annotations

from functools import cache

from textual import on
from textual.app import App
from textual.screen import Screen
from textual.widget import Widget

import themes
from bench.workload import session
from core.events import MAIN, Event
from core.settings import Settings
from core.timeline.timeline import Timeline
from tests.tui.panel_app import view_at
from tui.feed.messages import Seek, ShowTranscript
from tui.feed.view import View
from tui.screens.board import Board
from tui.widgets.common.panel import Panel


@cache
def recorded(count: int = 600, agents: int = 3, profile: str = "") -> Timeline:
    """A busy session, run once for all tests; nobody may change it."""
    settings = Settings()
    if profile:
        governor = settings.governor.replace(profile=profile)
        settings = settings.replace(governor=governor)
    timeline = Timeline(settings)
    timeline.extend(session(count, agents=agents))
    return timeline


def recording_of(events: list[Event]) -> Timeline:
    """A recording of events made by hand."""
    timeline = Timeline(Settings())
    timeline.extend(events)
    return timeline


class Stage(App[None]):
    """One screen or one panel on it, with what it posts kept."""

    BINDINGS = [("left", "step(-1)", "back"), ("right", "step(1)", "on")]  # noqa: RUF012

    def __init__(
        self,
        shown: Board | Panel,
        timeline: Timeline | None = None,
        index: int | None = None,
        *,
        theme: str = "nocturne",
        agent: str = MAIN,
    ) -> None:
        super().__init__()
        self.shown = shown
        self.timeline = timeline
        self._index = index
        for each in themes.load().themes:
            self.register_theme(each)
        self.theme = theme
        self._agent = agent
        self.sought: list[int] = []
        self.paths: list[str] = []
        self.stepped: list[int] = []
        self.left = False

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.defaults(self.current_theme)

    async def on_mount(self) -> None:
        if isinstance(self.shown, Screen):
            await self.push_screen(self.shown, self._leave)
        else:
            await self.mount(self.shown)
            self.shown.focus()
        if self.timeline is not None:
            self.shown.recording = self.timeline
            self.show(len(self.timeline) if self._index is None else self._index)

    def _leave(self, _: None) -> None:
        self.left = True

    def show(self, index: int) -> View:
        """Put the playhead after the first `index` events."""
        assert self.timeline is not None
        view = view_at(self.timeline, index, self._agent)
        self.shown.view = view
        return view

    def action_step(self, by: int) -> None:
        self.stepped.append(by)

    @on(Seek)
    def _seek(self, message: Seek) -> None:
        self.sought.append(message.to)

    @on(ShowTranscript)
    def _events(self, message: ShowTranscript) -> None:
        self.paths.append(message.path)

    def seen(self) -> str:
        """What is on the screen, as text."""
        return "\n".join(strip.text.rstrip() for strip in self.screen._compositor.render_strips())

    def inside(self, widget: Widget) -> str:
        """What one line-API widget shows, as text."""
        return "\n".join(widget.render_line(y).text.rstrip() for y in range(widget.size.height))
