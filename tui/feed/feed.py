"""The one thread that owns the recording: it reads, steps, seeks, and posts views of any place of it."""

from __future__ import annotations

import queue
import threading
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace
from textual.message import Message

from core.agents.words import word_logs
from core.engine.receptor.readings import Why
from core.engine.society import Society, SocietyReading
from core.engine.society.engine import Frame
from core.errors import NooscopeError, StateError
from core.events import MAIN, AgentEnd, AgentStart, Compaction, Event, SessionStart, Turn
from core.live.driver import Driver, keep_recording, open_recording
from core.live.source import Source, Target
from core.live.status import Limits, Open, Status, StatusFacts, status_of
from core.live.status_facts import StatusHistory, open_calls, with_now
from core.logs.follow import UNKNOWN, is_late
from core.logs.log_files import closed_at
from core.logs.session import LogSession
from core.report.agents import agent_names
from core.report.compaction import Preserved, context_after, preserve_at, with_context_after
from core.report.cost import Spending
from core.report.formatting import plain
from core.report.now import NowReader
from core.settings import Settings
from core.settings.program import ScreenSettings
from core.store.bookmarks import Bookmarks
from core.timeline.initial_state import PLAIN, InitialState
from core.timeline.opening import last_screen
from core.timeline.rerun import check_commit
from core.timeline.run_inputs import InitialStates
from core.timeline.timeline import Timeline
from tui.feed import messages
from tui.feed.view import Subject, View
from tui.feed.viewpoint import Playhead, Shelf, Viewpoint

if TYPE_CHECKING:
    from core.extension.hooks import Extension
    from core.live.carry_over import CarryOver
    from core.live.hook_signs import HookSigns
    from core.live.notices import Notifier
    from core.live.source import Watcher
    from core.settings import Settings
    from core.store.bookmarks import Labels
    from core.timeline.opening import Cache


_STILL = 10  # Pictures in a row that only time asked for, after which they come half as often.
_LOADING_RATE = 8  # Pictures per second while a log is being read, so that most of the time goes into reading.
_PLAYING_RATE = 30  # Pictures per second of a film; new events of a live session are shown sooner.


class Pace:
    """Told what happens and what time it is; it has no clock."""

    def __init__(self, settings: ScreenSettings) -> None:
        self.settings = settings
        self.due = self.urgent = True  # Something is to be shown; a person waits for it.
        self.busy = True  # Reading comes before drawing.
        self.playing = False
        self.still = 0  # Pictures in a row that only time asked for.
        self._drawn = 0.0

    def ask(self) -> None:
        """A person waits for the next picture."""
        self.due = self.urgent = True

    def rest(self) -> float:
        """Time between two pictures while nothing happens; twice as long once that has lasted a while."""
        return self.settings.idle * (1 if self.still < _STILL else 2)

    def spacing(self) -> float:
        """Least time between two pictures."""
        most = _LOADING_RATE if self.busy else _PLAYING_RATE if self.playing else self.settings.rate
        return 1.0 / min(self.settings.rate, most)

    def has_passed(self, now: float) -> bool:
        """Whether the least time since the last picture has gone by."""
        return now - self._drawn >= self.spacing()

    def wait(self, now: float, *, live: bool) -> float | None:
        """Return the time until the next picture may be made; None for ever."""
        if self.due or self.playing:
            return max(0.0, self._drawn + self.spacing() - now)
        return max(0.0, self._drawn + self.rest() - now) if live else None

    def take(self, now: float, *, growing: bool) -> bool:
        """Whether to make a picture now; if so it counts as made."""
        waited = now - self._drawn
        due = self.due or (growing and waited >= self.rest())
        if not due or not (self.urgent or waited >= self.spacing()):
            return False
        self.still = 0 if self.due else self.still + 1
        self.due = self.urgent = False
        self._drawn = now
        return True


