"""The driver of a session, whatever its source: it reads events, steps the minds and gives the status.

It has no thread of its own and is used by one thread at a time; what it returns is immutable.
"""

from __future__ import annotations

import time
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from core.agents.registry import make_kit
from core.agents.words import word_logs
from core.engine.response.reaction import Notice
from core.engine.society import Society
from core.engine.society.engine import Step
from core.errors import StoreError
from core.events import MAIN, Compaction, Event, Prompt, SessionStart, Turn
from core.extension.hooks import Extension, ExtensionState
from core.live.bus import Listeners
from core.live.hook_signs import HookSigns
from core.live.source import Followed, OpenEvents, Saved, Source, Target, changed_files, find_session, state_on_disk
from core.live.status import Limits, Status, StatusFacts, status_of
from core.live.status_facts import NeedReader, StatusTracker, open_calls
from core.logs.follow import STRIDE
from core.report.compaction import Preserved, Preserver
from core.settings import Settings
from core.store.bookmarks import Bookmarks, free_bookmark_name
from core.timeline.keyframes import pack, unpack
from core.timeline.opening import Cache, seed_of, session_stamps
from core.timeline.run_inputs import InitialStates, RunInputs
from core.timeline.timeline import SettingsChange, Timeline, apply_due_changes

if TYPE_CHECKING:
    from core.live.carry_over import CarryOver
    from core.live.notices import Notifier


_FAILED = ("gave up", "looping", "stuck")  # Statuses that neighbours hear of as a failure.


class Snapshot(NamedTuple):
    """The facts and state after a number of events."""

    place: int
    tracker: StatusTracker
    minds: bytes  # The packed state of the minds; blank if a recording has it.


class Snapshots:
    """Places to go back to when an event comes late, the further back the further apart."""

    def __init__(self) -> None:
        self._all: list[Snapshot] = []

    def add(self, snapshot: Snapshot, reach: int) -> None:
        """Add a snapshot, and drop those too close together for their age or behind the events that may come again."""
        rows, now = self._all, snapshot.place
        rows.append(snapshot)
        for place in range(len(rows) - 2, 0, -1):
            if now - rows[place - 1].place <= 2 * (now - rows[place + 1].place) + 2 * STRIDE:
                del rows[place]
        while len(rows) > 1 and now - rows[1].place > reach:
            del rows[0]

    def back_to(self, place: int) -> Snapshot:
        """The last one at or before a place; those after it are forgotten."""
        while len(self._all) > 1 and self._all[-1].place > place:
            self._all.pop()
        return self._all[-1]


PAUSE = 2.0  # Seconds of silence before the words of an answer are judged that may not be the last of its turn.
_FILES = 16  # Files whose time on disk is looked at.
FRESH = 120.0  # Seconds after which an event that was there before the watch is history, and no notice is given of it.
_RING = 256  # Past mind events kept of a session that is not recorded.
_CUTS = 32  # Compactions of which what stood is remembered until it is asked for.


class Latency:
    """Seconds that steps took."""

    def __init__(self) -> None:
        self.steps = 0
        self.total = 0.0
        self.longest = 0.0

    def take(self, seconds: float) -> None:
        """Count one step."""
        self.steps += 1
        self.total += seconds
        self.longest = max(self.longest, seconds)

    @property
    def words(self) -> str:
        """How long a step took on average, and at most."""
        mean = 1e3 * self.total / self.steps if self.steps else 0.0
        return f"{self.steps:,} events, {mean:.2f} ms each, {1e3 * self.longest:.1f} ms at most"


def with_short_ring(settings: Settings) -> Settings:
    """Let minds that nobody scrubs keep fewer of their past events, which a dump leaves out anyway."""
    fabric = settings.mind.fabric
    ring = fabric.replace(capacity=min(fabric.capacity, max(fabric.tail, _RING)))
    return settings.replace(mind=settings.mind.replace(fabric=ring))


