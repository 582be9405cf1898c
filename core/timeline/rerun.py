"""The re-run behind what-ifs, sweeps and branches, and the proof that an extension is deterministic."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import cbor2

from core.engine.affect import AffectStep
from core.engine.governor import Verdict
from core.engine.mind import Thought
from core.engine.percept import AXES
from core.engine.response.reaction import QUIET
from core.engine.society import Society
from core.engine.society.engine import Engine, Step
from core.engine.values import Derived
from core.events import Event
from core.extension.in_step import ExtendedEngine, StepExtension
from core.settings import Settings
from core.settings.layers import Given, Layer, resolve, tunables, value_of
from core.timeline.columns import Columns
from core.timeline.firings import FIRINGS
from core.timeline.initial_state import InitialState
from core.timeline.marks import Mark
from core.timeline.run import Run, Track
from core.timeline.timeline import SettingsChange, Timeline, apply_due_changes

# Columns of a run of the receptor alone.
FELT = ("at", *(f"axis.{axis}" for axis in AXES), *(f"threshold.{axis}" for axis in AXES))

_SAMPLES = 1024  # How many times a run of the receptor alone reads the thresholds.


def with_edits(settings: Settings, edits: Mapping[str, Any]) -> Settings:
    """Settings with some of them changed; an edit that does not fit the rest is left out."""
    if not edits:
        return settings
    changed = tuple(Given(name, value) for name, value in edits.items())
    return resolve([Layer("in force", _standing(settings)), Layer("what-if", changed)]).settings


def _own(settings: Settings) -> tuple[Given, ...]:
    """Return the settings that differ from the built-in ones."""
    return tuple(
        Given(name, value) for name, each in tunables().items() if (value := value_of(settings, name)) != each.default
    )


_standing = Derived(_own)


class Rerun:
    """Events run again through every mechanism, as far as `advance` was called."""

    def __init__(
        self,
        events: Sequence[Event],
        eras: Sequence[SettingsChange],
        initial: InitialState,
        *,
        after: int = 0,
        society: Society | None = None,
        origin: float | None = None,
    ) -> None:
        self.events = events
        self.most = eras[-1].settings.timeline.branch.most  # Events it may run.
        self.eras = eras  # The settings at the start, then every change by the number of events before it.
        self.done = 0  # Events run so far.
        self._initial = initial
        self._after = after  # Events of the recording before the first one.
        self._later = deque(eras[1:])
        self.run = Run(society or self._start(eras[0].settings), origin)

    @property
    def total(self) -> int:
        """Events there are by now, or as many as it may run."""
        return min(len(self.events), self.most)

    @property
    def tracks(self) -> dict[str, Track]:
        """Each agent's readings so far."""
        return self.run.tracks

    def advance(self, events: int) -> bool:
        """Run a number of further events; return False once none are left."""
        run, initial, later, after = self.run, self._initial, self._later, self._after
        stop = min(self.done + events, self.total)
        for number, event in enumerate(self.events[self.done : stop], self.done):
            if later:
                run.society = apply_due_changes(initial, run.society, later, number)
            run.step(after + number, event)
            self.done = number + 1
        return self.done < self.total

    def marks(self) -> list[Mark]:
        """Return the firings so far."""
        return [mark for mark in self.run.marks if mark.kind in FIRINGS]

    def _start(self, settings: Settings) -> Society:
        return self._initial.society(settings)


class _ReceptorEngine(Engine):
    """An engine in which only the receptor runs; no other mechanism has an effect on it."""

    __slots__ = ()

    def step(self, event: Event) -> Step:
        return Step(self.receptor.step(event), _NO_THOUGHT, _NO_VERDICT, _NO_MOOD, QUIET)


_NO_THOUGHT: Thought = None  # type: ignore[assignment]
_NO_VERDICT: Verdict = None  # type: ignore[assignment]
_NO_MOOD: AffectStep = None  # type: ignore[assignment]


