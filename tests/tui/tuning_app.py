"""A stage for the bench: an app with a recording, a playhead, and what was asked of it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace
from textual import on
from textual.app import App
from textual.message import Message
from textual.pilot import Pilot
from textual.reactive import var

import themes
from bench.workload import session
from core.events import Event
from core.settings import Settings
from core.store.bookmarks import Bookmark, Labels
from core.store.profiles import ProfileFiles
from core.timeline.timeline import Timeline
from tui.feed import messages
from tui.feed.view import View
from tui.screens.bench import Bench, TuningScreen


class Kept(NamedTuple):
    """Where the stage keeps labels."""

    labels: Labels


class Stage(App[None]):
    """The tuning screen over one recording."""

    view: var[View | None] = var(None)
    recording: var[Timeline | None] = var(None)
    bookmarks: var[tuple[Bookmark, ...]] = var(())

    def __init__(self, folder: Path, events: list[Event] | None = None, theme: str = "nocturne") -> None:
        super().__init__()
        self.animation_level = "none"
        self.timeline = Timeline(Settings())
        self.timeline.extend(session(400) if events is None else events)
        self.feed = Kept(Labels("stage", folder / "marks"))
        self.profile_files = ProfileFiles(folder / "mine" / "settings.toml", folder / "project", folder / "chains")
        for each in themes.load().themes:
            self.register_theme(each)
        self.theme = theme
        self.asked: list[Message] = []

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.defaults(self.current_theme)

    def on_mount(self) -> None:
        self.recording = self.timeline
        self.look(len(self.timeline))
        screen = TuningScreen()
        self.push_screen(screen.data_bind(Stage.view, Stage.recording, Stage.bookmarks))

    def look(self, index: int) -> None:
        """Put the playhead somewhere."""
        timeline = self.timeline
        self.view = View(
            frame=timeline.at(index),
            people=timeline.society_at(index).read(),
            index=index,
            total=len(timeline),
            start=timeline.events[0].at,
            at=timeline.time_of(index),
            end=timeline.time_of(len(timeline)),
        )

    @on(messages.Seek)
    @on(messages.Jump)
    @on(messages.Failed)
    def _note(self, message: Message) -> None:
        self.asked.append(message)
        if isinstance(message, messages.Seek):
            self.look(message.to)

    @on(messages.Apply)
    def _apply(self, message: messages.Apply) -> None:
        self.asked.append(message)
        self.timeline.apply(message.settings)
        message.done()
        if self.view is not None:
            self.view = replace(self.view, at=self.view.at + 0.001)

    @property
    def bench(self) -> Bench:
        """The bench on the screen."""
        return self.screen_stack[1].query_one(Bench)


async def settle(pilot: Pilot[None]) -> None:
    """Let every worker end and what it told arrive."""
    await pilot.pause()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


def seen(app: App[None]) -> str:
    """The text on the screen."""
    width = app.size.width
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text.ljust(width) for strip in strips)
