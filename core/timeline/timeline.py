"""A recorded session: every event, what it did, and any moment of it again."""

from __future__ import annotations

import gc
from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from core.engine.affect.reading import Neighbour
from core.engine.society import Society
from core.engine.society.engine import Frame, Step
from core.errors import StoreError
from core.events import MAIN, Event
from core.settings import Settings
from core.timeline.initial_state import InitialState
from core.timeline.keyframes import KeyFrame, KeyFrames
from core.timeline.marks import Mark, Marks
from core.timeline.packed_list import PackedList
from core.timeline.run import Run, Track

CHUNK = 64
# Chunks of events that are not packed: all of most sessions, and what is looked at again and again at the live edge.
FRESH = 32


class RecordedEvents(PackedList[Event], kind=Event, chunk=CHUNK, fresh=FRESH, looked_at=64):
    """Events in the order they came."""

    __slots__ = ()


_AGENTS = 8  # Number of awake agents per interval between key frames; up to twice as many get one at every interval.
_LOAD = 40  # Steps that take about as long as loading a key frame.
_STRIDES = 12
# When seeking backwards by small steps, a state is stored so many steps further back, or so many events.
_STRIDE_MOST = 32


class SettingsChange(NamedTuple):
    """Inputs of a session from one event on: settings, and reports from neighbours and the disk."""

    after: int  # Events before it.
    settings: Settings
    reports: tuple[Neighbour, ...] = ()
    changed: tuple[tuple[str, float], ...] = ()  # Files that changed on disk, and when.

    @property
    def news(self) -> bool:
        """Something was found out beside the log."""
        return bool(self.reports or self.changed)

    def apply_to(self, society: Society) -> None:
        """Apply it to minds; a mind that has it already does not change."""
        society.receive_reports(self.reports)
        society.see_changed(self.changed)


