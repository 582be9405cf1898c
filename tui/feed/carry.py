"""What a feed takes from earlier sessions and leaves for later ones, each at its time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.message import Message

from core.engine import Step
from core.events import Event
from core.logs.session import LogSession
from core.settings import Settings
from core.society import Society
from core.timeline.run_inputs import RunInputs, InitialStates
from core.timeline.opening import seed_of
from tui.feed.messages import Failed

if TYPE_CHECKING:
    from core.live.live_session import Heritage


class Legacy:
    """A heritage with the clock that says when to hand it on; without one it does nothing."""

    def __init__(
        self,
        heritage: Heritage | None,
        initial_states: InitialStates,
        post: Callable[[Message], object],
        idle: float,
    ) -> None:
        self._heritage = heritage
        self._initial_states = initial_states
        self._session = ""
        self._post = post
        self._idle = idle
        """Seconds of stillness after which what was learned is left."""
        self._heard = 0.0
        self._rested = True

    def __bool__(self) -> bool:
        return self._heritage is not None

    def begin(self, session: LogSession | None, at: float) -> RunInputs:
        """Where minds start whose first event is at `at`; a session watched before starts as it did then."""
        heritage, initial_states = self._heritage, self._initial_states
        if heritage is None or session is None:
            seed = seed_of(session.id) if session else 0
            return RunInputs(initial_states.settings, initial_states.initial._replace(seed=seed))
        self._session = heritage.session = session.id
        return initial_states.begin(session.id, lambda: heritage.initial(session.id, seed_of(session.id), at))

    def applied(self, after: int, settings: Settings) -> None:
        """Keep settings that were applied live, so that a replay applies them at the same place."""
        if self._session:
            self._initial_states.applied(self._session, after, settings)

    def take(self, event: Event, step: Step) -> None:
        """After one event."""
        if self._heritage is not None:
            self._heritage.take(event, step)
            self._heard, self._rested = time.monotonic(), False

    def hand_on(self, society: Society, *, ended: bool = False) -> None:
        """Leave what was learned, once at every longer stillness and at the end."""
        heritage, still = self._heritage, time.monotonic() - self._heard
        self.say(self._initial_states.notices)
        if heritage is None or self._rested or not (ended or still >= self._idle):
            return
        self._rested = True
        (heritage.close if ended else heritage.rest)(society)
        self.say(heritage.problems)

    def say(self, problems: list[str]) -> None:
        """Tell the person, once."""
        for problem in dict.fromkeys(problems):
            self._post(Failed(problem))
        problems.clear()