class WordsAtPlayhead:
    """Knows whether words may be shown and whether a panel in sight shows them."""

    def __init__(self) -> None:
        self.wanted = messages.ReadWords(shown=True, watched=False)
        self._now = NowReader()

    def put_into(
        self, view: View, session: LogSession | None, events: Sequence[Event], pending: tuple[Event, ...]
    ) -> View:
        """The view with its words, its title and the session's files."""
        visible, reads = self.wanted.shown, self.wanted.shown and self.wanted.watched
        words_in = word_logs(session) if session is not None else ()
        if reads:
            self._now.allow(words_in)
        title = (view.subject.title or self._now.title(events)) if reads else ""
        now = self._now.now(events, view.index, view.at, view.agent, pending, words=reads)
        logs = tuple(log.path for log in session.logs) if session is not None else ()
        subject = replace(view.subject, title=title)
        return replace(view, now=now, words=visible, logs=logs, word_logs=words_in, subject=subject)


def status_with_need(view: View) -> Status | None:
    """The status at the playhead with the words of what the person is needed for."""
    status, now = view.status, view.now
    if status is None or not view.words:
        return status and status.wordless()
    if status.need != "error" and not now.running:
        return status
    return with_now(status, now)


_BATCH = 0.02  # Seconds of reading between two looks at what is asked.
_FIRST = 0.5  # Seconds for which reading waits at most for the first picture, so that it is not slowed by it.
_UNSURE = 1.0  # Seconds of reading without an end after which a log that cannot be measured counts as behind.


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
        hooks: Callable[..., HookSigns | None] | None = None,  # By the session, and the agent if it is known.
        extensions: Iterable[Extension] = (),
        play: bool = True,
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
        self._hooks_told = False  # Hooks told something since the last picture.
        self.driver: Driver | None = None  # Another thread may read only its counts.
        self._bookmarks = bookmarks if carry_over is not None else None
        self._shelf = Shelf(bookmarks, post, wall)
        self._at_end = not (play or target.live or target.at)  # A finished session is opened at its end.
        self._head = Playhead(
            settings.timeline.play, live=target.live, playing=not (target.live or target.at or self._at_end)
        )
        self._viewpoint = Viewpoint(self._head, self._shelf, settings.timeline, post, wall)
        self._film = self._film_of(Timeline(settings, initial=self._initial_states.initial), None)
        self._other: Film | None = None  # The session under the changed settings of the bench, while that is shown.
        self._watcher: Watcher | None = None
        self._asked: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._stopped = threading.Event()
        self._seen = threading.Event()
        self._notice = ""
        self._held: tuple[Event, ...] = ()  # Calls without an answer at the end of the log.
        self._words = WordsAtPlayhead()
        self._edge: Status | None = None
        self._ending: View | None = None  # The end of a long log, shown until all of it has been read.
        self._pace = Pace(settings.screen)
        self._even = 0.0  # When all that was written had last been read.
        self._late = False  # The log grows faster than it is read: reading comes before drawing.

    def ask(self, request: Message) -> None:
        """Ask for something; the answer is a view."""
        self._asked.put(request)

    def first_painted(self) -> None:
        """Record that the first view is painted, so that reading may continue."""
        self._seen.set()

    @property
    def labels(self) -> Labels | None:
        """Return the person's labels of this session's firings, which are stored beside its bookmarks."""
        return self._shelf.labels

    def stop(self) -> None:
        """Let the thread end."""
        self._stopped.set()
        self._seen.set()
        self._asked.put(None)

    def run(self) -> None:
        """Serve until stopped; the thread's whole life."""
        try:
            driver = self.driver = self._open()
            while not self._stopped.is_set():
                self._serve(driver.source)
                self._read(driver)
                self._play()
                self._take_hook_signs(driver)
                self._draw(driver)
                driver.rest()
                self._viewpoint.navigator.save(time.monotonic())
                self._complain(driver)
        except NooscopeError as error:
            self._post(messages.Failed(str(error), fatal=True))
        finally:
            if not self._head.loading:
                self._shelf.leave(len(self._film))
            self._viewpoint.navigator.save(time.monotonic(), at_once=True)
            if self.driver is not None:
                self.driver.close()
                self._complain(self.driver)
            if self._watcher is not None:
                self._watcher.stop()

    def _complain(self, driver: Driver) -> None:
        for problem in driver.problems():
            self._post(messages.Failed(problem))

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
        self._head.regrow(self._film.timeline.events)
        if source.session is None:
            self._notice = "waiting for the log to start"
        live = self.target.live
        end = ending(source, self.target, self._settings, self._initial_states.initial) if live else None
        if end is not None and len(end):
            last = Playhead(self._settings.timeline.play, live=True)
            last.regrow(end.timeline.events)
            self._ending = replace(end.view(last, MAIN, None), loading=0.0, status=self._unread())
            self._post(messages.Arrived(self._ending, end.timeline, self))
            self._seen.wait(_FIRST)
        if not source.behind:
            self._loaded(source)
        return driver

    def _follow_recording(self, driver: Driver) -> bool:
        """Show the driver's recording; it is another one once the session's first event is there, and when
        an event came late. Whether it is another one."""
        if driver.timeline is None or driver.timeline is self._film.timeline:
            return False
        self._film = self._film_of(driver.timeline, driver.source)
        return True

    def _serve(self, source: Source) -> None:
        """Answer all requests; wait for one if there is nothing else to do."""
        patience = self._time_to_wait(source)
        try:
            request = self._asked.get(timeout=patience) if patience != 0.0 else self._asked.get_nowait()
            while True:
                if isinstance(request, messages.Changed):
                    source.look()
                elif isinstance(request, messages.HooksTold):
                    self._hooks_told = self._pace.due = True
                elif isinstance(request, messages.PreviewSteer):
                    from core.report.conversation import steer_preview

                    request.show(request.words, steer_preview(self._film.timeline, request.words))
                elif isinstance(request, messages.ReadWords):
                    self._words.wanted = request
                    self._pace.ask()
                elif request is not None:
                    self._answer(request)
                    self._pace.ask()
                    self._ending = None
                request = self._asked.get_nowait()
        except queue.Empty:
            return

    def _time_to_wait(self, source: Source) -> float | None:
        """How long nothing will be to do; None for ever."""
        if source.behind or self._stopped.is_set():
            return 0.0
        self._pace.playing = self._head.playing
        return self._pace.wait(time.monotonic(), live=self.target.live)

    @property
    def _visible(self) -> Film:
        """Return what happened or, while that is shown, what would have happened."""
        return self._other or self._film

    def _answer(self, request: Message) -> None:
        self._viewpoint.answer(self._visible.timeline, request)
        match request:
            case messages.ShowWhatIf():
                self._other = None if request.settings is None else self._run_under(request.settings)
            case messages.Apply():
                self._apply(request)
            case messages.SetBookmark():
                self._shelf.put(self._film.timeline, request.place, request.note)
            case messages.RemoveBookmark():
                self._shelf.remove(self._film.timeline, request.place)

    def _run_under(self, settings: Settings) -> Film:
        """Run the events recorded so far under other settings."""
        actual = self._film.timeline
        timeline = Timeline(settings, initial=actual.initial)
        timeline.extend(actual.events)
        source = None if self.driver is None else self.driver.source
        return self._film_of(timeline, source)

    def _apply(self, request: messages.Apply) -> None:
        """Let other settings hold from here on."""
        settings = request.settings
        if request.tried is not None:
            try:
                check_commit(self._film.timeline, request.tried)
            except StateError as error:
                self._post(messages.Failed(str(error)))
                return
        self._settings = settings
        self._other = None
        self._pace.settings = settings.screen
        if self.driver is not None:
            self.driver.apply(settings)
        self._post(messages.Applied(request))

    def _read(self, driver: Driver) -> None:
        source = driver.source
        if not source.behind:
            self._open_shelf(source)
            return
        for event, _ in driver.events(_BATCH):
            if self._follow_recording(driver):
                self._other = None
                self._head.regrow(self._film.timeline.events)
            else:
                self._film.step(len(self._film), event)
                self._head.grow(event.at)
                if self._other is not None:
                    self._other.add(event)
            self._pace.due = True
            self._notice = ""
        for notice in driver.log_notices():
            self._notice = "" if notice.endswith("is back") else notice
            self._pace.due = True
        self._open_shelf(source)
        if driver.saved:
            driver.saved = 0
            self._shelf.tell()
        if not source.behind:
            self._caught_up(driver)

    def _take_hook_signs(self, driver: Driver) -> None:
        """Take over the hooks' reports: calls that are open before the log says so."""
        if self._hooks_told and not driver.source.behind:
            self._hooks_told = False
            self._hold(driver)

    def _hold(self, driver: Driver) -> None:
        """Take over the calls that are open in the log; a question becomes an event only once it is answered."""
        pending = tuple(driver.pending_events())
        if pending != self._held:
            self._held = pending
            self._pace.due = True

    def _open_shelf(self, source: Source) -> None:
        if source.session is not None and self._shelf.open(source.session.id) and self._shelf.trail is not None:
            self._viewpoint.navigator.open(self._film.timeline, self._shelf.trail)

    def _caught_up(self, driver: Driver) -> None:
        source = driver.source
        self._hold(driver)
        self._even = time.monotonic()
        self._pace.due = self._pace.due or self._late
        if source.growing:
            if self._watcher is None:
                from core.live.source import Watcher

                self._watcher = Watcher(lambda: self._asked.put(messages.Changed()), self._settings.ingest.follow)
            self._watcher.watch(source.folders())
            if trouble := self._watcher.trouble():
                self._notice, self._pace.due = trouble, True
        if self._head.loading:
            self._loaded(source)
            if not source.growing:
                self._draw(driver)
                keep_recording(driver, self._cache)

    def _loaded(self, source: Source) -> None:
        self._open_shelf(source)
        self._shelf.look_back(len(self._film))
        self._head.loading = False
        if self._at_end:
            self._head.seek(len(self._film))
        self._ending = None
        self._pace.busy = self._late
        self._pace.ask()
        if not len(self._film) and not self._notice:
            self._notice = "no events yet" if source.growing else "this log has no events"
            if source.growing and (closed := closed_at(self.target.path)) is not None:
                self._notice = f"you have no permission to read {plain(str(closed), 80)}"

    def _play(self) -> None:
        now = time.monotonic()
        if self._pace.has_passed(now) and self._viewpoint.play(now):
            self._pace.due = True

    def _draw(self, driver: Driver) -> None:
        source, now = driver.source, time.monotonic()
        if not self._pace.take(now, growing=source.growing):
            return
        loading = source.share if self._head.loading else None
        if self._ending is not None:
            self._post(messages.Arrived(replace(self._ending, loading=loading), feed=self))
            self._wait_for_first(source)
            return
        behind = self._behind(source, now) if loading is None else 0
        self._late = is_late(behind)
        self._pace.busy = self._late or self._head.loading
        edge = self._wall() if self._head.mode == "live" and loading is None and not self._late else None
        pending = self._held if self._head.following and self._head.live and not self._late else ()
        if source.session is not None:
            self._visible.allow(word_logs(source.session))
        waiting = open_calls(self._held)
        view = self._visible.view(self._head, self._viewpoint.agent, edge, waiting, pending)
        with_words = self._words.put_into(view, source.session, self._film.timeline.events, pending)
        view = replace(
            with_words,
            status=self._status(driver, with_words, loading),
            edge=self._edge,
            in_flight=tuple(one.tool for one in waiting) if self._head.following and not self._late else (),
            behind=behind if self._head.live else 0,
            loading=loading,
            skipped=source.kit.diagnostics.total,
            notice=self._notice,
            hooks=self._hooks(driver.session, view.subject.tool) if self._hooks and self.target.live else None,
            extensions=driver.standing(),
            bus=driver.bus.readings(),
            narrator=self._settings.narrator.on,
            what_if=self._other is not None,
        )
        self._post(messages.Arrived(view, self._visible.timeline, self))
        self._wait_for_first(source)

    def _status(self, driver: Driver, view: View, loading: float | None) -> Status | None:
        """Return the status: at the live edge from the log's open calls, elsewhere from the recording."""
        current, self._edge = status_with_need(view), None
        if not self.target.live:
            return current
        at_edge = self._head.following or self._head.index >= self._head.total
        if loading is not None or self._late:
            return self._unread() if at_edge else current
        status = driver.status(self._wall())
        status = status if self._words.wanted.shown else status.wordless()
        driver.ring(status)
        if at_edge:
            return status
        self._edge = status if status.level == 3 and not status.stale else None
        return current

    def _unread(self) -> Status:
        """All that can be said while part of the log is unread."""
        return status_of(StatusFacts(read=0.0), self._wall(), Limits.of(self._settings))

    def _behind(self, source: Source, now: float) -> int:
        """Return the number of events written and not read yet; if it is unknown, a delay counts as behind."""
        if not source.behind:
            self._even = now
        lag = source.lag()
        return 0 if lag == UNKNOWN and now - self._even < _UNSURE else lag

    def _wait_for_first(self, source: Source) -> None:
        if source.behind and len(self._film):
            self._seen.wait(_FIRST)
            self._seen.set()


