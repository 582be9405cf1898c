"""What a live session on the screen takes from earlier ones, tells the person, and leaves for later ones."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TextIO

from core.engine import Step
from core.errors import StoreError
from core.events import MAIN, Event
from core.live.carry_over import Continuity
from core.live.notices import Channel, Herald
from core.mind.episode import Episode
from core.settings import Settings
from core.society import Society
from core.store.episodes import EpisodeStore
from core.timeline.initial_state import PLAIN, InitialState

_AT_ONCE = 16
"""Episodes written together."""
_FRESH = 120.0
"""Seconds after which an event is history, and no notice is given of it."""


class Heritage:
    """One live session between those before and those after it; used by the feed's thread alone."""

    def __init__(
        self,
        settings: Settings,
        *,
        initial: InitialState = PLAIN,
        use: bool = True,
        app: Channel | None = None,
        stream: TextIO | None = None,
        wall: Callable[[], float],
        store: EpisodeStore | None = None,
        continuity: Continuity | None = None,
    ) -> None:
        self.problems: list[str] = []
        self._settings = settings
        self._given = initial
        self._use = use
        self._wall = wall
        self._store = store or EpisodeStore()
        self._continuity = continuity or Continuity(settings, use=use)
        self._herald = Herald(settings.response.notices, stream, app)
        self.session = ""
        """Whose episodes are kept."""
        self._ended: list[Episode] = []

    def initial(self, session: str, seed: int, at: float) -> InitialState:
        """What the session's minds are given before their first event, at `at`."""
        self.session = session
        prior, said = self._continuity.levels(at, seed)
        self.problems += said
        return self._given._replace(
            seed=seed, learned=self._continuity.learned, prior=prior, past=self._past()
        )

    def _past(self) -> tuple[Episode, ...]:
        if not self._use:
            return ()
        try:
            return tuple(
                self._store.recent(self._settings.mind.episodes.remembered, session=self.session, agent=MAIN)
            )
        except StoreError as error:
            self.problems.append(str(error))
            return ()
        finally:
            self._take_notices()

    def _take_notices(self) -> None:
        """A damaged file that was set aside is something a person should know."""
        self.problems += self._store.notices
        self._store.notices.clear()

    def take(self, event: Event, step: Step) -> None:
        """After one event: keep an episode the main agent ended, tell what the person should hear."""
        episode = step.thought.episode
        if episode is not None and self._use and event.agent == MAIN:
            self._ended.append(episode)
            if len(self._ended) >= _AT_ONCE:
                self._keep()
        if step.reaction.notices and self._wall() - event.at < _FRESH:
            moment = datetime.fromtimestamp(self._wall()).astimezone().time()
            for notice in step.reaction.notices:
                self._herald.tell(notice, moment)

    def rest(self, society: Society) -> None:
        """Leave for later sessions what this one taught so far."""
        self._keep()
        try:
            self._continuity.settle(society)
        except StoreError as error:
            self.problems.append(str(error))

    def close(self, society: Society) -> None:
        """The session leaves the screen."""
        self.rest(society)
        self._herald.flush()
        self._store.close()

    def _keep(self) -> None:
        ended, self._ended = self._ended, []
        try:
            self._store.save(self.session, MAIN, ended)
        except StoreError as error:
            self.problems.append(str(error))
        self._take_notices()