class Driver:
    """One session from its source to its minds, recorded on request."""

    def __init__(
        self,
        source: Source,
        initial_states: InitialStates,
        *,
        inputs: RunInputs | None = None,
        record: bool = False,
        recorded: Timeline | None = None,
        carry_over: CarryOver | None = None,
        bookmarks: Callable[[str], Bookmarks] | None = None,
        notifier: Notifier | None = None,
        past: Callable[[Notice], object] | None = None,
        hooks: Callable[[str], HookSigns | None] | None = None,
        changed: float | None = None,
        wall: Callable[[], float] = time.time,
        extensions: Iterable[Extension] = (),
    ) -> None:
        self.source = source
        self.settings: Settings = initial_states.settings  # Today's settings; they apply from the next new event on.
        # What its minds were given; of a session that is watched live, once its first event is there.
        self.inputs = inputs or RunInputs(self.settings, initial_states.initial)
        self.tracker = StatusTracker(self.settings.response.notices.final)
        self.lost = ""  # What happened to the log.
        self.count = 0 if recorded is None else len(recorded)  # Events so far.
        self.caught_up = not source.behind  # All that was there at the opening has been read.
        modified, self.size = state_on_disk(source.files())
        self.changed = modified if changed is None else changed  # When its logs last changed on disk.
        self.heard = 0.0  # When they last gave a sign of life.
        self.latency = Latency()  # How long the minds take over an event, measured out here: the engine has no clock.
        self.last_main: Step | None = None  # What the main agent's last event did.
        self.saved = 0  # Checkpoints that a method asked for and that were kept.
        self._initial_states = initial_states
        self._carry_over = carry_over
        self._bookmarks = bookmarks
        self._notifier = notifier
        ours = [one for one in (carry_over, notifier) if one is not None]
        # All that receive its events, our own carry-over and notices included.
        self.listeners = Listeners([*ours, *extensions], self.settings.extensions)
        self.bus = self.listeners.bus  # Publishes what its minds did.
        self.registry = self.listeners.registry
        if carry_over is not None:
            carry_over.lessons = self.registry.lessons
        self._past = past
        self._open = OpenEvents(source, hooks)
        self._wall = wall
        self._limits = Limits.of(self.settings)
        self._listens = self.settings.affect.contagion.every  # Events between two looks at other sessions and at files.
        self._begun = inputs is not None
        self._record = record
        self._other = False  # It was first watched with other settings than those of today.
        self._preserver = Preserver(_CUTS)
        self._rung: tuple[str, float | None] | None = None
        self._need = NeedReader()
        self._log_notices: list[str] = []
        self._problems: list[str] = []
        self._said: set[str] = set()
        self._moved = time.monotonic()
        self._rested = True
        self._snapshots = Snapshots()
        self._edge = 0  # Events that were known before the last one that came late.
        source.rewind = self._rewind
        self._make_minds(recorded)
        if recorded is not None and recorded.events:
            self._belongs(recorded.events[0])

    def _make_minds(self, recorded: Timeline | None = None) -> None:
        settings, initial, later = self.inputs
        self._later = deque(later)
        self.timeline = recorded
        if recorded is None and self._record:
            self.timeline = Timeline(settings, initial=initial, later=later)
        self._society: Society | None = None

    @property
    def society(self) -> Society:
        """The minds as the last event left them."""
        if self.timeline is not None:
            return self.timeline.society
        if self._society is None:
            self._society = self.inputs.initial.society(with_short_ring(self.inputs.settings))
        return self._society

    @property
    def session(self) -> str:
        """The id of the session; blank while it is not known."""
        return self.source.session.id if self.source.session else ""

    @property
    def still(self) -> float:
        """Seconds since something last came."""
        return time.monotonic() - self._moved

    def events(self, seconds: float) -> Iterator[tuple[Event, Step]]:
        """Take in what comes for a little time: each event, and what it did."""
        return self._through(self.source.events(seconds))

    def poll(self, most: int) -> Iterator[tuple[Event, Step]]:
        """Read new events and step the minds, at most `most` events."""
        return self._through(self.source.poll(most))

    def _through(self, events: Iterable[Event]) -> Iterator[tuple[Event, Step]]:
        for event in events:
            yield event, self._take(event)
        for notice in self.source.notices():
            self.lost = notice if _is_loss(notice) else ""
            self._log_notices.append(notice)
        if not self.source.behind:
            self.caught_up = True
            changed, size = state_on_disk(self.source.files())
            if changed > self.changed or size != self.size:
                self.changed = max(changed, self.changed)
                if size != self.size:
                    self.heard = max(changed, self.heard)
                self._open.changed()
            self.size = size
        self.heard = max(self.heard, self.changed if self.tracker.synthetic else self.tracker.last)

    def _take(self, event: Event) -> Step:
        if not self._begun:
            self._begin(event)
        elif self._other and self.caught_up:
            self.apply(self.settings)
        if self.count % STRIDE == 0 and self.source.may_rewind:
            minds = b"" if self.timeline is not None else zlib.compress(pack(self.society.dump()), 1)
            self._snapshots.add(Snapshot(self.count, self.tracker.copy(), minds), self.source.reach)
        if self.is_retaken(event):
            return self._step(event)
        started = time.perf_counter()
        policy = self.inputs.initial.policy_hash(self.society.settings) if isinstance(event, Compaction) else ""
        self._preserver.before(event, self.society, policy)
        step = self._step(event)
        self.latency.take(time.perf_counter() - started)
        if type(event) is Turn and event.agent == MAIN:
            self._need.last_turn = event
        self._open.take(event)
        self._moved, self._rested = time.monotonic(), False
        if self.listeners.has_listeners or self.inputs.initial.extensions:
            self.listeners.take(self.session, event, step, self.society)
        for notice in step.reaction.notices:
            self.tell(notice)
        if (
            self.caught_up
            and self.count > self._edge
            and (isinstance(event, Prompt) or self.count % self._listens == 0)
        ):
            self._look_beside(event.at)
        if step.reaction.checkpoints and self.caught_up and self._bookmarks is not None and self.session:
            self._save(step, self._bookmarks(self.session))
        return step

    def _step(self, event: Event) -> Step:
        """Step the minds by one event."""
        if self.timeline is None:
            if self._later:
                self._society = apply_due_changes(self.inputs.initial, self.society, self._later, self.count)
            step = self.society.step(event)
        else:
            step = self.timeline.add(event)
        self.count += 1
        self.tracker.update(event, step)
        if event.agent == MAIN:
            self.last_main = step
        return step

    def is_retaken(self, event: Event) -> bool:
        """Whether an event is stepped again because an earlier one came late."""
        return id(event) in self.source.retaken

    def _rewind(self, place: int) -> int:
        """Go back to the latest state of at most `place` events; return its number of events."""
        self._edge = max(self._edge, self.count)
        self.count, tracker, minds = self._snapshots.back_to(place)
        self.tracker = tracker.copy()
        if self.timeline is not None:
            self.timeline = self.timeline.head(self.count)
        else:
            settings, initial, later = self.inputs
            before = [change.settings for change in later if change.after <= self.count]
            latest = with_short_ring([settings, *before][-1])
            self._society = initial.resumed(latest, unpack(zlib.decompress(minds)))
            self._later = deque(change for change in later if change.after >= self.count)
        return self.count

    def finish(self) -> Iterator[tuple[Event, Step]]:
        """Take in what only the end of the logs completes, as a replay does."""
        return self._through(self.source.finish())

    def standing(self) -> tuple[ExtensionState, ...]:
        """How everyone who listens or takes part in the step does, lower layers first."""
        return self.listeners.standing(self.society)

    def _save(self, step: Step, bookmarks: Bookmarks) -> None:
        """Keep the moments that methods asked to keep, each under a name of its own."""
        from core.timeline.checkpoints import Checkpoints, checkpoint_of

        store = Checkpoints(bookmarks, self.settings.timeline.checkpoints.kept)
        try:
            for request in step.reaction.checkpoints:
                name = free_bookmark_name(request.name, {one.name for one in bookmarks.read()})
                checkpoint = checkpoint_of(self.society, name, self._wall(), self.count)
                note = f"saved automatically: {request.pattern.replace('_', ' ')}"
                self.saved += store.keep_automatic(checkpoint, request.at, note)
        except StoreError as error:
            self._problems.append(str(error))
        self._problems += bookmarks.notices

    def _begin(self, event: Event) -> None:
        """Make the minds; a session that was watched before begins as it did then."""
        at = event.at
        session, seed = self.session, seed_of(self.session) if self.session else 0
        carry_over = self._carry_over
        if carry_over is None or not session:
            initial = self._initial_states.initial._replace(seed=seed)
            self.inputs = RunInputs(self._initial_states.settings, initial)
        else:
            carry_over.session = session
            self._belongs(event)
            self.inputs = self._initial_states.begin(session, lambda: carry_over.initial_state(session, seed, at))
        self._begun = True
        self._other = self.inputs.last != self.settings
        self._make_minds()

    def _belongs(self, event: Event) -> None:
        if self._carry_over is not None and isinstance(event, SessionStart):
            self._carry_over.belongs(event.tool, event.project)

    def apply(self, settings: Settings) -> None:
        """Apply other settings from here on; of a live session also in a later replay."""
        self.settings = self._initial_states.settings = settings
        self._limits = Limits.of(settings)
        self._other = False
        before = self.inputs.last if self.timeline is None else self.timeline.settings
        change = SettingsChange(self.count, settings)
        if self.timeline is None:
            self._later.append(change)
        else:
            self.timeline.apply(settings)
        if self.count and before != settings and self.source.growing:
            self._keep_change(change)

    def _keep_change(self, change: SettingsChange) -> None:
        """Store a change so that a later replay applies it too."""
        self.inputs = self.inputs._replace(later=(*self.inputs.later, change))
        if self._carry_over is not None and self.session:
            self._initial_states.changed(self.session, change)

    def _look_beside(self, at: float) -> None:
        """Step in reports of other sessions in the same folder and files changed on disk."""
        carry_over = self._carry_over
        if carry_over is None or not self.session or not self.source.growing:
            return
        latest = dict(self.society.neighbours)
        reports = tuple(one for one in carry_over.neighbours(at) if one.at > latest.get(one.session, 0.0))
        leaves = self.society.engine(MAIN).receptor.heatmap.hottest(_FILES)
        last_seen = {leaf.path: leaf.last_modified or leaf.last_access for leaf in leaves}
        changed = changed_files(carry_over.project, last_seen, at)
        if not reports and not changed:
            return
        change = SettingsChange(self.count, self.society.settings, reports, changed)
        if self.timeline is None:
            change.apply_to(self.society)
        else:
            self.timeline.add_reports(reports, changed)
        self._keep_change(change)

    def pending_events(self) -> tuple[Event, ...]:
        """Return the calls and turns that have begun and not ended, once the whole log is read."""
        return self._open.read()

    def logged_events(self) -> tuple[Event, ...]:
        """The pending events that are in the log itself."""
        return self._open.logged()

    def facts(self, heard: float | None = None, read: float = 1.0, now: float | None = None) -> StatusFacts:
        """Return the current facts; at a moment `now`, an answer that something may still follow is not judged yet."""
        moment = self.heard if heard is None else heard
        if not self.count:
            pending = self.pending_events()
            lost = self.lost or (self.source.unreadable if self.caught_up and not pending else "")
            facts = StatusFacts(heard=moment or self.changed, open=open_calls(pending), lost=lost, read=read)
        else:
            if self.caught_up:
                self.tracker.endings.allow(self._word_logs())
            pending, in_log = self.pending_events(), len(self.logged_events())
            pause = now is None or now - moment >= PAUSE
            facts = self.tracker.facts(
                self.society, pending, in_log=in_log, heard=moment, lost=self.lost, read=read, pause=pause
            )
        return self._open.with_hooks(facts)

    def status(self, now: float) -> Status:
        """Return the status of the session at a moment."""
        return self.with_words(status_of(self.facts(read=1.0 if self.caught_up else 0.0, now=now), now, self._limits))

    def with_words(self, status: Status) -> Status:
        """A status with what the log says of the need for the person, read once for each need."""
        words = self._need.words(status, self._word_logs(), self.pending_events, self._limits.asking)
        return replace(status, words=words) if words else status

    def _word_logs(self) -> tuple[Path, ...]:
        session = self.source.session
        return word_logs(session) if session is not None else ()

    def ring(self, status: Status) -> None:
        """Tell once that the person is needed, and again only when that changes."""
        if not status.needs_you or status.stale:
            self._rung = None
            return
        made_up = self.tracker.synthetic and not status.hooked
        reason = "" if status.hooked else status.why, None if made_up else status.since
        if reason != self._rung:
            self._rung = reason
            words, end = status.reason, "" if status.reason.endswith(("?", ".", "!", "…")) else "."
            words = words if status.words else f"{words[:1].upper()}{words[1:]}{end}"
            rule = "question" if status.word == "needs you" else status.word
            self.tell(Notice(self._wall(), MAIN, "needs_you", rule, words, 0.0))

    def tell(self, notice: Notice) -> None:
        """Give a notice, unless it is about what was there before the watch."""
        if not (self.caught_up or self._wall() - notice.at < FRESH):
            if self._past is not None:
                self._past(notice)
            return
        true_notice = self._true_end(notice) if notice.kind == "done" else notice
        if true_notice is not None:
            self.registry.call("on_notice", true_notice)

    def _true_end(self, notice: Notice) -> Notice | None:
        """The notice of a turn's end in the words of its status; None if `ring` reports it as a need."""
        self.tracker.endings.allow(self._word_logs())
        status = status_of(self.facts(), max(notice.at, self.heard), self._limits)
        if status.needs_you:
            return None
        text = f"{status.reason[:1].upper()}{status.reason[1:]}"
        if status.word == "gave up":
            return notice._replace(kind="risk", text=f"Gave up: {status.reason}")
        return notice._replace(text=text) if status.ending in ("partial", "offer", "waiting") else notice

    def rest(self) -> bool:
        """Leave what was learned for later sessions, once at every longer stillness; whether it did."""
        if self._rested or self.still < self.settings.response.notices.idle:
            return False
        self._leave()
        return True

    def _leave(self) -> None:
        """Leave what was learned; to its neighbours a session that gave up or is in trouble has failed."""
        self._rested = True
        if self._carry_over is not None:
            status = status_of(self.facts(), max(self.heard, self.tracker.last), self._limits)
            self._carry_over.has_failed = status.word in _FAILED
        self.registry.call("on_rest", self.society)

    def close(self) -> None:
        """Stop watching the session."""
        self.bus.close()
        if not self._rested:
            self._leave()
        self.registry.call("on_shutdown", self.society)

    def problems(self) -> list[str]:
        """Return the problems with stored and inherited state, every sentence once."""
        sentences: list[str] = []
        ours = [one.problems for one in (self._carry_over, self._notifier) if one is not None]
        for problems in (self._problems, self.listeners.take_problems(), self._initial_states.notices, *ours):
            while problems:  # couriers may add more meanwhile
                sentences.append(problems.pop(0))
        fresh = [each for each in dict.fromkeys(sentences) if each not in self._said]
        self._said.update(fresh)
        return fresh

    def preserved(self) -> list[Preserved]:
        """Return the state at each compaction since the last call."""
        return self._preserver.news()

    def log_notices(self) -> list[str]:
        """Return the notices about the logs since the last call."""
        notices, self._log_notices = self._log_notices, []
        return notices


