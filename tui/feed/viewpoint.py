"""Where in the session and at which agent a person looks: the playhead, the moves and the bookmarks."""

from __future__ import annotations

import time
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from textual.message import Message

from core.engine.percept import spell_name
from core.errors import StoreError
from core.events import MAIN, Event
from core.report.chrono import NO_SUMMARY, ChronoNav, SummaryPolicy, hottest_branch
from core.report.formatting import clock, count, plain
from core.settings.program import NavigationSettings, PlaySettings, TimelineSettings
from core.store.bookmarks import Bookmarks, Labels, LastLook, Look, TrailStore
from core.timeline.checkpoints import Checkpoints
from core.timeline.places import landing
from core.timeline.timeline import Timeline
from tui.feed import messages
from tui.feed.view import Mode


@contextmanager
def reporting(post: Callable[[Message], object]) -> Iterator[None]:
    """Tell the person what could not be read or stored."""
    try:
        yield
    except StoreError as error:
        post(messages.Failed(str(error)))


SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)


class Reel:
    """Event times on a film in which no pause is longer than `idle` seconds."""

    __slots__ = ("_ends", "_idle", "_last")

    def __init__(self, idle: float) -> None:
        self._idle = idle
        self._ends = array("d")
        self._last: float | None = None

    def __len__(self) -> int:
        return len(self._ends)

    def clear(self) -> None:
        """Take out all events."""
        self._ends, self._last = array("d"), None

    @property
    def length(self) -> float:
        """Seconds of film."""
        return self._ends[-1] if self._ends else 0.0

    def add(self, at: float) -> None:
        """Append one event to the film."""
        pause = 0.0 if self._last is None else min(max(0.0, at - self._last), self._idle)
        self._ends.append(self.length + pause)
        if self._last is None or at > self._last:
            self._last = at

    def place(self, index: int) -> float:
        """Return where on the film the first `index` events end."""
        return self._ends[min(index, len(self._ends)) - 1] if index > 0 and self._ends else 0.0

    def index(self, place: float) -> int:
        """Return how many events are at or before a place on the film."""
        return bisect_right(self._ends, place)


_SAVED = 5.0  # Seconds between two writes while a person moves about.
_LINES = 6
_BACK = {"trouble": "N", "failure": "X", "prompt": "P"}  # The keys that go back.


class Navigator:
    """Every move goes through one ChronoNav; used by the feed's thread alone."""

    def __init__(self, settings: NavigationSettings, post: Callable[[Message], object]) -> None:
        self._settings = settings
        self._post = post
        self._nav: ChronoNav | None = None
        self._store: TrailStore | None = None
        self._left: int | None = None  # Events there were when the person left the live edge.
        self._unsaved = False
        self._saved_at = 0.0

    def open(self, timeline: Timeline, store: TrailStore) -> None:
        """Continue from the moves of earlier visits; a damaged record is set aside, and reported."""
        if self._store is not None:
            return
        self._store = store
        self._nav = nav = ChronoNav(timeline, limit=self._settings.kept)
        try:
            nav.trail.load(store.read())
        except StoreError as error:
            self._post(messages.Failed(str(error)))
            try:
                self._post(messages.Failed(f"it was set aside as {store.set_aside()}; a new one begins"))
            except StoreError as trouble:
                self._store = None
                self._post(messages.Failed(str(trouble)))

    def moved(
        self, timeline: Timeline, origin: int, place: int, at: float, request: Message, *, live: bool = False
    ) -> None:
        """Record a move; a return says what lies between, and one to the live edge what came meanwhile."""
        seek = request if isinstance(request, messages.Seek) else messages.Seek(place)
        announce = isinstance(request, messages.ReturnTo) or seek.summary is not None
        nav = self._nav
        left, self._left = self._left, None if live else (self._left or len(timeline))
        if nav is None or (origin == place and not (live and left is not None)):
            return
        nav.timeline = timeline
        policy = SummaryPolicy(
            "custom" if seek.summary else self._settings.summary, self._settings.tokens, seek.summary or ""
        )
        came = len(timeline) - left if live and left is not None else 0
        nav.place = origin
        if came > 0 and left is not None:
            nav.move(left, at)
        summary = nav.move(place, at, policy if announce or came > 0 else NO_SUMMARY, seek.record)
        self._unsaved = True
        if summary and (announce or came > 0):
            title = f"Meanwhile: {count(came, 'event')}" if came > 0 else "In between"
            self._post(messages.Noticed("done", title, "\n".join(summary[:_LINES])))

    def save(self, now: float, *, at_once: bool = False) -> None:
        """Write the moves down, at most every few seconds."""
        nav, store = self._nav, self._store
        if not self._unsaved or nav is None or store is None or not (at_once or now - self._saved_at >= _SAVED):
            return
        self._unsaved, self._saved_at = False, now
        with reporting(self._post):
            store.write(nav.trail.dump())


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
        self._chosen = MAIN  # Whom the person chose.
        self._visited = ""  # Whom a jump or an entry led to; any other move but a step comes back.
        self._played = 0.0

    @property
    def agent(self) -> str:
        """Return the agent whose mind is shown."""
        return self._visited or self._chosen

    def answer(self, timeline: Timeline, request: Message) -> None:
        """Carry out a request if it concerns the playhead or the agent shown."""
        if not isinstance(request, messages.STAYS):
            self._visited = ""
        if isinstance(request, messages.Move):
            self._move(timeline, request)
        elif isinstance(request, messages.SpeedChange):
            self.head.faster(request.steps)
        elif isinstance(request, messages.SelectAgent):
            self._chosen = request.name

    def play(self, now: float) -> bool:
        """Let a playing film go on to this moment; whether anything moved."""
        elapsed, self._played = now - self._played, now
        return self.head.advance(min(elapsed, 1.0))

    def _move(self, timeline: Timeline, request: Message) -> None:
        """Move the playhead, and record the move."""
        head = self.head
        origin = head.index
        match request:
            case messages.Seek():
                head.seek(request.to)
                self._visited = request.agent
            case messages.SeekTime():
                head.seek(timeline.index_at(request.at))
            case messages.StepBy():
                head.step(request.by)
            case messages.GoLive():
                head.to_end()
            case messages.TogglePlay():
                head.toggle()
                self._played = time.monotonic()
            case messages.Jump():
                self._jump(timeline, request)
            case messages.ReturnTo():
                place = self._shelf.back(timeline, request.name)
                if place is not None:
                    head.seek(place)
        live = head.live and head.following
        self.navigator.moved(timeline, origin, head.index, self._wall(), request, live=live)

    def _jump(self, timeline: Timeline, request: messages.Jump) -> None:
        """To just after the next or previous such event, and to the mind it is about."""
        target = landing(timeline, self.head.index - 1, request.forward, request.to)
        if target is None:
            sought = "problem" if request.to == "trouble" else request.to
            where, hint = "after" if request.forward else "before", ""
            if request.forward and landing(timeline, self.head.index - 1, False, request.to) is not None:
                hint = f"; {_BACK[request.to]} goes back"
            self._post(messages.Failed(f"no {sought} {where} this point{hint}"))
        else:
            self.head.step(target.place + 1 - self.head.index)
            self._visited = target.agent


