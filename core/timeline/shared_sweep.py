"""One session at many values of a setting, without running every mechanism for each.

A setting bears on one room. What that room is given is kept from another run, and so is what comes of the
rooms that cannot tell the values apart: mind and affect hear little of the receptor, and of the governor
whether it halts; the response hears all and is heard by none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from core.engine import Engine, Step
from core.events import MAIN, Event
from core.governor import Governor
from core.mind import Mind
from core.percept import AgentState, Percept, Signal
from core.receptor import Receptor
from core.receptor.replay import Feelings, ReceptorInput, only_felt
from core.receptor.vector import Vector
from core.response import Response
from core.settings import Settings
from core.settings.receptor import ReceptorSettings
from core.society import EngineMaker
from core.timeline.firings import FIRINGS
from core.timeline.heard import HeardNotes
from core.timeline.initial_state import InitialState
from core.timeline.kept_loops import KeptLoops, LoopStep, NotedLoops, OtherPatienceError
from core.timeline.marks import Marks
from core.timeline.recorded_marks import Mark
from core.timeline.rerun import inputs_over
from core.timeline.timeline import uncollected

MOST = 100_000
"""Steps kept at once."""
_LOOK = 200
"""Events between two looks at whether the result is still wanted."""
_ROOMS = ("mind.", "governor.", "affect.", "response.")
_make = tuple.__new__


class _Felt(NamedTuple):
    """What the receptor says of one event at one value."""

    state: AgentState
    axes: Vector
    signals: tuple[Signal, ...]

    @property
    def uncertain(self) -> bool:
        """Whether uncertainty begins to stand, which affect observes."""
        return any(fresh and name == "uncertainty_spike" for name, _, fresh in self.signals)

    def percept(self, other: Percept) -> Percept:
        """Another value's percept of the same event, as it is at this one."""
        return replace(other, state=self.state, axes=self.axes, signals=self.signals)


class _WholeRun(NamedTuple):
    """Mind, governor, affect and response run at some settings."""

    settings: Settings
    steps: list[Step]
    uncertain: list[bool]
    notes: HeardNotes
    loops: list[LoopStep]
    known: dict[tuple[_Felt, ...], list[Mark]]
    """What fires where no more than what is felt differs, by that."""


class UnwantedError(Exception):
    """Nobody wants to know any more."""


