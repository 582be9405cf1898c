"""How a pilot waits: until the app has done all that it was asked, and not longer."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable
from time import process_time
from typing import Any

import textual.app
import textual.pilot
from rich.console import RenderableType
from textual._compositor import Compositor
from textual.screen import Screen

_SOON = 0.02
"""Seconds within which a timer that is due is waited for, such as the next frame's."""
_GLANCE = 0.002
"""Seconds in which threads that work show that they do."""

_draw = Compositor.render_update
_undrawn: dict[Compositor, list[Screen[Any]] | None] = {}
_waiting = 0


async def wait_until_idle(_least: float = 0.0, longest: float = 1.0) -> None:
    """Until no callback is ready, no timer is due soon and no thread works, or for the longest time.

    Textual waits in steps of 20 ms until the process rests, which is longer than most tests need.
    What changes meanwhile is drawn once, at the end: nobody looks at the frames between.
    """
    global _waiting
    loop: Any = asyncio.get_running_loop()
    end = loop.time() + longest
    while loop.time() < end:
        _waiting += 1
        try:
            await _wait_once(loop, end)
        finally:
            _waiting -= 1
        if not _undrawn:
            return
        while _undrawn:
            compositor, screens = _undrawn.popitem()
            if compositor.root is not None and compositor.root.is_attached:
                _draw(compositor, screen_stack=screens)


async def _wait_once(loop: Any, end: float) -> None:
    while loop.time() < end:
        await asyncio.sleep(0)
        if loop._ready:
            continue
        now = loop.time()
        due = _first_due(loop._scheduled)
        if due <= now + _SOON:
            await asyncio.sleep(max(0.0, due - now))
            continue
        worked = process_time()
        await asyncio.sleep(_GLANCE)
        if process_time() - worked < _GLANCE / 4 and not loop._ready:
            return


def _first_due(timers: Iterable[asyncio.TimerHandle]) -> float:
    return min((each.when() for each in timers if not each.cancelled()), default=math.inf)


def _draw_at_the_end(
    self: Compositor, full: bool = False, screen_stack: list[Screen[Any]] | None = None, simplify: bool = False
) -> RenderableType | None:
    if full or not _waiting:
        return _draw(self, full, screen_stack, simplify)
    _undrawn[self] = screen_stack
    return None


def install() -> None:
    """Let every pilot wait like this."""
    textual.app.wait_for_idle = wait_until_idle  # type: ignore[assignment]
    textual.pilot.wait_for_idle = wait_until_idle
    Compositor.render_update = _draw_at_the_end  # type: ignore[method-assign]
