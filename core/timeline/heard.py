"""What the minds of a run heard of the receptor, so that another value can be asked whether they would.

All that mind and affect do with axes and signals goes three ways: a crisis decides the regime, pleasure
decides whether dreams are intensive, and uncertainty that begins is observed. Who agrees in those is not told
apart by anything that fires.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from core.engine import Engine, Step
from core.events import Event
from core.mind.cortical import Regime
from core.mind.homeostasis import Correction, Homeostasis
from core.mind.mood import Mood
from core.mind.regime import RegimeSense
from core.percept import Percept
from core.receptor.replay import ReceptorInput
from core.settings import Settings
from core.settings.mind import MindSettings


class MoodTick(NamedTuple):
    """The mood stepped towards the axes."""

    now: float
    urgency: float


class Regulation(NamedTuple):
    """Homeostasis took in a theta tick, and dreams are intensive since, or not."""

    vitality: float
    accuracy: float
    pleasure: float
    intensive: bool


class RegimeUpdate(NamedTuple):
    """A percept was taken for a regime."""

    looping: bool
    regime: Regime


HeardNote: TypeAlias = MoodTick | Regulation | RegimeUpdate


class HeardNotes:
    """For every event of a run what three mechanisms of its agent's mind were given beside the percept."""

    def __init__(self) -> None:
        self.rows: list[list[HeardNote]] = []

    def begin(self) -> None:
        """Another event comes."""
        self.rows.append([])

    def listen(self, engine: Engine) -> None:
        """Have an engine that has seen nothing note what it hears."""
        heart, settings = engine.mind.heart, engine.settings.mind
        heart.mood = _NotedMood(settings, self)
        heart.homeostasis = _NotedHomeostasis(settings, self)
        heart.regime = _NotedRegime(settings, self)

    def same(
        self,
        settings: Settings,
        events: Sequence[Event],
        inputs: Sequence[ReceptorInput],
        percepts: Sequence[Percept],
    ) -> bool:
        """Whether other percepts of the same events give the same regimes and modes of dreaming."""
        minds: dict[str, _HalfMind] = {}
        for event, given, percept, row in zip(events, inputs, percepts, self.rows, strict=True):
            if given.first:
                minds[event.agent] = _HalfMind(settings.mind)
            if not minds[event.agent].agrees(percept, row):
                return False
        return True

    def whole(
        self,
        settings: Settings,
        events: Sequence[Event],
        inputs: Sequence[ReceptorInput],
        steps: Sequence[Step],
    ) -> bool:
        """Whether the notes account for all the run did itself; only then may others be compared with it."""
        minds: dict[str, _HalfMind] = {}
        for event, given, step, row in zip(events, inputs, steps, self.rows, strict=True):
            if given.first:
                minds[event.agent] = _HalfMind(settings.mind)
            kinds = {type(note) for note in row}
            gamma, theta, _ = step.thought.ticks
            expected = {RegimeUpdate, *([MoodTick] if gamma else []), *([Regulation] if theta else [])}
            if kinds != expected or not minds[event.agent].agrees(step.percept, row, exactly=True):
                return False
            if minds[event.agent].regime != step.thought.regime:
                return False
        return True


class _HalfMind:
    """The three mechanisms alone."""

    __slots__ = ("_homeostasis", "_mood", "_regime")

    def __init__(self, settings: MindSettings) -> None:
        self._mood = Mood(settings.cortical.mood)
        self._homeostasis = Homeostasis(settings.homeostasis)
        self._regime = RegimeSense(settings.cortical.regime)

    @property
    def regime(self) -> Regime:
        return self._regime.regime

    def agrees(self, percept: Percept, row: list[HeardNote], *, exactly: bool = False) -> bool:
        """Take in an event; whether it comes out as it was noted, exactly: with the same pleasure."""
        mood, homeostasis = self._mood, self._homeostasis
        for note in row:
            if type(note) is RegimeUpdate:
                self._regime.update(percept, note.looping)
                if self._regime.regime != note.regime:
                    return False
            elif type(note) is MoodTick:
                mood.tick(note.now, percept.axes, note.urgency)
            elif type(note) is Regulation:
                homeostasis.update(note.vitality, note.accuracy, mood.pleasure)
                if homeostasis.intensive != note.intensive or (exactly and mood.pleasure != note.pleasure):
                    return False
        return True


class _NotedMood(Mood):
    __slots__ = ("_notes",)

    def __init__(self, settings: MindSettings, notes: HeardNotes) -> None:
        super().__init__(settings.cortical.mood)
        self._notes = notes

    def tick(self, now: float, axes: Sequence[float], urgency: float) -> None:
        self._notes.rows[-1].append(MoodTick(now, urgency))
        super().tick(now, axes, urgency)


class _NotedHomeostasis(Homeostasis):
    __slots__ = ("_notes",)

    def __init__(self, settings: MindSettings, notes: HeardNotes) -> None:
        super().__init__(settings.homeostasis)
        self._notes = notes

    def update(self, vitality: float, accuracy: float, pleasure: float) -> tuple[Correction, ...]:
        moved = super().update(vitality, accuracy, pleasure)
        self._notes.rows[-1].append(Regulation(vitality, accuracy, pleasure, self.intensive))
        return moved


class _NotedRegime(RegimeSense):
    __slots__ = ("_notes",)

    def __init__(self, settings: MindSettings, notes: HeardNotes) -> None:
        super().__init__(settings.cortical.regime)
        self._notes = notes

    def update(self, percept: Percept, loop: bool) -> bool:
        changed = super().update(percept, loop)
        self._notes.rows[-1].append(RegimeUpdate(loop, self.regime))
        return changed
