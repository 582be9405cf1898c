"""Apps under test wait no longer than they must, and do not do again what every app does alike."""

from __future__ import annotations

import asyncio
import gc
import math
import threading
from collections.abc import Hashable, Iterable
from time import process_time
from typing import Any

import textual.app
import textual.pilot
from rich.console import RenderableType
from textual._compositor import Compositor
from textual._context import active_app
from textual.app import App
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.pilot import Pilot
from textual.screen import Screen
from textual.timer import Timer

_SOON = 0.02
"""Seconds within which a timer that is due is waited for."""
_GLANCE = 0.002
"""Seconds in which threads that work show that they do."""
_RESTS = 30
_WORK = 0.3
"""Rests, and seconds of work, after which what still goes on is no answer to what was asked."""
_SINCE = 0.0005
"""Seconds after a rest within which nothing can have begun but what the loop itself knows of."""

_draw = Compositor.render_update
_parse = Stylesheet._parse_rules
_parsed: dict[Hashable, list[RuleSet]] = {}
_undrawn: dict[Compositor, list[Screen[Any]] | None] = {}
_shut_down = App._shutdown
_threads = 1
"""Threads that are there without any app."""
_rested = 0.0
"""When an app was last seen to rest, by the clock of its loop."""


async def wait_until_idle(_least: float = 0.0, longest: float = 1.0) -> None:
    """Until no callback is ready, no timer is due soon and no thread works.

    Textual waits in steps of 20 ms until the process rests, which is longer than most tests need.
    What changes meanwhile is drawn once, at the end: nobody looks at the frames between. Where
    something goes on by itself, such as a session that plays, the wait ends all the same.
    """
    global _rested
    loop: Any = asyncio.get_running_loop()
    wait = _Wait(loop, loop.time() + longest)
    while not wait.over:
        await wait.once()
        if not _draw_what_changed():
            return
        _rested = loop.time()


async def wait_undrawn(_least: float = 0.0, longest: float = 1.0) -> None:
    """The same without a picture: whoever pressed a key looks once the test goes on to wait."""
    loop: Any = asyncio.get_running_loop()
    await _Wait(loop, loop.time() + longest).once()


async def rest(pilot: Pilot[Any]) -> None:
    """A pause without a picture, for who waits for something else first."""
    await pilot._wait_for_screen()
    await wait_undrawn()
    pilot.app.screen._on_timer_update()


def _draw_what_changed() -> bool:
    drawn = False
    while _undrawn:
        compositor, screens = _undrawn.popitem()
        if compositor.root is not None and compositor.root.is_attached:
            _draw(compositor, screen_stack=screens)
            drawn = True
    return drawn


async def _draw_and_shut_down(self: App[Any]) -> None:
    """The last picture is drawn as well, so that nothing is left out that cannot be drawn."""
    try:
        if self.is_headless:
            _draw_what_changed()
    finally:
        await _shut_down(self)


class _Wait:
    """One wait for the loop and the threads of an app."""

    def __init__(self, loop: Any, end: float) -> None:
        self._loop = loop
        self._end = end
        self._worked = process_time()
        self._rests = 0

    @property
    def over(self) -> bool:
        ongoing = self._rests >= _RESTS and process_time() - self._worked > _WORK
        return ongoing or self._loop.time() >= self._end

    async def once(self) -> None:
        """Until it first rests."""
        global _rested
        while not self.over:
            await asyncio.sleep(0)
            if self._loop._ready:
                continue
            self._rests += 1
            frame = _frame_timer()
            if frame is not None and frame._active.is_set():
                active_app.get().screen._on_timer_update()
                continue
            now = self._loop.time()
            due = _first_due(self._loop._scheduled, frame)
            if due <= now + _SOON:
                await asyncio.sleep(max(0.0, due - now))
                continue
            if now - _rested < _SINCE or await self._threads_rest():
                _rested = self._loop.time()
                return

    async def _threads_rest(self) -> bool:
        if threading.active_count() <= _threads:
            return True
        worked = process_time()
        await asyncio.sleep(_GLANCE)
        return process_time() - worked < _GLANCE / 4 and not self._loop._ready


def _frame_timer() -> Timer | None:
    """What draws the screen's next frame; it is not waited for, and while it pauses it does nothing."""
    app = active_app.get(None)
    return None if app is None or not app._screen_stack else app.screen.__dict__.get("_Screen__update_timer")


def _first_due(timers: Iterable[Any], frame: Timer | None) -> float:
    slept = None if frame is None or frame._task is None else getattr(frame._task, "_fut_waiter", None)
    return min(
        (
            each.when()
            for each in timers
            if not each.cancelled() and (slept is None or not any(one is slept for one in each._args))
        ),
        default=math.inf,
    )


def _draw_at_the_end(
    self: Compositor, full: bool = False, screen_stack: list[Screen[Any]] | None = None, simplify: bool = False
) -> RenderableType | None:
    if full or self.root is None or not self.root.app.is_headless:
        return _draw(self, full, screen_stack, simplify)
    _undrawn[self] = screen_stack
    return None


def _parse_once(self: Stylesheet, css: str, *args: Any, **options: Any) -> list[RuleSet]:
    """Rules are only read once they are there, so that apps can share them."""
    key = (css, args, tuple(options.items()), frozenset(self._variables.items()))
    if key not in _parsed:
        _parsed[key] = _parse(self, css, *args, **options)
    return _parsed[key]


def install() -> None:
    """Let every app of every test run like this."""
    global _threads
    _threads = threading.active_count()
    Stylesheet._parse_rules = _parse_once  # type: ignore[method-assign]
    Compositor.render_update = _draw_at_the_end  # type: ignore[method-assign]
    RuleSet.__hash__ = object.__hash__  # type: ignore[method-assign]
    App._shutdown = _draw_and_shut_down  # type: ignore[method-assign]
    for waits, how in ((textual.app, wait_undrawn), (textual.pilot, wait_until_idle)):
        setattr(waits, "wait_for_idle", how)  # noqa: B010 it is no name of theirs


def let_apps_go() -> None:
    """An app keeps what it read from being looked at as garbage; in a process of many, each would stay."""
    for name in ("freeze", "unfreeze"):
        setattr(gc, name, lambda: None)
