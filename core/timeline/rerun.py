"""A recording run again with some settings changed: first what is felt, then everything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from core.affect import AffectStep
from core.engine import Engine, Step
from core.errors import StoreError
from core.events import MAIN, Event
from core.governor import Verdict
from core.mind import Thought
from core.percept import AXES
from core.receptor.replay import Feelings, ReceptorInput, RecordedInputs, only_felt
from core.response.reaction import QUIET
from core.settings import Settings
from core.settings.derived import Derived
from core.settings.layers import Given, Layer, resolve, tunables, value_of
from core.society import Society
from core.timeline.columns import Columns
from core.timeline.firings import FIRINGS, Difference, compare
from core.timeline.head_start import HeadStart, rooms_apart
from core.timeline.initial_state import InitialState
from core.timeline.kept_run import kept_run
from core.timeline.recorded_marks import Mark
from core.timeline.run import Run
from core.timeline.timeline import SettingsChange, Timeline
from core.timeline.track import Track

FELT = ("at", *(f"axis.{axis}" for axis in AXES), *(f"threshold.{axis}" for axis in AXES))
"""Columns of a run that only feels."""

_SAMPLES = 1024
"""Times the thresholds are read in a run that only feels."""
_AHEAD = 4
"""Events looked at, to find where to begin, in the time of one that is run."""


def overlaid(settings: Settings, edits: Mapping[str, Any]) -> Settings:
    """Settings with some of them changed; an edit that does not fit the rest is left out."""
    if not edits:
        return settings
    changed = tuple(Given(name, value) for name, value in edits.items())
    return resolve([Layer("in force", _standing(settings)), Layer("what-if", changed)]).settings


def _own(settings: Settings) -> tuple[Given, ...]:
    """Those settings that are not as built in."""
    return tuple(
        Given(name, value)
        for name, each in tunables().items()
        if (value := value_of(settings, name)) != each.default
    )


_standing = Derived(_own)


def key_of(mark: Mark) -> str:
    """The name under which a firing is counted."""
    return mark.name if mark.kind in ("signal", "method", "background") else f"{mark.kind} {mark.name}"


class Feeler(Engine):
    """An engine of which only the receptor takes part; nothing flows back to it, so it feels the same."""

    __slots__ = ()

    def step(self, event: Event) -> Step:
        return Step(self.receptor.step(event), _NO_THOUGHT, _NO_VERDICT, _NO_MOOD, QUIET)


_NO_THOUGHT: Thought = None  # type: ignore[assignment]
_NO_VERDICT: Verdict = None  # type: ignore[assignment]
_NO_MOOD: AffectStep = None  # type: ignore[assignment]


class KeptInputs:
    """What the receptors of a recording are given, worked out when first asked for and kept."""

    def __init__(self, timeline: Timeline) -> None:
        settings = timeline.changes[0].settings
        self._society = timeline.initial.society(settings, _FirstHalf)
        self._events = timeline.events
        self._rows: list[ReceptorInput] = []
        self._growing = Lock()

    def upto(self, stop: int) -> list[ReceptorInput]:
        """Those of at least the first `stop` events, one each."""
        rows = self._rows
        if len(rows) < stop:
            with self._growing:
                step = self._society.step
                for place in range(len(rows), stop):
                    rows.append(step(self._events[place]))  # type: ignore[arg-type]
        return rows


def inputs_over(events: Sequence[Event], settings: Settings, initial: InitialState) -> list[ReceptorInput]:
    """What the receptors are given over some events, one each."""
    step = initial.society(settings, _FirstHalf).step
    return [step(event) for event in events]  # type: ignore[misc]


class _FirstHalf(Engine):
    """An engine that says what its receptor is given, and goes no further."""

    __slots__ = ("inputs",)

    def __init__(self, settings: Settings, **given: Any) -> None:
        super().__init__(settings, **given)
        self.inputs = RecordedInputs(settings.receptor)

    def serve(self, seed: int, agent: str) -> None:
        super().serve(seed, agent)
        self.inputs = RecordedInputs(self.settings.receptor)

    def step(self, event: Event) -> Step:
        return self.inputs.take(event)  # type: ignore[return-value]


def inputs_of(timeline: Timeline) -> KeptInputs:
    """The inputs kept for a recording."""
    kept = _KEPT.get(timeline)
    if kept is None:
        kept = _KEPT[timeline] = KeptInputs(timeline)
    return kept


_KEPT: WeakKeyDictionary[Timeline, KeptInputs] = WeakKeyDictionary()


class Rerun:
    """The same events with some settings changed throughout, as far as it was run.

    A `whole` one runs every mechanism. One that is not runs the receptor alone, which is several times
    faster and exact for axes and signals.
    """

    def __init__(self, timeline: Timeline, edits: Mapping[str, Any], *, whole: bool = True) -> None:
        self.timeline = timeline
        self.edits = dict(edits)
        self.whole = whole
        self.done = 0
        """Events run so far."""
        self.eras = [era._replace(settings=overlaid(era.settings, edits)) for era in timeline.changes]
        self._next = 1
        self._run = Run(self._society(self.eras[0].settings), timeline.run.origin)
        self._marks: list[Mark] = []
        self._every = max(1, len(timeline) // _SAMPLES)
        self._levels: dict[str, tuple[float, ...]] = {}
        self._feelings: dict[str, Feelings] = {}
        self._head = self._head_start() if whole else None
        """Looks for the place to begin at, where that may be a later one."""
        self._inputs: KeptInputs | None = None
        if not whole and len(self.eras) == 1 and all(map(only_felt, edits)):
            self._inputs = inputs_of(timeline)

    @property
    def total(self) -> int:
        """Events of the recording by now."""
        return len(self.timeline)

    @property
    def tracks(self) -> dict[str, Track]:
        """Each agent's readings so far."""
        return self._run.tracks

    @property
    def texts(self) -> dict[tuple[int, str], str]:
        """What each method said, by place and name; of a whole run only."""
        return self._run.texts

    @property
    def society(self) -> Society:
        """The minds after the events run so far."""
        return self._run.society

    def advance(self, events: int) -> bool:
        """Run so many more; False once there are none left."""
        if self._head is not None:
            if self._head.advance(_AHEAD * events):
                return True
            self._begin(self._head)
            self._head = None
        stop = min(self.done + events, self.total)
        while self.done < stop:
            if self._next < len(self.eras) and self.eras[self._next].after == self.done:
                self._turn(self.eras[self._next])
                self._next += 1
                continue
            until = stop
            if self._next < len(self.eras):
                until = min(stop, self.eras[self._next].after)
            if self.whole:
                self._live(until)
            elif self._inputs is not None:
                self._feel_again(until, self._inputs.upto(until))
            else:
                self._feel(until)
        return self.done < self.total

    def marks(self) -> list[Mark]:
        """What fired so far."""
        if self.whole:
            return [mark for mark in self._run.marks if mark.kind in FIRINGS]
        return list(self._marks)

    def difference(self) -> Difference:
        """Against the recording, over the events run so far."""
        actual = self.timeline.marks.between(0, self.done)
        if not self.whole:
            actual = [mark for mark in actual if mark.kind == "signal"]
        return compare(actual, self.marks(), self.timeline.settings.timeline.branch.near)

    def _head_start(self) -> HeadStart | None:
        """Where the recording was run as it was, and settings bear on rooms heard by their words alone."""
        timeline, settings = self.timeline, self.eras[0].settings
        kept = kept_run(timeline)
        rooms = rooms_apart(timeline.changes[0].settings, settings, self.edits) if kept.steps else None
        return None if rooms is None else HeadStart(timeline, kept, settings, rooms)

    def _begin(self, head: HeadStart) -> None:
        """Go on from the first place that can differ; from the start where its state is damaged."""
        place = head.place
        if not place:
            return
        try:
            society = head.society()
        except StoreError:
            return
        said = kept_run(self.timeline).said(place)
        self._run = Run(society, self.timeline.run.origin)
        self._run.begin(head.tracks(), self.timeline.marks.between(0, place), said)
        self.done = place

    def _live(self, until: int) -> None:
        step = self._run.step
        for place, event in enumerate(self.timeline.events[self.done : until], self.done):
            step(place, event)
            self.done = place + 1

    def _feel(self, until: int) -> None:
        society, tracks, levels = self.society, self.tracks, self._levels
        step, marks, every = society.step, self._marks, self._every
        for place, event in enumerate(self.timeline.events[self.done : until], self.done):
            agent = event.agent
            percept = step(event).percept
            if percept.signals:
                for name, intensity, fresh in percept.signals:
                    if fresh:
                        marks.append(Mark(place, event.at, agent, "signal", name, intensity))
            track = tracks.get(agent)
            if track is None:
                track = tracks[agent] = Track(self.timeline.events[0].at)
                track.columns = Columns(FELT)
            if place % every == 0 or agent not in levels:
                levels[agent] = society.engine(agent).receptor.levels()[: len(AXES)]
            track.indexes.append(place)
            track.columns.append((percept.at - track.origin, *percept.axes, *levels[agent]))
            self.done = place + 1

    def _feel_again(self, until: int, given: list[ReceptorInput]) -> None:
        """The same as `_feel` from inputs that were kept."""
        events, tracks, levels = self.timeline.events, self.tracks, self._levels
        feelings, marks, every = self._feelings, self._marks, self._every
        start = self.done
        stretch = zip(events[start:until], given[start:until], strict=True)
        for place, (event, row) in enumerate(stretch, start):
            agent = event.agent
            receptor = self._begun(agent) if row[0] else feelings[agent]
            axes, signals = receptor.feel(row)
            for name, intensity, fresh in signals:
                if fresh:
                    marks.append(Mark(place, event.at, agent, "signal", name, intensity))
            track = tracks.get(agent)
            if track is None:
                track = tracks[agent] = Track(events[0].at)
                track.columns = Columns(FELT)
            if place % every == 0 or agent not in levels:
                levels[agent] = receptor.levels()[: len(AXES)]
            track.indexes.append(place)
            track.columns.append((event.at - track.origin, *axes, *levels[agent]))
        self.done = until

    def _begun(self, agent: str) -> Feelings:
        """A receptor that has felt nothing, with what earlier sessions left to the main agent."""
        made = self._feelings[agent] = Feelings(self.eras[0].settings.receptor)
        if agent == MAIN:
            self.timeline.initial.begin(made)
        return made

    def _turn(self, change: SettingsChange) -> None:
        """Go on with what the next stretch is given."""
        state = self.society.dump()
        if self.whole:
            self._run.society = self.timeline.loaded(change.settings, state)
            change.tell(self._run.society)
        else:
            self._run.society = self._society(change.settings)
            self._run.society.load(state)

    def _society(self, settings: Settings) -> Society:
        return self.timeline.initial.society(settings, Engine if self.whole else Feeler)
