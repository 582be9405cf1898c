"""What the screen costs: repaints, a new event, the start, standing still, memory."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import islice
from pathlib import Path

from msgspec.structs import replace

from bench.claude import write_log
from bench.measure import Figure, quantile
from bench.workload import session, stream
from core.agents.open_events import write
from core.events import Event
from core.live.source import Target
from core.settings import Settings
from core.store.bookmarks import Bookmarks
from core.timeline.timeline import Timeline
from tui.app import NooscopeApp
from tui.feed.feed import Film
from tui.feed.view import Subject, View
from tui.feed.viewpoint import Playhead

SIZE = (120, 40)
_APPENDED = 200
_A_SECOND = 50
_EACH = 5_000  # Bytes of a Claude Code log for each event in it.
_START = """\
import sys, time
from tui.cli import garbage
garbage.collect_late()
from pathlib import Path
from core.settings.layers import resolve
from tui.app import NooscopeApp
from core.live.source import Target
class Probe(NooscopeApp):
    def watch_view(self, view):
        if view is not None and view.total:
            self.call_after_refresh(self._seen)
    def _seen(self):
        print(time.time(), flush=True)
        self.exit()
probe = Probe(Target(Path(sys.argv[1])), resolve(()).settings, theme_folder=Path(sys.argv[2]))
probe.run(headless=True, size=(120, 40))
"""
_MEMORY = """\
import sys
from bench.measure import peak
from bench.suites.screen import film_of
kept = film_of(int(sys.argv[1]))
print(peak())
"""


def figures() -> list[Figure]:
    bare = _bare_loop()
    repaint, event = asyncio.run(_paints())
    appended = asyncio.run(_appends())
    return [
        Figure("full repaint", 1000 * repaint, "ms", None, "lower", "a bare loop", repaint / bare, "120x40"),
        Figure("one event", 1000 * event, "ms", 8.0, "lower", "a bare loop", event / bare, "120x40, median"),
        Figure("append to screen", 1000 * quantile(appended, 0.99), "ms", 33.0, note="p99, 50 events a second"),
        Figure("start to first paint", _start(10_000), "s", 0.35, note="10,000 events of Claude Code, 50 MB"),
        Figure(
            "idle", 100 * asyncio.run(_idle(10.0)), "% of a core", 0.4, note="live, nothing has come for a while, 10 s"
        ),
        Figure("memory", _memory(100_000), "MB", 120.0, note="100,000 events, whole process"),
    ]


def _bare_loop() -> float:
    """Seconds for a hundred thousand empty rounds: the machine as it is now."""
    start = time.process_time()
    for _ in range(100_000):
        pass
    return time.process_time() - start


def film_of(count: int) -> tuple[Film, Playhead]:
    """A recording of so many events, ready to be shown."""
    settings = Settings()
    film = Film(Timeline(settings), Subject(path="bench"), settings.screen.burn)
    head = Playhead(settings.timeline.play, live=False)
    for event in islice(stream(1, agents=2), count):
        film.add(event)
        head.grow(event.at)
    return film, head


def _lines(events: list[Event]) -> bytes:
    return b"".join(write(event, "bench-1") + b"\n" for event in events)


def _app(folder: Path) -> NooscopeApp:
    settings = Settings()
    still = settings.replace(screen=settings.screen.replace(motion=False))
    return NooscopeApp(None, still, bookmarks=lambda name: Bookmarks(name, folder), theme_folder=folder)


async def _paints() -> tuple[float, float]:
    film, head = film_of(3000)
    views: list[View] = []
    for index in range(1000, 1100):
        head.seek(index)
        views.append(film.view(head, "main", None))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        app = _app(Path(folder))
        async with app.run_test(size=SIZE) as pilot:
            app.pop_screen()
            app.recording, app.view = film.timeline, views[0]
            await pilot.pause()
            waiting = [await _cost(pilot.pause, _nothing) for _ in range(20)]
            repaints = [await _cost(pilot.pause, partial(_refresh, app)) for _ in range(20)]
            events = [await _cost(pilot.pause, partial(_show, app, view)) for view in views[1:]]
    harness = quantile(waiting, 0.5)
    return quantile(repaints, 0.5) - harness, quantile(events, 0.5) - harness


def _nothing() -> None:
    """What the pilot costs by itself."""


def _refresh(app: NooscopeApp) -> None:
    app.screen.refresh(repaint=True, layout=True)


def _show(app: NooscopeApp, view: View) -> None:
    app.view = view


async def _cost(settle: Callable[[], Awaitable[object]], change: Callable[[], None]) -> float:
    """Seconds of processor time from a change until the screen has settled."""
    start = time.process_time()
    change()
    await settle()
    return time.process_time() - start


class _Watched(NooscopeApp):
    """Notes when each event could first be seen."""

    seen: list[tuple[int, float]]

    def watch_view(self, view: View | None) -> None:
        if view is not None:
            total = view.total
            self.call_after_refresh(lambda: self.seen.append((total, time.monotonic())))


async def _appends() -> list[float]:
    """Seconds from writing an event to the picture that has it."""
    events = session(300 + _APPENDED)
    shift = time.time() - events[-1].at
    events = [replace(event, at=event.at + shift) for event in events]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        log = folder / "log.jsonl"
        log.write_bytes(_lines(events[:300]))
        app = _Watched(Target(log), Settings(), bookmarks=lambda key: Bookmarks(key, folder), theme_folder=folder)
        app.seen = []
        written: list[float] = []
        async with app.run_test(size=SIZE) as pilot:
            await pilot.pause(2.0)
            with log.open("ab", buffering=0) as file:
                for event in events[300:]:
                    file.write(_lines([event]))
                    written.append(time.monotonic())
                    await asyncio.sleep(1 / _A_SECOND)
            await pilot.pause(1.0)
        waits = []
        for number, at in enumerate(written, 301):
            waits.append(next(moment for total, moment in app.seen if total >= number) - at)
        return waits


async def _idle(seconds: float) -> float:
    """Share of a core that a live screen takes while nothing comes."""
    events = session(2000)
    shift = time.time() - events[-1].at
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        log = Path(name) / "log.jsonl"
        log.write_bytes(_lines([replace(event, at=event.at + shift) for event in events]))
        app = _app(Path(name))
        async with app.run_test(size=SIZE) as pilot:
            app.pop_screen()
            app.open(Target(log))
            while app.view is None or app.view.total < len(events):
                await pilot.pause(0.1)
            await pilot.pause(14.0)
            start = time.process_time()
            await asyncio.sleep(seconds)
            return (time.process_time() - start) / seconds


def _start(count: int) -> float:
    """Seconds from the start of a process to the first picture with events in it, the best of five."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        log = Path(folder) / "log.jsonl"
        write_log(log, count * _EACH)
        taken = []
        for _ in range(5):
            begun = time.time()
            done = _child(_START, str(log), folder)
            taken.append(float(done.split()[0]) - begun)
        return min(taken)


def _memory(count: int) -> float:
    """Megabytes of a process that holds a recording of so many events."""
    return float(_child(_MEMORY, str(count)))


def _child(code: str, *words: str) -> str:
    as_installed = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True, env=as_installed
    )
    return done.stdout
