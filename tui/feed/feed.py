"""The one thread that owns the recording: it reads, steps, seeks, and posts what is to be seen."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterable

from msgspec.structs import replace
from textual.message import Message

from core.agents.words import word_logs
from core.errors import NooscopeError
from core.events import MAIN, Event
from core.extension.hooks import Extension
from core.live.carry_over import CarryOver
from core.live.driver import Driver
from core.live.hook_signs import HookSigns
from core.live.notices import Notifier
from core.live.opening import keep_recording, open_recording
from core.live.source import Source, Target
from core.live.status import Limits, Open, Status, StatusFacts, status_of
from core.live.status_facts import open_calls
from core.live.watcher import Watcher
from core.logs.door import closed_at
from core.logs.lag import UNKNOWN, is_late
from core.report.formatting import plain
from core.report.now import NowReader
from core.report.steer import steer_preview
from core.settings import Settings
from core.store.bookmarks import Bookmarks
from core.store.labels import Labels
from core.timeline.cache import Cache
from core.timeline.initial_state import PLAIN, InitialState
from core.timeline.jumps import landing
from core.timeline.run_inputs import InitialStates
from core.timeline.timeline import Timeline
from tui.feed.film import Film, ending, subject_of
from tui.feed.kept import Shelf
from tui.feed.messages import (
    Apply,
    Arrived,
    Changed,
    Failed,
    GoLive,
    HooksTold,
    Jump,
    PreviewSteer,
    ReadWords,
    RemoveBookmark,
    ReturnTo,
    Seek,
    SeekTime,
    SelectAgent,
    SetBookmark,
    SpeedChange,
    SteerPreviewed,
    StepBy,
    TogglePlay,
)
from tui.feed.navigation import Navigator
from tui.feed.playhead import Playhead
from tui.feed.view import View

_STILL = 10
"""Pictures in a row that only time asked for, after which they come half as often."""
_BATCH = 0.02
"""Seconds of reading between two looks at what is asked."""
_FIRST = 0.5
"""Seconds for which reading waits at most for the first picture, so that it is not slowed by it."""
_UNSURE = 1.0
"""Seconds of reading without an end after which a log that cannot be measured counts as behind."""
_LOADING_RATE = 8
"""Pictures a second while a log is being read, so that most of the time goes into reading."""

_MOVES = (Seek, SeekTime, StepBy, GoLive, TogglePlay, Jump, ReturnTo)


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
        carry_over: CarryOver | None = None,
        notifier: Notifier | None = None,
        initial: InitialState = PLAIN,
        initial_states: InitialStates | None = None,
        hooks: Callable[[str], HookSigns | None] | None = None,
        extensions: Iterable[Extension] = (),
    ) -> None:
        self._extensions = tuple(extensions)
        self.target = target
        self._settings = settings
        self._post = post
        self._cache = cache
        self._wall = wall
        self._initial_states = initial_states or InitialStates(settings, initial)
        self._carry_over = carry_over
        self._notifier = notifier
        self._hooks = hooks
        self._hooks_told = False
        """Hooks told something since the last picture."""
        self._driver: Driver | None = None
        self._bookmarks = bookmarks if carry_over is not None else None
        self._shelf = Shelf(bookmarks, post, wall)
        self._navigator = Navigator(settings.timeline.navigation, post)
        self._head = Playhead(
            settings.timeline.play, live=target.live, playing=not (target.live or target.at)
        )
        self._film = self._film_of(Timeline(settings, initial=self._initial_states.initial), None)
        self._watcher: Watcher | None = None
        self._asked: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._stopped = threading.Event()
        self._seen = threading.Event()
        self._agent = MAIN
        """Whom the person chose."""
        self._visited = ""
        """Whom a jump went to; any other move but a step comes back."""
        self._notice = ""
        self._waiting: tuple[Open, ...] = ()
        """Calls without an answer at the end of the log."""
        self._held: tuple[Event, ...] = ()
        self._now = NowReader()
        self._words = ReadWords(shown=True, watched=False)
        self._ending: View | None = None
        """The end of a long log, shown until all of it has been read."""
        self._due = self._urgent = True
        self._drawn = self._played = 0.0
        self._still = 0
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
    def driver(self) -> Driver | None:
        """Who follows the session; only its counts may be read from another thread."""
        return self._driver

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
            driver = self._driver = self._open()
            while not self._stopped.is_set():
                self._serve(driver.source)
                self._read(driver)
                self._play()
                self._hear(driver)
                self._draw(driver)
                driver.rest()
                self._navigator.save(time.monotonic())
                self._complain(driver)
        except NooscopeError as error:
            self._post(Failed(str(error), fatal=True))
        finally:
            if not self._head.loading:
                self._shelf.leave(len(self._film))
            self._navigator.save(time.monotonic(), at_once=True)
            if self._driver is not None:
                self._driver.close()
                self._complain(self._driver)
            if self._watcher is not None:
                self._watcher.stop()

    def _complain(self, driver: Driver) -> None:
        for problem in driver.problems():
            self._post(Failed(problem))

    def _film_of(self, timeline: Timeline, source: Source | None) -> Film:
        session = None if source is None else source.session
        return Film(timeline, subject_of(session, self.target), self._settings.screen.burn)

    def _open(self) -> Driver:
        driver = open_recording(
            self.target,
            self._initial_states,
            cache=self._cache,
            carry_over=self._carry_over,
            bookmarks=self._bookmarks,
            notifier=self._notifier,
            wall=self._wall,
            hooks=self._hooks,
            extensions=self._extensions,
        )
        source = driver.source
        self._complain(driver)
        self._follow_recording(driver)
        for event in self._film.timeline.events:
            self._head.grow(event.at)
        if source.session is None:
            self._notice = "waiting for the log to start"
        live = self.target.live
        end = ending(source, self.target, self._settings, self._initial_states.initial) if live else None
        if end is not None and len(end):
            last = Playhead(self._settings.timeline.play, live=True)
            for event in end.timeline.events:
                last.grow(event.at)
            self._ending = replace(end.view(last, MAIN, None), loading=0.0, status=self._unread())
            self._post(Arrived(self._ending, end.timeline))
        if not source.behind:
            self._loaded(source)
        return driver

    def _follow_recording(self, driver: Driver) -> None:
        """Show the driver's recording; it is another one once the session's first event is there."""
        if driver.timeline is not None and driver.timeline is not self._film.timeline:
            self._film = self._film_of(driver.timeline, driver.source)

    def _serve(self, source: Source) -> None:
        """Answer all that is asked; where nothing is to be done, wait for it."""
        patience = self._patience(source)
        try:
            asked = self._asked.get(timeout=patience) if patience != 0.0 else self._asked.get_nowait()
            while True:
                if isinstance(asked, Changed):
                    source.look()
                elif isinstance(asked, HooksTold):
                    self._hooks_told = self._due = True
                elif isinstance(asked, PreviewSteer):
                    effect = steer_preview(self._film.timeline, asked.words)
                    self._post(SteerPreviewed(asked.words, asked.asker, effect))
                elif isinstance(asked, ReadWords):
                    self._words = asked
                    self._due = self._urgent = True
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
            return max(0.0, self._drawn + self._rest() - time.monotonic())
        return None

    def _rest(self) -> float:
        """Time between two pictures while nothing happens; twice as long once that has lasted a while."""
        return self._settings.screen.idle * (1 if self._still < _STILL else 2)

    def _spacing(self) -> float:
        """Least time between two pictures."""
        rate = self._settings.screen.rate
        return 1.0 / (min(rate, _LOADING_RATE) if self._head.loading or self._late else rate)

    def _answer(self, asked: Message) -> None:
        if not isinstance(asked, StepBy | Jump | SpeedChange | SetBookmark | RemoveBookmark | Apply):
            self._visited = ""
        if isinstance(asked, _MOVES):
            self._move(asked)
        match asked:
            case SpeedChange():
                self._head.faster(asked.steps)
            case SelectAgent():
                self._agent = asked.name
            case Apply():
                self._apply(asked.settings)
            case SetBookmark() | RemoveBookmark():
                self._shelf.answer(self._film.timeline, asked)

    def _move(self, asked: Message) -> None:
        """Move the playhead, and record the move."""
        head = self._head
        origin = head.index
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
            case Jump():
                self._jump(asked)
            case ReturnTo():
                place = self._shelf.back(self._film.timeline, asked.name)
                if place is not None:
                    head.seek(place)
        self._navigator.moved(
            self._film.timeline,
            origin,
            head.index,
            self._wall(),
            told=isinstance(asked, ReturnTo),
            live=head.live and head.following,
        )

    def _apply(self, settings: Settings) -> None:
        """Let other settings hold from here on."""
        self._settings = settings
        if self._driver is not None:
            self._driver.apply(settings)

    def _jump(self, asked: Jump) -> None:
        """To just after the next or previous such event, and to the mind it is about."""
        found = landing(self._film.timeline, self._head.index - 1, asked.forward, asked.to)
        if found is None:
            self._post(Failed(f"no {asked.to} {'later' if asked.forward else 'earlier'}"))
        else:
            self._head.step(found.place + 1 - self._head.index)
            self._visited = found.agent

    def _read(self, driver: Driver) -> None:
        source = driver.source
        if not source.behind:
            self._open_shelf(source)
            return
        for event, _ in driver.events(_BATCH):
            self._follow_recording(driver)
            self._film.added(event)
            self._head.grow(event.at)
            self._due = True
            self._notice = ""
        for notice in driver.log_notices():
            self._notice = "" if notice.endswith("is back") else notice
            self._due = True
        self._open_shelf(source)
        if driver.saved:
            driver.saved = 0
            self._shelf.tell()
        if not source.behind:
            self._caught_up(driver)

    def _hear(self, driver: Driver) -> None:
        """Take over what hooks told: calls that are open before the log says so."""
        if self._hooks_told and not driver.source.behind:
            self._hooks_told = False
            self._held = tuple(driver.held())
            self._waiting = open_calls(self._held)

    def _open_shelf(self, source: Source) -> None:
        if source.session is not None:
            self._shelf.open(source.session.id)
            if self._shelf.trail is not None:
                self._navigator.open(self._film.timeline, self._shelf.trail)

    def _caught_up(self, driver: Driver) -> None:
        source = driver.source
        self._held = tuple(driver.held())
        self._waiting = open_calls(self._held)
        self._even = time.monotonic()
        self._due = self._due or self._late
        if source.growing:
            if self._watcher is None:
                self._watcher = Watcher(lambda: self._asked.put(Changed()), self._settings.ingest.follow)
            self._watcher.watch(source.folders())
            if trouble := self._watcher.trouble():
                self._notice, self._due = trouble, True
        if self._head.loading:
            self._loaded(source)
            if not source.growing:
                self._draw(driver)
                keep_recording(driver, self._cache)

    def _loaded(self, source: Source) -> None:
        self._open_shelf(source)
        self._shelf.look_back(len(self._film))
        self._head.loading = False
        self._ending = None
        self._due = self._urgent = True
        if not len(self._film) and not self._notice:
            self._notice = "no events yet" if source.growing else "this log has no events"
            if source.growing and (closed := closed_at(self.target.path)) is not None:
                self._notice = f"you have no permission to read {plain(str(closed), 80)}"

    def _play(self) -> None:
        now = time.monotonic()
        if now - self._drawn < self._spacing():
            return
        passed, self._played = now - self._played, now
        if self._head.advance(min(passed, 1.0)):
            self._due = True

    def _draw(self, driver: Driver) -> None:
        source, now = driver.source, time.monotonic()
        waited = now - self._drawn
        due = self._due or (source.growing and waited >= self._rest())
        if not due or not (self._urgent or waited >= self._spacing()):
            return
        self._still = 0 if self._due else self._still + 1
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
        held = self._held if self._head.following and self._head.live and not self._late else ()
        view = self._film.view(self._head, self._visited or self._agent, edge, self._waiting, held)
        worded = self._with_words(view, source, held)
        view = replace(
            worded,
            status=self._status(driver, worded, loading),
            in_flight=tuple(one.tool for one in self._waiting)
            if self._head.following and not self._late
            else (),
            behind=behind if self._head.live else 0,
            loading=loading,
            skipped=source.kit.diagnostics.total,
            notice=self._notice,
            hooks=self._hooks(driver.session) if self._hooks is not None and self.target.live else None,
            extensions=driver.standing(),
            bus=driver.bus.readings(),
            narrator=self._settings.narrator.on,
        )
        self._post(Arrived(view, self._film.timeline))
        self._wait_for_first(source)

    def _status(self, driver: Driver, view: View, loading: float | None) -> Status | None:
        """At the live edge as the log's open calls tell; elsewhere as the recording does."""
        told = _with_need(view)
        if not self.target.live:
            return told
        at_edge = self._head.following or self._head.index >= self._head.total
        if loading is not None or self._late:
            return self._unread() if at_edge else told
        status = driver.status(self._wall())
        if not self._words.shown:
            status = replace(status, words="")
        driver.ring(status)
        return status if at_edge else told

    def _unread(self) -> Status:
        """All that can be said while part of the log is unread."""
        return status_of(StatusFacts(read=0.0), self._wall(), Limits.of(self._settings))

    def _with_words(self, view: View, source: Source, held: tuple[Event, ...]) -> View:
        """What is going on at the playhead; words are read only while somebody looks."""
        shown, reads = self._words.shown, self._words.shown and self._words.watched
        events = self._film.timeline.events
        logs = word_logs(source.session) if source.session is not None else ()
        if reads:
            self._now.allow(logs)
        title = (view.subject.title or self._now.title(events)) if reads else ""
        return replace(
            view,
            now=self._now.now(events, view.index, view.at, view.agent, held, words=reads),
            words=shown,
            logs=tuple(log.path for log in source.session.logs) if source.session is not None else (),
            word_logs=logs,
            subject=replace(view.subject, title=title),
        )

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


def _with_need(view: View) -> Status | None:
    """The status at the playhead with the words of what the person is needed for."""
    status, now = view.status, view.now
    if status is None or not status.need:
        return status
    words = now.said if status.need == "error" else now.doing if now.running else ""
    return replace(status, words=words)