class Playhead:
    """Follows the newest event, holds still, or plays; it gets the elapsed time and has no clock."""

    def __init__(self, settings: PlaySettings, *, live: bool, playing: bool = False) -> None:
        self.live = live  # More may come: the log is followed.
        self.loading = True  # What was there at the opening is still being read.
        self.index = 0  # Events before it.
        self.following = not playing
        self.playing = playing
        self.speed = settings.speed
        self._reel = Reel(settings.idle)
        self._film = 0.0  # Where on the reel it stands.

    @property
    def total(self) -> int:
        """Events recorded so far."""
        return len(self._reel)

    @property
    def mode(self) -> Mode:
        if not self.live:
            return "replay"
        return "live" if self.following else "replay" if self.playing else "paused"

    @property
    def ahead(self) -> float:
        """Seconds of film since the last event shown, while it plays."""
        return max(0.0, self._film - self._reel.place(self.index)) if self.playing else 0.0

    def grow(self, at: float) -> None:
        """One more event was recorded."""
        self._reel.add(at)
        if self.following:
            self.index = self.total

    def regrow(self, events: Iterable[Event]) -> None:
        """Measure a whole recording, as at first or in another order, and stay at the same place."""
        self._reel.clear()
        for event in events:
            self.grow(event.at)
        self._place()

    def seek(self, to: int) -> None:
        """Go to a place; at the end of a followed log, follow on."""
        if to >= self.total and self.live:
            self.to_end()
            return
        self.following = False
        self.index = max(0, min(to, self.total))
        self._place()
        if not self.live and self.index == self.total and not self.loading:
            self.playing = False

    def step(self, by: int) -> None:
        """Go on or back by some events, and hold there; a step beyond the end follows on."""
        self.playing = False
        beyond = self.index + by > self.total and self.index == self.total
        to = max(0, min(self.index + by, self.total))
        self.following = beyond and self.live
        self.index = to
        self._place()

    def to_end(self) -> None:
        """Go to the newest event and stay there."""
        self.playing = False
        self.following = True
        self.index = self.total
        self._place()

    def toggle(self) -> None:
        """Pause or play; at the end of a saved log, play from the start."""
        if self.following and self.live:
            self.following = False
        elif self.playing:
            self.playing = False
        elif self.index >= self.total and self.live:
            self.to_end()
        else:
            self.following = False
            if self.index >= self.total and not self.loading:
                self.index = 0
            self._place()
            self.playing = True

    def faster(self, steps: int) -> None:
        """The next speed up (1) or down (-1)."""
        nearest = min(range(len(SPEEDS)), key=lambda number: abs(SPEEDS[number] - self.speed))
        self.speed = SPEEDS[max(0, min(len(SPEEDS) - 1, nearest + steps))]

    def advance(self, seconds: float) -> bool:
        """Let real time go by; whether anything moved."""
        if not self.playing:
            return False
        before = self._film
        self._film = min(before + seconds * self.speed, self._reel.length)
        self.index = self._reel.index(self._film)
        if self._film < self._reel.length:
            return self._film != before
        self.playing = self.loading
        if self.live and not self.loading:
            self.to_end()
        return True

    def _place(self) -> None:
        self._film = self._reel.place(self.index)