class SharedSweep:
    """One session at many values: a room is run once for all values that it cannot tell apart."""

    def __init__(
        self,
        events: Sequence[Event],
        settings: Settings,
        initial: InitialState,
        wanted: Callable[[], bool] | None = None,
    ) -> None:
        self._events, self._initial = events, initial
        self._wanted = wanted
        """Asked now and then while a value is run; a False answer ends it."""
        self._inputs = inputs_over(events, settings, initial)
        self._base: _WholeRun | None = None
        """The first run, whose percepts and loops others are made from."""
        self._runs: list[_WholeRun] = []
        self.whole_runs = 0

    @staticmethod
    def takes(name: str, initial: InitialState, events: int) -> bool:
        """Whether what the receptor is given stays the same, with nothing in the engine but our own."""
        return (only_felt(name) or name.startswith(_ROOMS)) and not initial.extensions and events <= MOST

    def fired(self, settings: Settings) -> list[Mark]:
        """What fires at some settings, which differ from the first ones only as `takes` says."""
        with uncollected():
            return self._fired(settings)

    def _fired(self, settings: Settings) -> list[Mark]:
        base = self._base
        if base is None:
            base = self._base = self._first(settings)
            return self._kept(base, tuple(map(_felt, [step.percept for step in base.steps])))
        felt = self._feel(settings.receptor, base)
        uncertain = [said.uncertain for said in felt]
        percepts = list(map(_Felt.percept, felt, [step.percept for step in base.steps]))
        for run in reversed(self._runs):
            if not _same_minds(run.settings, settings) or run.uncertain != uncertain:
                continue
            alike = _same_answers(run.settings, settings)
            if alike and felt in run.known:
                return run.known[felt]
            if run.notes.same(settings, self._events, self._inputs, percepts):
                steps = self._respond(settings, percepts, run)
                if steps is not None:
                    marks = self._marks(steps)
                    if alike:
                        run.known[felt] = marks
                    return marks
        return self._kept(self._run(settings, percepts, uncertain, base), felt)

    def _kept(self, run: _WholeRun, felt: tuple[_Felt, ...]) -> list[Mark]:
        """What fires in a run, which is kept where there is room and another may share it."""
        self.whole_runs += 1
        marks = run.known[felt] = self._marks(run.steps)
        room = len(self._runs) * len(run.steps) < MOST
        if (
            room
            and (self._base is None or _same_minds(run.settings, self._base.settings))
            and run.notes.whole(run.settings, self._events, self._inputs, run.steps)
        ):
            self._runs.append(run)
        return marks

    def _marks(self, steps: Sequence[Step]) -> list[Mark]:
        marks = Marks()
        for place, (event, step) in enumerate(zip(self._events, steps, strict=True)):
            marks.note(place, event, step)
        return [mark for mark in marks if mark.kind in FIRINGS]

    def _first(self, settings: Settings) -> _WholeRun:
        """Every mechanism over all events."""
        loops: list[LoopStep] = []
        notes = HeardNotes()

        def make(chosen: Settings, **given: Any) -> Engine:
            engine = Engine(chosen, **given)
            engine.response.loops = NotedLoops(chosen.response, loops)
            notes.listen(engine)
            return engine

        steps = self._steps(settings, make, notes)
        uncertain = [_felt(step.percept).uncertain for step in steps]
        return _WholeRun(settings, steps, uncertain, notes, loops, {})

    def _run(
        self, settings: Settings, percepts: Sequence[Percept], uncertain: list[bool], base: _WholeRun
    ) -> _WholeRun:
        """Every mechanism but the receptor over all events."""
        if _same_loops(base.settings, settings):
            try:
                steps, notes = self._fed(settings, percepts, iter(base.loops))
                return _WholeRun(settings, steps, uncertain, notes, base.loops, {})
            except OtherPatienceError:
                pass
        loops: list[LoopStep] = []
        steps, notes = self._fed(settings, percepts, loops)
        return _WholeRun(settings, steps, uncertain, notes, loops, {})

    def _fed(
        self, settings: Settings, percepts: Sequence[Percept], loops: Iterator[LoopStep] | list[LoopStep]
    ) -> tuple[list[Step], HeardNotes]:
        """Loop detectors say again what they said, or have it noted in a list."""
        handed = iter(percepts)
        notes = HeardNotes()

        def make(chosen: Settings, **given: Any) -> Engine:
            engine = _FedEngine(chosen, **given)
            engine.percepts = handed
            if isinstance(loops, list):
                engine.response.loops = NotedLoops(chosen.response, loops)
            else:
                engine.response.loops = KeptLoops(chosen.response, loops)
            notes.listen(engine)
            return engine

        return self._steps(settings, make, notes), notes

    def _steps(self, settings: Settings, make: EngineMaker, notes: HeardNotes) -> list[Step]:
        society = self._initial.society(settings, make)
        self._initial.hand_over(society)
        steps: list[Step] = []
        for event in self._watched():
            notes.begin()
            steps.append(society.step(event))
        return steps

    def _watched(self) -> Iterator[Event]:
        """The events, as long as somebody wants to know."""
        for place, event in enumerate(self._events):
            if self._wanted is not None and place % _LOOK == _LOOK - 1 and not self._wanted():
                raise UnwantedError
            yield event

    def _feel(self, settings: ReceptorSettings, base: _WholeRun) -> tuple[_Felt, ...]:
        """What the receptor says of every event."""
        if settings == base.settings.receptor:
            return tuple([_felt(step.percept) for step in base.steps])
        receptors: dict[str, _Receptor] = {}
        found: list[_Felt] = []
        for event, given in zip(self._events, self._inputs, strict=True):
            if given.first:
                made = receptors[event.agent] = _Receptor(settings)
                if event.agent == MAIN:
                    self._initial.begin(made)
            found.append(receptors[event.agent].say(given))
        return tuple(found)

    def _respond(self, settings: Settings, percepts: Sequence[Percept], run: _WholeRun) -> list[Step] | None:
        """The response, and the governor where it is another, from what is kept of all other rooms.

        None where the governor halts at other events, which mind and affect would hear.
        """
        own_governor = settings.governor != run.settings.governor
        same_loops = _same_loops(run.settings, settings)
        loops = iter(run.loops)
        governors: dict[str, Governor] = {}
        responses: dict[str, Response] = {}
        steps: list[Step] = []
        for event, given, step, percept in zip(
            self._watched(), self._inputs, run.steps, percepts, strict=True
        ):
            agent = event.agent
            if given.first:
                responses[agent] = self._response(settings, agent)
                if same_loops:
                    responses[agent].loops = KeptLoops(settings.response, loops)
                if own_governor:
                    governors[agent] = Governor(settings.governor)
            verdict = step.verdict
            if own_governor:
                verdict = governors[agent].step(
                    event,
                    novelty=step.thought.novelty,
                    elapsed=percept.elapsed,
                    pattern=percept.pattern,
                    failure_rate=percept.failure_rate,
                )
                if bool(verdict.halted_now) != bool(step.verdict.halted_now):
                    return None
            reaction = responses[agent].step(event, percept, step.thought, verdict, step.mood)
            steps.append(Step(percept, step.thought, verdict, step.mood, reaction))
        return steps

    def _response(self, settings: Settings, agent: str) -> Response:
        """A response whose words nobody reads: it has a receptor and a mind that have seen nothing."""
        return Response(
            settings.response,
            Receptor(settings.receptor),
            Mind(settings.mind),
            rules=self._initial.rules,
            learned=self._initial.learned,
            agent=agent,
        )