_KEPT = 64
_BACK = 8  # Frames made on the way to one that lies a little before the last.


class Sight(NamedTuple):
    """All that is to be read from the minds at one moment."""

    frame: Frame
    people: SocietyReading
    why: Sequence[Why]
    agents: tuple[str, ...]
    # What its status follows from, open calls left out; not at the live edge, where the log tells more.
    facts: StatusFacts | None = None


class Sights:
    """Everything to be seen of one recording."""

    def __init__(self, timeline: Timeline, history: StatusHistory | None = None) -> None:
        self.timeline = timeline
        self._history = history or StatusHistory(timeline, timeline.settings.response.notices.final)
        self._kept: dict[tuple[int, str], Sight] = {}
        self._last = 0

    def live(self, at: float, agent: str) -> Sight:
        """At the live edge, decayed to a moment."""
        return _sight(self.timeline.society, agent, at)

    def at(self, index: int, agent: str, later: float = 0.0) -> Sight:
        """Return the sights after the first `index` events and some further seconds."""
        if later > 0.0:
            moment = self.timeline.time_of(index) + later
            return self._sight(index, self.timeline.society_at(index), agent, moment)
        sight = self._kept.get((index, agent))
        if sight is None:
            first = index
            if 0 < self._last - index <= 4 * _BACK:
                first = max(0, index - _BACK)
            for place in range(first, index + 1):
                sight = self._sight(place, self.timeline.society_at(place), agent)
                self._keep(place, agent, sight)
        self._last = index
        assert sight is not None  # noqa: S101
        return sight

    def _keep(self, index: int, agent: str, sight: Sight) -> None:
        if index == len(self.timeline):
            return
        self._kept[index, agent] = sight
        while len(self._kept) > _KEPT:
            del self._kept[next(iter(self._kept))]

    def _sight(self, index: int, society: Society, agent: str, at: float | None = None) -> Sight:
        return _sight(society, agent, at)._replace(facts=self._history.facts(index, society))


