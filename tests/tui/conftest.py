"""A session on disk, and the app on it with its clock and its folders handed in."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from textual.pilot import Pilot

from bench.workload import session
from core.agents.open_events import write
from core.events import Event
from core.live.source import Target
from core.settings import Settings
from core.store.bookmarks import Bookmarks
from tests.pilots import rest
from tui.app import NooscopeApp
from tui.feed.view import View


def lines(events: list[Event]) -> bytes:
    """Events as a log that nooscope reads."""
    return b"".join(write(event, "bench-1") + b"\n" for event in events)


@pytest.fixture
def still() -> Settings:
    """Nothing moves by itself."""
    plain = Settings()
    return plain.replace(screen=plain.screen.replace(motion=False))


@cache
def _two_agents() -> bytes:
    return lines(session(300, agents=2))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of 300 events by two agents."""
    path = tmp_path / "log.jsonl"
    path.write_bytes(_two_agents())
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


_PATIENCE = 60.0
"""Seconds after which something is not coming any more, however busy the machine is."""


async def shown(app: NooscopeApp, pilot: Pilot[None], fits: Callable[[View], bool]) -> View:
    """The view once it fits; waits for the next one until then."""
    arrived = asyncio.Event()
    app.watch(app, "view", arrived.set, init=False)
    try:
        async with asyncio.timeout(_PATIENCE):
            while True:
                await rest(pilot)
                view = app.view
                if view is not None and view.loading is None and fits(view):
                    await pilot.pause()
                    return app.view or view
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(arrived.wait(), 0.05)
                arrived.clear()
    except TimeoutError:
        last = app.view and (app.view.index, app.view.mode)
        raise AssertionError(f"never seen; the last view was {last}") from None


async def press_each(pilot: Pilot[None], *keys: str) -> None:
    """Press keys as a person does who looks at the screen after each."""
    for key in keys:
        await pilot.press(key)
        await pilot.pause()


async def until(pilot: Pilot[None], holds: Callable[[], bool]) -> None:
    """Let the app work until something holds."""
    try:
        async with asyncio.timeout(_PATIENCE):
            while not holds():
                await rest(pilot)
                await asyncio.to_thread(lambda: None)
    except TimeoutError:
        raise AssertionError("it never came to hold") from None