def _is_loss(notice: str) -> bool:
    return not notice.endswith(("is back", "from the start")) and "compressed; reading" not in notice


def open_recording(
    target: Target,
    initial_states: InitialStates,
    *,
    cache: Cache | None = None,
    carry_over: CarryOver | None = None,
    bookmarks: Callable[[str], Bookmarks] | None = None,
    notifier: Notifier | None = None,
    wall: Callable[[], float] = time.time,
    hooks: Callable[[str], HookSigns | None] | None = None,
    extensions: Iterable[Extension] = (),
) -> Driver:
    """Open a driver that records; raises UnreadableLog if there is no session and none can come."""
    settings = initial_states.settings
    kit = make_kit(settings.ingest)
    session, notice = find_session(target, kit, settings)
    if notice:
        initial_states.notices.append(notice)
    recording = partial(Driver, initial_states=initial_states, record=True, wall=wall, extensions=extensions)
    if session is None or target.live:
        source = Followed(session or target.path, kit, settings)
        inputs = None
        if session is not None and carry_over is None:
            inputs = RunInputs(settings, initial_states.initial._replace(seed=seed_of(session.id)))
        live = partial(recording, carry_over=carry_over, bookmarks=bookmarks, notifier=notifier, hooks=hooks)
        return live(source, inputs=inputs)
    saved, inputs = Saved(session, kit, settings), initial_states.of(session.id)
    cached = cache.load(session.id, *inputs) if cache is not None else None
    recorded = cached.timeline if cached is not None and cached.sources == session_stamps(session) else None
    saved.behind = recorded is None
    return recording(saved, inputs=inputs, recorded=recorded)


def keep_recording(driver: Driver, cache: Cache | None) -> None:
    """Cache the recording of a saved session if it is long enough."""
    session, timeline, inputs = driver.source.session, driver.timeline, driver.inputs
    least = inputs.settings.timeline.cache.least
    if cache is not None and session is not None and timeline is not None and len(timeline) >= least:
        cache.save(session.id, timeline, session_stamps(session), inputs.later)
