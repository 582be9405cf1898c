"""A recording run again as it was, with all that its rooms were given and said kept for other runs."""

from __future__ import annotations

from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from core.engine import Engine, Step
from core.events import Event
from core.settings import Settings
from core.timeline.kept_acts import KeptAct, NotedActs
from core.timeline.said_texts import SaidText
from core.timeline.timeline import Timeline

MOST = 20_000
"""Events that are kept so; a recording's first ones."""


class KeptStep(NamedTuple):
    """What one event did, and what methods did when they fired."""

    step: Step
    acts: tuple[KeptAct, ...]


class _NotedEngine(Engine):
    """An engine that keeps its steps."""

    __slots__ = ("_note",)

    def __init__(self, settings: Settings, *, kept: list[KeptStep], **given: Any) -> None:
        super().__init__(settings, **given)
        acts: list[KeptAct] = []
        rules, learned = given.get("rules"), given.get("learned")
        self.response = NotedActs(
            settings.response,
            self.receptor,
            self.mind,
            acts.append,
            rules=rules,
            learned=learned,
            agent=self.agent,
        )

        def note(step: Step) -> None:
            kept.append(KeptStep(step, tuple(acts)))
            acts.clear()

        self._note = note

    def step(self, event: Event) -> Step:
        step = super().step(event)
        self._note(step)
        return step


class KeptRun:
    """The steps of a recording as long as its settings are those it began with, as far as they were run."""

    def __init__(self, timeline: Timeline) -> None:
        initial = self._initial = timeline.initial
        self._events, self._changes = timeline.events, timeline.changes
        """Not the recording itself: that one is forgotten with its last user, and this with it."""
        self.steps: list[KeptStep] = []

        def make(settings: Settings, **given: Any) -> Engine:
            return _NotedEngine(settings, kept=self.steps, **given)

        self._society = initial.society(timeline.changes[0].settings, make)
        initial.hand_over(self._society)
        self._growing = Lock()

    @property
    def total(self) -> int:
        """Steps that can be kept of the recording as it is now."""
        if self._initial.extensions:
            return 0
        stop = min(len(self._events), MOST)  # first: what changes meanwhile does so behind it
        return min(self._changes[1].after, stop) if len(self._changes) > 1 else stop

    @property
    def texts(self) -> dict[tuple[int, str], str] | None:
        """What each method said, by place and name; None until that is known of the whole recording."""
        if len(self.steps) < len(self._events):
            return None
        return {(place, method): text for place, method, text in self.said(len(self.steps))}

    def said(self, stop: int) -> list[SaidText]:
        """What methods said with the first `stop` events."""
        return [
            SaidText(place, firing.method, firing.text)
            for place, kept in enumerate(self.steps[:stop])
            for firing in kept.step.reaction.fired
        ]

    def advance(self, events: int) -> bool:
        """Keep so many more; False once there are none left."""
        with self._growing:
            start, total = len(self.steps), self.total
            step = self._society.step
            for event in self._events[start : min(start + events, total)]:
                step(event)
            return len(self.steps) < total


_KEPT: WeakKeyDictionary[Timeline, KeptRun] = WeakKeyDictionary()


def kept_run(timeline: Timeline) -> KeptRun:
    """What is kept of a recording, which is nothing at first."""
    kept = _KEPT.get(timeline)
    if kept is None:
        kept = _KEPT[timeline] = KeptRun(timeline)
    return kept