def _felt(percept: Percept) -> _Felt:
    return _Felt(percept.state, percept.axes, percept.signals)


def _same_minds(one: Settings, other: Settings) -> bool:
    return one.mind == other.mind and one.affect == other.affect


def _same_answers(one: Settings, other: Settings) -> bool:
    return one.governor == other.governor and one.response == other.response


def _same_loops(one: Settings, other: Settings) -> bool:
    mine, theirs = one.response, other.response
    return mine.loops == theirs.loops and mine.notices.final == theirs.notices.final


class _FedEngine(Engine):
    """An engine that is handed percepts; nobody listens to its fabric."""

    __slots__ = ("percepts",)
    percepts: Iterator[Percept]

    def step(self, event: Event) -> Step:
        percept = next(self.percepts)
        mind, affect = self.mind, self.affect
        thought = mind.step(event, percept, affect.modulation, affect.composition)
        verdict = self.governor.step(
            event,
            novelty=thought.novelty,
            elapsed=percept.elapsed,
            pattern=percept.pattern,
            failure_rate=percept.failure_rate,
        )
        if verdict.halted_now:
            mind.tell("halt")
        mood = affect.step(event, percept, thought.novelty)
        return Step(
            percept, thought, verdict, mood, self.response.step(event, percept, thought, verdict, mood)
        )


class _Receptor(Feelings):
    """The second half of a receptor that also says how it stands after an event that is not an act."""

    __slots__ = ()

    def say(self, given: ReceptorInput) -> _Felt:
        """What is said with the axes."""
        axes, signals = self.feel(given)
        if given.act:
            self._signals = signals
            return _make(_Felt, (self._meta.state, axes, signals))
        rate = given.failing
        state: AgentState = "idle" if given.gap > self._silence else self._state(rate)
        return _make(_Felt, (state, axes, self._standing(rate) if self._signals else self._signals))
