"""What a feed takes from earlier sessions and leaves for later ones, each at its time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.message import Message

from core.engine import Step
from core.events import Event
from core.logs.session import LogSession
from core.society import Society
from core.timeline.initial_state import Beginning
from core.timeline.opening import seed_of
from tui.feed.messages import Failed

if TYPE_CHECKING:
    from core.live.live_session import Heritage


class Legacy:
    """A heritage with the clock that says when to hand it on; without one it does nothing."""

    def __init__(
        self,
        heritage: Heritage | None,
        beginning: Beginning,
        post: Callable[[Message], object],
        idle: float,
    ) -> None:
        self._heritage = heritage
        self._given = beginning
        self._post = post
        self._idle = idle
        """Seconds of stillness after which what was learned is left."""
        self._heard = 0.0
        self._rested = True

    def __bool__(self) -> bool:
        return self._heritage is not None

    def beginning(self, session: LogSession | None, at: float) -> Beginning:
        """What minds that begin at `at` are given."""
        if self._heritage is None or session is None:
            return self._given
        return self._heritage.beginning(session.id, seed_of(session.id), at)

    def take(self, event: Event, step: Step) -> None:
        """After one event."""
        if self._heritage is not None:
            self._heritage.take(event, step)
            self._heard, self._rested = time.monotonic(), False

    def hand_on(self, society: Society, *, ended: bool = False) -> None:
        """Leave what was learned, once at every longer stillness and at the end."""
        heritage, still = self._heritage, time.monotonic() - self._heard
        if heritage is None or self._rested or not (ended or still >= self._idle):
            return
        self._rested = True
        (heritage.close if ended else heritage.rest)(society)
        for problem in heritage.problems:
            self._post(Failed(problem))
        heritage.problems.clear()
