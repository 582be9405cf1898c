"""Where in the session and at which agent a person looks, and how they move."""

from __future__ import annotations

import time
from collections.abc import Callable

from textual.message import Message

from core.events import MAIN
from core.settings.timeline import TimelineSettings
from core.timeline.jumps import landing
from core.timeline.timeline import Timeline
from tui.feed.kept import Shelf
from tui.feed.messages import (
    Apply,
    Failed,
    GoLive,
    Jump,
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
from tui.feed.navigation import Navigator
from tui.feed.playhead import Playhead

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