class ReceptorRerun(Rerun):
    """The receptor alone: several times faster, and exact for axes and signals."""

    def __init__(self, events: Sequence[Event], eras: Sequence[SettingsChange], initial: InitialState) -> None:
        super().__init__(events, eras, initial)
        self._marks: list[Mark] = []
        self._every = max(1, len(events) // _SAMPLES)
        self._levels: dict[str, tuple[float, ...]] = {}

    def advance(self, events: int) -> bool:
        tracks, levels, marks, later = self.tracks, self._levels, self._marks, self._later
        stop = min(self.done + events, self.total)
        for place, event in enumerate(self.events[self.done : stop], self.done):
            while later and later[0].after <= place:
                state, settings = self.run.society.dump(), later.popleft().settings
                self.run.society = self._start(settings)
                self.run.society.load(state)
            agent, society = event.agent, self.run.society
            percept = society.step(event).percept
            for name, intensity, fresh in percept.signals:
                if fresh:
                    marks.append(Mark(place, event.at, agent, "signal", name, intensity))
            track = tracks.get(agent)
            if track is None:
                track = tracks[agent] = Track(self.events[0].at)
                track.columns = Columns(FELT)
            if place % self._every == 0 or agent not in levels:
                levels[agent] = society.engine(agent).receptor.levels()[: len(AXES)]
            track.indexes.append(place)
            track.columns.append((percept.at - track.origin, *percept.axes, *levels[agent]))
            self.done = place + 1
        return self.done < self.total

    def marks(self) -> list[Mark]:
        return list(self._marks)

    def _start(self, settings: Settings) -> Society:
        return self._initial.society(settings, _ReceptorEngine)


def rerun_with(timeline: Timeline, edits: Mapping[str, Any], *, whole: bool = True) -> Rerun:
    """Return a re-run of a recording with some settings changed throughout."""
    eras = [era._replace(settings=with_edits(era.settings, edits)) for era in timeline.changes]
    if not whole:
        return ReceptorRerun(timeline.events, eras, timeline.initial)
    return Rerun(timeline.events, eras, timeline.initial, origin=timeline.run.origin)


_CUTS = 7  # Places at which its state is dumped and loaded.


class Proof(NamedTuple):
    """The verdict on an extension."""

    sound: bool
    sentences: tuple[str, ...]


def prove(kind: type[StepExtension], events: Sequence[Event]) -> Proof:
    """Run it twice, and a third time with its state dumped and loaded at several places."""
    settings = Settings()

    def minds() -> Society:
        return Society(settings, make_engine=partial(ExtendedEngine, extensions=[kind]))

    def ran(society: Society, cuts: frozenset[int]) -> tuple[bytes, list[str], int]:
        findings: list[str] = []
        for place, event in enumerate(events):
            if place in cuts:
                state = cbor2.loads(cbor2.dumps(society.dump()))
                society = minds()
                society.load(state)
            fired = society.step(event).reaction.fired
            findings += [f"{place} {one.method} {one.text}" for one in fired if one.method.startswith(f"{kind.name}.")]
        engine = society.engine()
        faults = engine.faults[kind.name] if isinstance(engine, ExtendedEngine) else 0
        return cbor2.dumps(society.dump(), canonical=True), findings, faults

    every = max(1, len(events) // _CUTS)
    first, again = ran(minds(), frozenset()), ran(minds(), frozenset())
    cut = ran(minds(), frozenset(range(every, len(events), every)))
    sentences = [f"{kind.name} {kind.version} on {len(events)} events: {len(first[1])} findings, {first[2]} faults"]
    sentences += [f"  event {line}" for line in first[1][:5]]
    if first != again:
        sentences.append("NOT deterministic: a second run over the same events ends differently")
    elif first != cut:
        sentences.append("its state is NOT whole: with dump and load in between it ends differently")
    else:
        sentences.append("two runs end alike, and so does one that is dumped and loaded on the way")
    sound = first == again == cut and first[2] == 0
    return Proof(sound, tuple(sentences))
