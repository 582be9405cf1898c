"""A session on disk, and the app on it with its clock and its folders handed in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from bench.workload import session
from core.agents.open_events.reader import write
from core.events import Event
from core.live.source import Target
from core.settings import Settings
from core.store.bookmarks import Bookmarks
from tui.app import NooscopeApp
from tui.feed.view import View


def lines(events: list[Event]) -> bytes:
    """Events as a log that nooscope reads."""
    return b"".join(write(event, "bench-1") + b"\n" for event in events)


@pytest.fixture
def still() -> Settings:
    """Nothing moves by itself."""
    plain = Settings()
    return plain.model_copy(update={"screen": plain.screen.model_copy(update={"motion": False})})


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of 300 events by two agents."""
    path = tmp_path / "log.jsonl"
    path.write_bytes(lines(session(300, agents=2)))
    return path


@pytest.fixture
def app_on(tmp_path: Path, still: Settings) -> Callable[..., NooscopeApp]:
    """The app on a log, with bookmarks and themes in a folder of its own."""

    def make(path: Path | None, *, live: bool = True, settings: Settings | None = None) -> NooscopeApp:
        return NooscopeApp(
            Target(path, live) if path else None,
            settings or still,
            bookmarks=lambda name: Bookmarks(name, tmp_path / "bookmarks"),
            theme_folder=tmp_path / "themes",
        )

    return make


async def shown(app: NooscopeApp, pilot: Pilot[None], fits: Callable[[View], bool]) -> View:
    """The view once it fits; fails if it does not come within a few seconds."""
    for _ in range(600):
        await pilot.pause()
        if app.view is not None and app.view.loading is None and fits(app.view):
            await pilot.pause()
            return app.view
        await asyncio.to_thread(lambda: None)
    raise AssertionError(f"never seen; the last view was {app.view and (app.view.index, app.view.mode)}")