def _sight(society: Society, agent: str, at: float | None) -> Sight:
    who = agent if agent in society.agents else MAIN
    receptor = society.engine(who).receptor
    return Sight(frame=society.frame(who, at), people=society.read(), why=receptor.explain(at), agents=society.agents)


_MOST = 4000  # Events looked back over at most.


class Subjects:
    """The subject as it was after any event; only its changes are kept."""

    def __init__(self, subject: Subject) -> None:
        self._places = [0]
        self._known = [subject]

    def add(self, count: int, event: Event) -> None:
        """Take in the event that makes the recording `count` long."""
        last = self._known[-1]
        if isinstance(event, Turn) and event.model and event.agent == MAIN:
            subject = replace(last, model=event.model)
        elif isinstance(event, SessionStart) and event.agent == MAIN:
            names = ("session", "tool", "project", "model")
            values = {name: getattr(event, name) or getattr(last, name) for name in names}
            subject = replace(last, **values, synthetic_time=event.synthetic_time, untold=event.untold)
        else:
            return
        if subject != last:
            self._places.append(count)
            self._known.append(subject)

    def at(self, index: int) -> Subject:
        """The subject after the first `index` events; before any, what is known of it now."""
        if index == 0 and len(self._known) > 1:
            return self._known[1]
        return self._known[bisect_right(self._places, index) - 1]