class Timeline:
    """The events of a session, run once; any seek gives what a replay from the start would give."""

    def __init__(
        self,
        settings: Settings,
        *,
        seed: int = 0,
        initial: InitialState | None = None,
        every: int | None = None,
        later: Iterable[SettingsChange] = (),
    ) -> None:
        self.initial = InitialState(seed) if initial is None else initial
        self.changes: list[SettingsChange] = [SettingsChange(0, settings)]
        self.events = RecordedEvents()
        keyframes = settings.timeline.keyframes
        self.frames = KeyFrames(p_frames=keyframes.p_frames, i_share=keyframes.i_share)
        self.run = Run(self.initial.society(settings))  # The minds at the live edge, and what they left behind.
        # A state a little before the last seek, for seeking backwards by small steps.
        self._trail: tuple[int, Mapping[str, Any]] | None = None
        self._every = every or keyframes.every
        self._whole = False  # A dream requested a whole frame; the next frame is whole.
        self._cursor: tuple[int, Society] | None = None
        self._times = array("d")
        self._later = deque(later)  # Changes at events that are still to come.
        self._turn()

    def __len__(self) -> int:
        return len(self.events)

    @property
    def settings(self) -> Settings:
        """The settings in force at the live edge."""
        return self.changes[-1].settings

    @property
    def society(self) -> Society:
        """The minds at the live edge."""
        return self.run.society

    @property
    def marks(self) -> Marks:
        """Moments worth jumping to."""
        return self.run.marks

    @property
    def tracks(self) -> dict[str, Track]:
        """Each agent's readings."""
        return self.run.tracks

    @property
    def agents(self) -> tuple[str, ...]:
        """All agents that did something, in order of appearance."""
        return tuple(self.run.tracks)

    def add(self, event: Event) -> Step:
        """Record one event at the live edge."""
        times, at = self._times, event.at
        index = len(times)
        step = self.run.step(index, event)
        self.events.append(event)
        times.append(max(at, times[-1]) if index else at)
        if step.thought.iframe and event.agent == MAIN:
            self._whole = True
        if (index + 1) % self._every == 0 and self._due(index + 1):
            self.keep(whole=self._whole)
            self._whole = False
        if self._later:
            self._turn()
        return step

    def _due(self, index: int) -> bool:
        """Whether the last key frame is far enough back: many agents take longer to store and to load."""
        nearest = self.frames.nearest(index)
        before = nearest.after if nearest is not None else 0
        return index - before >= self._every * (len(self.society.agents) // _AGENTS)

    def _turn(self) -> None:
        """Apply the changes that are due at this place, as when the session was watched."""
        while self._later and self._later[0].after <= len(self.events):
            change = self._later.popleft()
            self._apply(change.settings)
            self._add_change(change)

    def extend(self, events: Iterable[Event]) -> None:
        """Record many events."""
        for event in events:
            self.add(event)

    def keep(self, *, whole: bool = False) -> None:
        """Store the state at the live edge as a key frame."""
        nearest = self.frames.nearest(len(self.events))
        if nearest is None or nearest.after < len(self.events):
            regime = self.society.engine(MAIN).mind.heart.regime.regime
            self.frames.add(len(self.events), _packed(self.society.dump()), regime, whole=whole)

    def apply(self, settings: Settings) -> None:
        """Change the settings from here on; a replay changes them at the same event."""
        self._later.clear()
        self._apply(settings)

    def _apply(self, settings: Settings) -> None:
        if settings == self.settings:
            return
        state = self.society.dump()
        self.changes.append(SettingsChange(len(self.events), settings))
        self.run.society = self.loaded(settings, state)

    def add_reports(self, reports: tuple[Neighbour, ...] = (), changed: tuple[tuple[str, float], ...] = ()) -> None:
        """Give the minds what was found out beside the log; a replay does at the same event."""
        self._later.clear()
        self._add_change(SettingsChange(len(self.events), self.settings, reports, changed))

    def _add_change(self, change: SettingsChange) -> None:
        if change.news:
            self.changes.append(change._replace(after=len(self.events), settings=self.settings))
            change.apply_to(self.society)

    def adopt(
        self, events: RecordedEvents, tracks: dict[str, Track], marks: Iterable[Mark], frames: list[KeyFrame]
    ) -> None:
        """Use a stored recording up to its last key frame, which must be at its end."""
        self.frames.adopt(frames)
        last = self.frames.nearest(len(events))
        if events and (last is None or last.after != len(events)):
            raise StoreError("the stored recording has no key frame at its end")
        self.events = events
        while self._later and self._later[0].after <= len(events):
            change = self._later.popleft()
            if change.news or change.settings != self.settings:
                self.changes.append(change)
        times = np.fromiter((event.at for event in events), np.float64, len(events))
        self._times = array("d", np.maximum.accumulate(times).tobytes())
        self.run.origin = events[0].at if events else None
        self.run.tracks = tracks
        self.run.texts_from = len(events)
        self.run.marks.adopt(marks)
        if last is not None:
            self.run.society = self.loaded(self.settings, self.kept_state(last))
            self._remind(self.run.society, len(events))

    def head(self, place: int) -> Timeline:
        """Return the first `place` events as a recording of its own, which may continue differently.

        Later changes are applied again at the same places.
        """
        head = Timeline(self.changes[0].settings, initial=self.initial, every=self._every)
        head.changes = [change for change in self.changes if change.after <= place]
        head._later = deque([*self.changes[len(head.changes) :], *self._later])
        head.run = self.run.head(place, self.branch_point(place))
        head.events, head._times = self.events.head(place), self._times[:place]
        head.frames.adopt([frame for frame in self.frames if frame.after <= place])
        return head

    def at(self, index: int, agent: str | None = None) -> Frame:
        """The frame after the first `index` events."""
        with without_collector():
            society = self.society_at(index)
            return society.frame(agent if agent in society.agents else MAIN)

    def live(self, at: float, agent: str | None = None) -> Frame:
        """The frame at the live edge, decayed to `at`."""
        return self.society.frame(agent if agent in self.society.agents else MAIN, at)

    def society_at(self, index: int) -> Society:
        """The minds after the first `index` events, to be read until the next seek and not stepped."""
        index = max(0, min(index, len(self.events)))
        if index == len(self.events):
            return self.society
        back = self._cursor[0] - index if self._cursor is not None else 0
        pause = index - min(_STRIDES * back, _STRIDE_MOST) if 0 < back < _STRIDE_MOST else 0
        with without_collector():
            start, society = self._nearest(index)
            if start < pause < index and not self.initial.extensions:
                society = self._run(society, start, pause)
                start, self._trail = pause, (pause, society.dump())
            society = self._run(society, start, index)
        self._cursor = (index, society)
        return society

    def branch_point(self, index: int) -> Society:
        """Return a separate society after the first `index` events, to be stepped freely."""
        return self.loaded(self.settings_at(index), self.society_at(index).dump())

    def kept_state(self, frame: KeyFrame) -> dict[str, Any]:
        """Return the dump in a key frame; `StoreError` if it is damaged."""
        return _unpacked(self.frames.restore(frame))

    def loaded(self, settings: Settings, state: Mapping[str, Any]) -> Society:
        """Return a society resumed from a dump of this recording."""
        return self.initial.resumed(settings, state)

    def index_at(self, at: float) -> int:
        """Return how many events had happened at a moment."""
        return bisect_right(self._times, at)

    def time_of(self, index: int) -> float:
        """When the last of the first `index` events happened, never running backwards."""
        if not self._times:
            return 0.0
        return self._times[max(0, min(index, len(self._times)) - 1)]

    def _nearest(self, index: int) -> tuple[int, Society]:
        """Return the cursor if it is near, else the trail, else a key frame, else the start."""
        frame = self.frames.nearest(index)
        nearest = frame.after if frame is not None else 0
        if self._cursor is not None and nearest - _LOAD <= self._cursor[0] <= index:
            return self._cursor
        if self._trail is not None and nearest <= self._trail[0] <= index:
            place, state = self._trail
            return place, self._reloaded(self.settings_at(place), state)
        while frame is not None:
            try:
                state = self.kept_state(frame)
            except StoreError:
                self.frames.discard(frame)
                frame = self.frames.nearest(index)
            else:
                return frame.after, self._reloaded(self.settings_at(frame.after), state)
        return 0, self.initial.society(self.changes[0].settings)

    def _reloaded(self, settings: Settings, state: Mapping[str, Any]) -> Society:
        """Return a society resumed from a dump; that of the last seek is reused if nothing else differs."""
        cursor, self._cursor = self._cursor, None
        if cursor is None or self.initial.extensions or cursor[1].settings is not settings:
            return self.loaded(settings, state)
        society = cursor[1]
        society.load(state)
        self.initial.remind(society)
        return society

    def _run(self, society: Society, start: int, stop: int) -> Society:
        """Step through the events, with the settings that held at each."""
        self._remind(society, start)
        for change in [change for change in self.changes if start < change.after <= stop]:
            self._step_through(society, start, change.after)
            start, society = change.after, self.loaded(change.settings, society.dump())
            change.apply_to(society)
        self._step_through(society, start, stop)
        return society

    def _remind(self, society: Society, place: int) -> None:
        """Apply a finding about a place to minds; a mind that has it already does not change."""
        for change in self.changes:
            if change.news and change.after == place:
                change.apply_to(society)

    def _step_through(self, society: Society, start: int, stop: int) -> None:
        step = society.step
        for event in self.events[start:stop]:
            step(event)

    def settings_at(self, index: int) -> Settings:
        """Return the settings in force after the first `index` events."""
        place = bisect_right([change.after for change in self.changes], index) - 1
        return self.changes[place].settings


def apply_due_changes(initial: InitialState, society: Society, later: deque[SettingsChange], place: int) -> Society:
    """Return the society after the changes that are due at a place."""
    while later and later[0].after <= place:
        change = later.popleft()
        if change.settings != society.settings:
            society = initial.resumed(change.settings, society.dump())
        change.apply_to(society)
    return society


@contextmanager
def without_collector() -> Iterator[None]:
    """Stop the garbage collector: a pass over a long recording would delay a seek."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _packed(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return a society's dump with each member under its name, so that unchanged ones are stored once."""
    packed = dict(state)
    members: Sequence[Sequence[Any]] = packed.pop("members")
    packed["order"] = [member[0] for member in members]
    packed["members"] = {member[0]: {"kept": member[:-1], "engine": member[-1]} for member in members}
    return packed


def _unpacked(packed: Mapping[str, Any]) -> dict[str, Any]:
    state = dict(packed)
    members = state.pop("members")
    state["members"] = [(*members[name]["kept"], members[name]["engine"]) for name in state.pop("order")]
    return state
