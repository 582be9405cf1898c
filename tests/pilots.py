"""Apps under test wait no longer than they must, and do not do again what every app does alike."""

from __future__ import annotations

import asyncio
import gc
import math
from collections.abc import Hashable, Iterable
from time import process_time
from typing import Any
from weakref import WeakSet

import textual.app
import textual.pilot
from rich.console import RenderableType
from textual._compositor import Compositor
from textual.app import App
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.screen import Screen

_SOON = 0.02
"""Seconds within which a timer that is due is waited for, such as the next frame's."""
_GLANCE = 0.002
"""Seconds in which threads that work show that they do."""
_RESTS = 30
_WORK = 0.3
"""Rests, and seconds of work, after which what still goes on is no answer to what was asked."""

_draw = Compositor.render_update
_parse = Stylesheet._parse_rules
_parsed: dict[Hashable, list[RuleSet]] = {}
_undrawn: dict[Compositor, list[Screen[Any]] | None] = {}
_drawn: WeakSet[App[Any]] = WeakSet()
"""Apps that were drawn; the first time is when a pilot first waits for one."""
_waiting = 0


async def wait_until_idle(_least: float = 0.0, longest: float = 1.0) -> None:
    """Until no callback is ready, no timer is due soon and no thread works.

    Textual waits in steps of 20 ms until the process rests, which is longer than most tests need.
    What changes meanwhile is drawn once, at the end: nobody looks at the frames between. Where
    something goes on by itself, such as a session that plays, the wait ends all the same.
    """
    global _waiting
    loop: Any = asyncio.get_running_loop()
    wait = _Wait(loop, loop.time() + longest)
    while not wait.over:
        _waiting += 1
        try:
            await wait.once()
        finally:
            _waiting -= 1
        if not _undrawn:
            return
        while _undrawn:
            compositor, screens = _undrawn.popitem()
            if compositor.root is not None and compositor.root.is_attached:
                _drawn.add(compositor.root.app)
                _draw(compositor, screen_stack=screens)


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
        while not self.over:
            await asyncio.sleep(0)
            if self._loop._ready:
                continue
            self._rests += 1
            now = self._loop.time()
            due = _first_due(self._loop._scheduled)
            if due <= now + _SOON:
                await asyncio.sleep(max(0.0, due - now))
                continue
            worked = process_time()
            await asyncio.sleep(_GLANCE)
            if process_time() - worked < _GLANCE / 4 and not self._loop._ready:
                return


def _first_due(timers: Iterable[asyncio.TimerHandle]) -> float:
    return min((each.when() for each in timers if not each.cancelled()), default=math.inf)


def _draw_at_the_end(
    self: Compositor,
    full: bool = False,
    screen_stack: list[Screen[Any]] | None = None,
    simplify: bool = False,
) -> RenderableType | None:
    app = None if self.root is None else self.root.app
    if full or app is None or not app.is_headless or (app in _drawn and not _waiting):
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
    Stylesheet._parse_rules = _parse_once  # type: ignore[method-assign]
    Compositor.render_update = _draw_at_the_end  # type: ignore[method-assign]
    for waits in (textual.app, textual.pilot):
        setattr(waits, "wait_for_idle", wait_until_idle)  # noqa: B010 it is no name of theirs


def let_apps_go() -> None:
    """An app keeps what it read from being looked at as garbage; in a process of many, each would stay."""
    for name in ("freeze", "unfreeze"):
        setattr(gc, name, lambda: None)
