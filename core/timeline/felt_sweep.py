"""Many values of one setting of what is felt, over one session, without running every mechanism for each.

Such a setting changes what the receptor makes of its inputs. Mind, governor and affect hear little of that:
the axes, and whether two of the signals fire. Values that give them the same to hear share one run of them,
and differ in the response alone, of which only the words need more than that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from core.engine import Step
from core.events import MAIN, Event
from core.mind import Mind
from core.percept import AgentState, Signal
from core.receptor.replay import Feelings, ReceptorInput, only_felt
from core.receptor.vector import Vector
from core.response import Response
from core.settings import Settings
from core.timeline.firings import FIRINGS
from core.timeline.initial_state import InitialState
from core.timeline.marks import Mark, Marks
from core.timeline.rerun import inputs_over

_MOST = 100_000
"""Steps kept at once."""


class _Felt(NamedTuple):
    """What the receptor says of one event at one value."""

    state: AgentState
    signals: tuple[Signal, ...]


class _WholeRun(NamedTuple):
    """Every mechanism run at one value, and what mind and affect heard: the axes, and two of the signals."""

    steps: list[Step]
    heard: list[tuple[Vector, tuple[bool, bool]]]


class FeltSweep:
    """One session at many values: every mechanism is run once for all values that it cannot tell apart."""

    def __init__(self, events: Sequence[Event], settings: Settings, initial: InitialState) -> None:
        self._events, self._initial = events, initial
        self._inputs = inputs_over(events, settings, initial)
        self._runs: list[_WholeRun] = []
        self._known: dict[tuple[_Felt, ...], list[Mark]] = {}
        self.whole_runs = 0

    @staticmethod
    def takes(name: str, initial: InitialState) -> bool:
        """Whether it is a setting of what is felt, and there is nothing in the engine but our own."""
        return only_felt(name) and not initial.extensions

    def fired(self, settings: Settings) -> list[Mark]:
        """What fires at some settings, which differ only in what is felt."""
        felt: list[_Felt] = []
        alike = list(self._runs)
        for place, (axes, said) in enumerate(self._feel(settings)):
            felt.append(said)
            if alike:
                heard = (axes, _heard(said.signals))
                alike = [run for run in alike if run.heard[place] == heard]
        key = tuple(felt)
        known = self._known.get(key) if alike else None
        if known is None:
            steps = self._respond(settings, felt, alike[0].steps) if alike else self._run(settings)
            marks = Marks()
            for place, (event, step) in enumerate(zip(self._events, steps, strict=True)):
                marks.note(place, event, step)
            known = self._known[key] = [mark for mark in marks if mark.kind in FIRINGS]
        return known

    def _run(self, settings: Settings) -> list[Step]:
        """Every mechanism over all events."""
        self.whole_runs += 1
        steps = list(map(self._initial.society(settings).step, self._events))
        if (len(self._runs) + 1) * len(steps) <= _MOST:
            heard = [(step.percept.axes, _heard(step.percept.signals)) for step in steps]
            self._runs.append(_WholeRun(steps, heard))
        return steps

    def _feel(self, settings: Settings) -> Iterator[tuple[Vector, _Felt]]:
        receptors: dict[str, _Receptor] = {}
        for event, given in zip(self._events, self._inputs, strict=True):
            if given.first:
                made = receptors[event.agent] = _Receptor(settings.receptor)
                if event.agent == MAIN and self._initial.prior:
                    made.seed(self._initial.prior)
            yield receptors[event.agent].say(given)

    def _respond(self, settings: Settings, felt: Sequence[_Felt], steps: Sequence[Step]) -> Iterator[Step]:
        """The response alone, where all it hears from but the receptor is as in another run."""
        responses: dict[str, Response] = {}
        initial = self._initial
        for event, given, step, said in zip(self._events, self._inputs, steps, felt, strict=True):
            agent = event.agent
            if given.first:
                responses[agent] = Response(
                    settings.response,
                    _Receptor(settings.receptor),
                    Mind(settings.mind),
                    rules=initial.rules,
                    learned=initial.learned,
                    agent=agent,
                )
            percept = step.percept._replace(state=said.state, signals=said.signals)
            reaction = responses[agent].step(event, percept, step.thought, step.verdict, step.mood)
            yield step._replace(percept=percept, reaction=reaction)


class _Receptor(Feelings):
    """The second half of a receptor that also says how it stands after an event that is not an act."""

    __slots__ = ()

    def say(self, given: ReceptorInput) -> tuple[Vector, _Felt]:
        """The axes, and what is said with them."""
        axes, signals = self.feel(given)
        if given.act:
            self._signals = signals
            return axes, _Felt(self._meta.state, signals)
        rate = given.failing
        state: AgentState = "idle" if given.gap > self._silence else self._state(rate)
        return axes, _Felt(state, self._standing(rate) if self._signals else self._signals)


def _heard(signals: tuple[Signal, ...]) -> tuple[bool, bool]:
    """What mind and affect hear of the signals."""
    crisis = uncertain = False
    for name, _, fresh in signals:
        if name == "compound_frustration_seeking":
            crisis = True
        elif fresh and name == "uncertainty_spike":
            uncertain = True
    return crisis, uncertain
