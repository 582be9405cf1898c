"""The one thread that owns the recording: it reads, steps, seeks, and posts what is to be seen."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual.message import Message

from core.errors import NooscopeError
from core.events import MAIN
from core.live.source import Source, Target
from core.live.watcher import Changed, Watcher
from core.logs.lag import UNKNOWN, is_late
from core.settings import Settings
from core.store.bookmarks import Bookmarks
from core.store.labels import Labels
from core.timeline.cache import Cache
from core.timeline.carry_over import Start, Starts
from core.timeline.initial_state import PLAIN, Beginning
from tui.feed.carry import Legacy
from tui.feed.kept import Shelf
from tui.feed.messages import (
    Apply,
    Arrived,
    Failed,
    GoLive,
    JumpMark,
    Seek,
    SeekTime,
    SelectAgent,
    SpeedChange,
    StepBy,
    ToggleBookmark,
    TogglePlay,
)
from tui.feed.opening import blank, ending, keep, open_target
from tui.feed.playhead import Playhead
from tui.feed.view import View

if TYPE_CHECKING:
    from core.live.live_session import Heritage

_BATCH = 0.02
"""Seconds of reading between two looks at what is asked."""
_FIRST = 0.5
"""Seconds for which reading waits at most for the first picture, so that it is not slowed by it."""
_UNSURE = 1.0
"""Seconds of reading without an end after which a log that cannot be measured counts as behind."""
_LOADING_RATE = 8
"""Pictures a second while a log is being read, so that most of the time goes into reading."""


class Feed:
    """One session on the screen. `ask` and `stop` may be called from any thread, the rest from its own."""

    def __init__(
        self,
        target: Target,
        settings: Settings,
        post: Callable[[Message], object],
        *,
        cache: Cache | None = None,
        bookmarks: Callable[[str], Bookmarks] = Bookmarks,
        wall: Callable[[], float] = time.time,
        heritage: Heritage | None = None,
        beginning: Beginning = PLAIN,
        starts: Starts | None = None,
    ) -> None:
        self.target = target
        self._settings = settings
        self._post = post
        self._cache = cache
        self._wall = wall
        self._starts = starts or Starts(settings, beginning)
        self._start = Start(settings, beginning)
        self._legacy = Legacy(heritage, self._starts, post, settings.response.notices.idle)
        self._shelf = Shelf(bookmarks, post, wall)
        self._head = Playhead(settings.timeline.play, live=target.live, playing=not (target.live or target.at))
        self._film = blank(None, target, self._start)
        self._other = False
        """It was first watched with other settings; those of today hold from the next new event on."""
        self._named = False
        """The session is known, so that its minds begin from its own seed."""
        self._watcher: Watcher | None = None
        self._asked: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._stopped = threading.Event()
        self._seen = threading.Event()
        self._agent = MAIN
        """Whom the person chose."""
        self._visited = ""
        """Whom a jump went to; any other move but a step comes back."""
        self._notice = ""
        self._in_flight: tuple[str, ...] = ()
        self._ending: View | None = None
        """The end of a long log, shown until all of it has been read."""
        self._due = self._urgent = True
        self._drawn = self._played = 0.0
        self._even = 0.0
        """When all that was written had last been read."""
        self._late = False
        """The log grows faster than it is read: reading comes before drawing."""

    def ask(self, request: Message) -> None:
        """Ask for something; the answer is a view."""
        self._asked.put(request)

    def seen(self) -> None:
        """The first view has been painted; reading may go on."""
        self._seen.set()

    @property
    def labels(self) -> Labels | None:
        """What people said of this session's firings, kept beside its bookmarks."""
        return self._shelf.labels

    def stop(self) -> None:
        """Let the thread end."""
        self._stopped.set()
        self._seen.set()
        self._asked.put(None)

    def run(self) -> None:
        """Serve until stopped; the thread's whole life."""
        try:
            source = self._open()
            while not self._stopped.is_set():
                self._serve(source)
                self._read(source)
                self._play()
                self._draw(source)
                self._legacy.hand_on(self._film.timeline.society)
        except NooscopeError as error:
            self._post(Failed(str(error), fatal=True))
        finally:
            self._legacy.hand_on(self._film.timeline.society, ended=True)
            if self._watcher is not None:
                self._watcher.stop()

    def _open(self) -> Source:
        source, self._film, self._start = open_target(self.target, self._cache, self._starts)
        self._legacy.say(self._starts.notices)
        for event in self._film.timeline.events:
            self._head.grow(event.at)
        self._named = source.session is not None
        if not self._named:
            self._notice = "waiting for the log to start"
        live = self.target.live
        end = ending(source, self.target, self._settings, self._starts.beginning) if live else None
        if end is not None and len(end):
            last = Playhead(self._settings.timeline.play, live=True)
            for event in end.timeline.events:
                last.grow(event.at)
            self._ending = replace(end.view(last, MAIN, None), loading=0.0)
            self._post(Arrived(self._ending, end.timeline))
        if not source.behind:
            self._loaded(source)
        return source

    def _serve(self, source: Source) -> None:
        """Answer all that is asked; where nothing is to be done, wait for it."""
        patience = self._patience(source)
        try:
            asked = self._asked.get(timeout=patience) if patience != 0.0 else self._asked.get_nowait()
            while True:
                if isinstance(asked, Changed):
                    source.look()
                elif asked is not None:
                    self._answer(asked)
                    self._due = self._urgent = True
                    self._ending = None
                asked = self._asked.get_nowait()
        except queue.Empty:
            return

    def _patience(self, source: Source) -> float | None:
        """How long nothing will be to do; None for ever."""
        if source.behind or self._stopped.is_set():
            return 0.0
        if self._due or self._head.playing:
            return max(0.0, self._drawn + self._spacing() - time.monotonic())
        if self.target.live:
            return max(0.0, self._drawn + self._settings.screen.idle - time.monotonic())
        return None

    def _spacing(self) -> float:
        """Least time between two pictures."""
        rate = self._settings.screen.rate
        return 1.0 / (min(rate, _LOADING_RATE) if self._head.loading or self._late else rate)

    def _answer(self, asked: Message) -> None:
        head = self._head
        if not isinstance(asked, StepBy | JumpMark | SpeedChange | ToggleBookmark | Apply):
            self._visited = ""
        match asked:
            case Seek():
                head.seek(asked.to)
            case SeekTime():
                head.seek(self._film.timeline.index_at(asked.at))
            case StepBy():
                head.step(asked.by)
            case GoLive():
                head.to_end()
            case TogglePlay():
                head.toggle()
                self._played = time.monotonic()
            case SpeedChange():
                head.faster(asked.steps)
            case SelectAgent():
                self._agent = asked.name
            case JumpMark():
                self._jump(asked)
            case Apply():
                self._apply(asked.settings)
            case ToggleBookmark():
                self._shelf.toggle(self._film.timeline, self._head.index)

    def _apply(self, settings: Settings) -> None:
        """Let other settings hold from here on, in a later replay too where the session is watched live."""
        self._settings = self._starts.settings = settings
        self._other = False
        timeline = self._film.timeline
        before = timeline.settings
        timeline.apply(settings)
        if len(timeline) and self.target.live and before != settings:
            self._legacy.applied(len(timeline), settings)

    def _jump(self, asked: JumpMark) -> None:
        """To just after the next or previous mark, and to the mind it is about."""
        marks = self._film.timeline.marks
        here = self._head.index - 1
        found = marks.after(here, asked.kinds) if asked.forward else marks.before(here, asked.kinds)
        if found is None:
            self._post(Failed(f"nothing {'later' if asked.forward else 'earlier'} to jump to"))
        else:
            self._head.step(found.place + 1 - self._head.index)
            self._visited = found.agent

    def _read(self, source: Source) -> None:
        if not source.behind:
            self._open_shelf(source)
            return
        for event in source.events(_BATCH):
            if not self._named or (self._legacy and not len(self._film)):
                self._start = self._legacy.begin(source.session, event.at)
                self._film = blank(source.session, self.target, self._start)
                self._named = True
                self._other = self._start.last != self._settings
            elif self._other and not self._head.loading:
                self._apply(self._settings)
            self._legacy.take(event, self._film.add(event))
            self._head.grow(event.at)
            self._due = True
            self._notice = ""
        for notice in source.notices():
            self._notice = "" if notice.endswith("is back") else notice
            self._due = True
        self._open_shelf(source)
        if not source.behind:
            self._caught_up(source)

    def _open_shelf(self, source: Source) -> None:
        if source.session is not None:
            self._shelf.open(source.session.id)

    def _caught_up(self, source: Source) -> None:
        self._in_flight = source.in_flight()
        self._even = time.monotonic()
        self._due = self._due or self._late
        if source.growing:
            if self._watcher is None:
                self._watcher = Watcher(self._asked, self._settings.ingest.follow)
            self._watcher.watch(source.folders())
            if trouble := self._watcher.trouble():
                self._notice, self._due = trouble, True
        if self._head.loading:
            self._loaded(source)
            if not source.growing:
                self._draw(source)
                keep(source, self._film, self._start, self._cache)

    def _loaded(self, source: Source) -> None:
        self._head.loading = False
        self._ending = None
        self._due = self._urgent = True
        if not len(self._film) and not self._notice:
            self._notice = "no events yet" if source.growing else "this log has no events"

    def _play(self) -> None:
        now = time.monotonic()
        if now - self._drawn < self._spacing():
            return
        passed, self._played = now - self._played, now
        if self._head.advance(min(passed, 1.0)):
            self._due = True

    def _draw(self, source: Source) -> None:
        now = time.monotonic()
        waited = now - self._drawn
        due = self._due or (source.growing and waited >= self._settings.screen.idle)
        if not due or not (self._urgent or waited >= self._spacing()):
            return
        self._due = self._urgent = False
        self._drawn = now
        loading = source.share if self._head.loading else None
        if self._ending is not None:
            self._post(Arrived(replace(self._ending, loading=loading)))
            self._wait_for_first(source)
            return
        behind = self._behind(source, now) if loading is None else 0
        self._late = is_late(behind)
        edge = self._wall() if self._head.mode == "live" and loading is None and not self._late else None
        view = replace(
            self._film.view(self._head, self._visited or self._agent, edge),
            in_flight=self._in_flight if self._head.following and not self._late else (),
            behind=behind if self._head.live else 0,
            loading=loading,
            skipped=source.kit.diagnostics.total,
            notice=self._notice,
        )
        self._post(Arrived(view, self._film.timeline))
        self._wait_for_first(source)

    def _behind(self, source: Source, now: float) -> int:
        """Events written and not read yet; where nobody can tell, it takes a while to be called behind."""
        if not source.behind:
            self._even = now
        lag = source.lag()
        return 0 if lag == UNKNOWN and now - self._even < _UNSURE else lag

    def _wait_for_first(self, source: Source) -> None:
        if source.behind and len(self._film):
            self._seen.wait(_FIRST)
            self._seen.set()