_NAME = 60  # Characters of a name one types.


class Shelf:
    """Empty until it is known whose bookmarks they are."""

    def __init__(
        self, make: Callable[[str], Bookmarks], post: Callable[[Message], object], wall: Callable[[], float]
    ) -> None:
        self._make = make
        self._post = post
        self._wall = wall
        self._kept: Bookmarks | None = None

    @property
    def labels(self) -> Labels | None:
        """The labels of the session's firings, stored beside its bookmarks."""
        bookmarks = self._kept
        return None if bookmarks is None else Labels(folder=bookmarks.folder, key=bookmarks.key)

    @property
    def trail(self) -> TrailStore | None:
        """Where the person's moves through the session are kept."""
        bookmarks = self._kept
        return None if bookmarks is None else TrailStore(folder=bookmarks.folder, key=bookmarks.key)

    def open(self, session: str) -> bool:
        """Bring a session's bookmarks, once; return whether this was the first time."""
        first = self._kept is None
        if first:
            self._kept = self._make(session)
            self.tell()
        return first

    def look_back(self, events: int) -> None:
        """Tell how far the session, of so many events now, had been seen before."""
        look = None if self._kept is None else LastLook(self._kept.folder, self._kept.key).read()
        if look is not None:
            self._post(messages.LookedBefore(look, max(0, events - look.events)))

    def leave(self, events: int) -> None:
        """Remember how far it is seen now."""
        if self._kept is not None:
            LastLook(self._kept.folder, self._kept.key).keep(Look(events, self._wall()))

    def put(self, timeline: Timeline, place: int, note: str) -> None:
        """Set a bookmark at a place, and report it."""
        bookmarks = self._kept
        if bookmarks is None or not 0 <= place <= len(timeline) or not len(timeline):
            return
        at = timeline.time_of(place)
        title, split, rest = note.partition(": ")
        name = f"event {place} at {clock(at - timeline.events[0].at)}"
        if split and title.strip():
            name, note = title.strip()[:_NAME], rest.strip()
        note = note or _what_stands(timeline, place)
        with reporting(self._post):
            checkpoints = Checkpoints(bookmarks, timeline.settings.timeline.checkpoints.kept)
            bookmark = checkpoints.make(timeline, place, name, note, created=self._wall())
            words = f"{name}{f': {note}' if note else ''}\nstate {bookmark.checkpoint[:12]} is kept with it"
            self._post(messages.Noticed("done", "Bookmark set", words))
        self.tell()

    def remove(self, timeline: Timeline, place: int) -> None:
        """Remove the bookmarks at a place, and report it."""
        bookmarks = self._kept
        if bookmarks is None:
            return
        with reporting(self._post):
            standing = [mark for mark in bookmarks.read() if mark.place == place]
            checkpoints = Checkpoints(bookmarks, timeline.settings.timeline.checkpoints.kept)
            for mark in standing:
                checkpoints.remove(mark.name)
            for mark in standing:
                self._post(messages.Noticed("done", "Bookmark removed", plain(mark.name, 60)))
        self.tell()

    def back(self, timeline: Timeline, name: str) -> int | None:
        """Check the state at a bookmark and return its place, or None if it is gone."""
        if self._kept is None:
            return None
        with reporting(self._post):
            place = Checkpoints(self._kept, timeline.settings.timeline.checkpoints.kept).back(timeline, name)
            kind, words = "done" if place.standing == "same" else "risk", place.words[:1].upper() + place.words[1:]
            self._post(messages.Noticed(kind, f"Back at {plain(name, 60)}", f"{words}."))
            return None if place.standing == "gone" else place.bookmark.place
        return None

    def tell(self) -> None:
        """Send the stored bookmarks to the screen."""
        bookmarks = self._kept
        if bookmarks is None:
            return
        with reporting(self._post):
            self._post(messages.Bookmarked(bookmarks.read()))
        for notice in bookmarks.notices:
            self._post(messages.Failed(notice))
        bookmarks.notices.clear()


def _what_stands(timeline: Timeline, place: int) -> str:
    """Return the main agent's activity, for a bookmark without a note."""
    frame = timeline.at(place)
    receptor = frame.receptor
    centre = hottest_branch(receptor.heatmap)
    words = spell_name(f"{frame.story.state}, {receptor.behaviour.short.pattern}")
    return f"{words}, in {centre.path}" if centre is not None else words