def tokens_a_minute(events: Sequence[Event], index: int, at: float, stretch: float, agent: str) -> float:
    """Tokens an agent newly sent and received in the `stretch` seconds before a moment, a minute."""
    tokens = 0
    for place in range(index - 1, max(-1, index - 1 - _MOST), -1):
        event = events[place]
        if event.at < at - stretch:
            break
        if isinstance(event, Turn) and event.agent == agent:
            tokens += event.input_tokens + event.cache_write + event.output_tokens
    return tokens * 60.0 / stretch


class Film:
    """One recording, whose it is, and the views of it."""

    def __init__(self, timeline: Timeline, subject: Subject, stretch: float) -> None:
        self.timeline = timeline
        self._history = StatusHistory(timeline, timeline.settings.response.notices.final)
        self._sights = Sights(timeline, self._history)
        self._subjects = Subjects(subject)
        self._spending = Spending(timeline.events)
        self._stretch = stretch
        self._preserved: tuple[tuple[int, str], Preserved] | None = None
        self._cuts: dict[str, list[int]] = {}  # Where each agent's context was cut.
        self._names: dict[str, str] | None = None  # What each agent is called, until another one comes.
        for count, event in enumerate(timeline.events, 1):
            self.step(count, event)

    def __len__(self) -> int:
        return len(self.timeline)

    def allow(self, logs: Sequence[Path]) -> None:
        """Let the last words of turns be read from these logs."""
        self._history.endings.allow(logs)

    def add(self, event: Event) -> None:
        """Record one event."""
        self.timeline.add(event)
        self.step(len(self.timeline), event)

    def step(self, count: int, event: Event) -> None:
        """Take in the event that made the recording `count` long."""
        self._subjects.add(count, event)
        if isinstance(event, AgentStart | AgentEnd) or event.agent not in (self._names or ()):
            self._names = None
        if isinstance(event, Compaction):
            self._cuts.setdefault(event.agent, []).append(count - 1)

    def view(
        self, head: Playhead, agent: str, now: float | None, waiting: Sequence[Open] = (), pending: Sequence[Event] = ()
    ) -> View:
        """Return the view at the playhead; `now` lets the live edge decay to that moment.

        At that edge neither status nor cost is known from the recording alone; `waiting` are calls that the
        log has not answered yet, `held` is all it has begun and not ended.
        """
        timeline, total = self.timeline, len(self.timeline)
        index = min(head.index, total)
        if now is not None and index == total:
            sight = self._sights.live(now, agent)
            at = sight.frame.at
        else:
            sight = self._sights.at(index, agent, head.ahead)
            at = timeline.time_of(index) + head.ahead
        agent_shown, status = sight.frame.agent, None
        if sight.facts is not None:
            limits, ended = Limits.of(timeline.settings), head.mode == "replay" and index == total
            status = self._history.status(sight.facts, index, at, limits, waiting=waiting, ended=ended)
        return View(
            frame=sight.frame,
            people=sight.people,
            why=sight.why,
            subject=self._subjects.at(index),
            agent=agent_shown,
            agents=sight.agents,
            names=self._called(),
            index=index,
            total=total,
            start=timeline.events[0].at if total else 0.0,
            at=at,
            end=timeline.time_of(total),
            mode=head.mode,
            playing=head.playing,
            speed=head.speed,
            status=status,
            spent=self._spending.at(index, at, pending),
            preserved=self._preserved_at(index, agent_shown),
            burn=tokens_a_minute(timeline.events, index, at, self._stretch, agent_shown),
        )

    def _called(self) -> dict[str, str]:
        if self._names is None:
            self._names = agent_names(self.timeline.society.read().agents)
        return self._names

    def _preserved_at(self, index: int, agent: str) -> Preserved | None:
        """Return the state at the agent's last compaction before a place; computed once for each."""
        cuts = self._cuts.get(agent, [])
        number = bisect_left(cuts, index) - 1
        if number < 0:
            return None
        cut = cuts[number]
        if self._preserved is None or self._preserved[0] != (cut, agent):
            self._preserved = (cut, agent), preserve_at(self.timeline, cut)
        preserved = self._preserved[1]
        if not preserved.tokens_after and (after := context_after(self.timeline, cut, agent)):
            preserved = with_context_after(preserved, after)
            self._preserved = (cut, agent), preserved
        return preserved


def subject_of(session: LogSession | None, target: Target) -> Subject:
    """Return what is known of a session before its first event."""
    if session is None:
        return Subject(path=str(target.path))
    return Subject(session=session.id, tool=session.tool, path=str(session.path))


def ending(source: Source, target: Target, settings: Settings, initial: InitialState = PLAIN) -> Film | None:
    """The end of a long log as a film of its own, to look at while all of it is read."""
    tail = int(settings.screen.tail * 1_000_000)
    if source.session is None or not 0 < 2 * tail < source.size:
        return None
    timeline = last_screen(source.session, settings, source.kit, tail, initial)
    return Film(timeline, subject_of(source.session, target), settings.screen.burn)
