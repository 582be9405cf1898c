"""Where in the session and at which agent a person looks, and how they move."""

from __future__ import annotations

import time
from collections.abc import Callable

from textual.message import Message

from core.errors import StoreError
from core.events import MAIN
from core.report.chrono import NO_SUMMARY, ChronoNav, SummaryPolicy
from core.report.formatting import count
from core.settings.timeline import NavigationSettings, TimelineSettings
from core.store.bookmarks import TrailStore
from core.timeline.places import landing
from core.timeline.timeline import Timeline
from tui.feed.kept import Shelf
from tui.feed.messages import (
    Apply,
    Failed,
    GoLive,
    Jump,
    Noticed,
    RemoveBookmark,
    ReturnTo,
    Seek,
    SeekTime,
    SelectAgent,
    SetBookmark,
    SpeedChange,
    StepBy,
    TogglePlay,
)
from tui.feed.playhead import Playhead

_SAVED = 5.0
"""Seconds between two writes while a person moves about."""
_LINES = 6


class Navigator:
    """Every move goes through one ChronoNav; used by the feed's thread alone."""

    def __init__(self, settings: NavigationSettings, post: Callable[[Message], object]) -> None:
        self._settings = settings
        self._post = post
        self._nav: ChronoNav | None = None
        self._store: TrailStore | None = None
        self._left: int | None = None
        """Events there were when the person left the live edge."""
        self._unsaved = False
        self._saved_at = 0.0

    def open(self, timeline: Timeline, store: TrailStore) -> None:
        """Go on from the moves of earlier visits; a record that was tampered with is set aside, and told."""
        if self._store is not None:
            return
        self._store = store
        self._nav = nav = ChronoNav(timeline, limit=self._settings.kept)
        try:
            nav.trail.load(store.read())
        except StoreError as error:
            self._post(Failed(str(error)))
            try:
                self._post(Failed(f"it was set aside as {store.set_aside()}; a new one begins"))
            except StoreError as trouble:
                self._store = None
                self._post(Failed(str(trouble)))

    def moved(
        self,
        timeline: Timeline,
        origin: int,
        place: int,
        at: float,
        *,
        told: bool = False,
        live: bool = False,
    ) -> None:
        """Record a move; a return says what lies between, and one to the live edge what came meanwhile."""
        nav = self._nav
        left, self._left = self._left, None if live else (self._left or len(timeline))
        if nav is None or (origin == place and not (live and left is not None)):
            return
        nav.timeline = timeline
        policy = SummaryPolicy(self._settings.summary, self._settings.tokens)
        came = len(timeline) - left if live and left is not None else 0
        if came > 0 and left is not None:
            nav.move(origin, left, at)
            origin = left
        summary = nav.move(origin, place, at, policy if told or came > 0 else NO_SUMMARY)
        self._unsaved = True
        if summary and (told or came > 0):
            title = f"Meanwhile: {count(came, 'event')}" if came > 0 else "In between"
            self._post(Noticed("done", title, "\n".join(summary[:_LINES])))

    def save(self, now: float, *, at_once: bool = False) -> None:
        """Write the moves down, at most every few seconds."""
        nav, store = self._nav, self._store
        if (
            not self._unsaved
            or nav is None
            or store is None
            or not (at_once or now - self._saved_at >= _SAVED)
        ):
            return
        self._unsaved, self._saved_at = False, now
        try:
            store.write(nav.trail.dump())
        except StoreError as error:
            self._post(Failed(str(error)))


_MOVES = (Seek, SeekTime, StepBy, GoLive, TogglePlay, Jump, ReturnTo)
_STAYS = (StepBy, Jump, SpeedChange, SetBookmark, RemoveBookmark, Apply)
"""Requests that leave the visited agent on the screen."""


class Viewpoint:
    """The playhead and the agent chosen; every move is recorded."""

    def __init__(
        self,
        head: Playhead,
        shelf: Shelf,
        settings: TimelineSettings,
        post: Callable[[Message], object],
        wall: Callable[[], float],
    ) -> None:
        self.head = head
        self.navigator = Navigator(settings.navigation, post)
        self._shelf = shelf
        self._post = post
        self._wall = wall
        self._chosen = MAIN
        """Whom the person chose."""
        self._visited = ""
        """Whom a jump or an entry led to; any other move but a step comes back."""
        self._played = 0.0

    @property
    def agent(self) -> str:
        """Whose mind is shown."""
        return self._visited or self._chosen

    def answer(self, timeline: Timeline, asked: Message) -> None:
        """Do as the person asks; what is no move is left alone."""
        if not isinstance(asked, _STAYS):
            self._visited = ""
        if isinstance(asked, _MOVES):
            self._move(timeline, asked)
        elif isinstance(asked, SpeedChange):
            self.head.faster(asked.steps)
        elif isinstance(asked, SelectAgent):
            self._chosen = asked.name

    def play(self, now: float) -> bool:
        """Let a playing film go on to this moment; whether anything moved."""
        passed, self._played = now - self._played, now
        return self.head.advance(min(passed, 1.0))

    def _move(self, timeline: Timeline, asked: Message) -> None:
        """Move the playhead, and record the move."""
        head = self.head
        origin = head.index
        match asked:
            case Seek():
                head.seek(asked.to)
                self._visited = asked.agent
            case SeekTime():
                head.seek(timeline.index_at(asked.at))
            case StepBy():
                head.step(asked.by)
            case GoLive():
                head.to_end()
            case TogglePlay():
                head.toggle()
                self._played = time.monotonic()
            case Jump():
                self._jump(timeline, asked)
            case ReturnTo():
                place = self._shelf.back(timeline, asked.name)
                if place is not None:
                    head.seek(place)
        self.navigator.moved(
            timeline,
            origin,
            head.index,
            self._wall(),
            told=isinstance(asked, ReturnTo),
            live=head.live and head.following,
        )

    def _jump(self, timeline: Timeline, asked: Jump) -> None:
        """To just after the next or previous such event, and to the mind it is about."""
        found = landing(timeline, self.head.index - 1, asked.forward, asked.to)
        if found is None:
            self._post(Failed(f"no {asked.to} {'later' if asked.forward else 'earlier'}"))
        else:
            self.head.step(found.place + 1 - self.head.index)
            self._visited = found.agent
