"""Where a run with other settings can first differ from the recording, found by the rooms they bear on alone.

A room whose settings are others is run on what it was given. As long as it hands on what it did, all other
rooms are as they were, so the run may begin at the last kept state before the first word that differs.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from core.engine import Engine, Step
from core.errors import StoreError
from core.events import Event
from core.governor.governor import LEVELS as GOVERNOR_LEVELS
from core.receptor.receptor import LEVELS as RECEPTOR_LEVELS
from core.receptor.replay import only_felt
from core.settings import Settings
from core.society import Society
from core.timeline.kept_acts import OtherStepError, RepeatedActs
from core.timeline.kept_run import KeptRun, KeptStep
from core.timeline.timeline import Timeline
from core.timeline.track import Track

Room = Literal["receptor", "governor", "response"]
_LEVELS: dict[Room, tuple[str, ...]] = {
    "receptor": RECEPTOR_LEVELS,
    "governor": GOVERNOR_LEVELS,
    "response": (),
}
"""Rooms that are heard by what they hand on alone, with the columns that show them."""


def rooms_apart(settings: Settings, other: Settings, edits: Mapping[str, Any]) -> frozenset[Room] | None:
    """The rooms that other settings bear on; None where one of them is heard in other ways too.

    Others look into the mind's memory, and at paths and facts, which what comes before the axes moves. Every
    link of affect's lineage names the rules it was made under. Methods would use other words.
    """
    found: set[Room] = {room for room in _LEVELS if getattr(settings, room) != getattr(other, room)}
    felt = all(only_felt(name) for name in edits if name.startswith("receptor."))
    if settings.mind != other.mind or settings.affect != other.affect or ("receptor" in found and not felt):
        return None
    return None if settings.response.actions != other.response.actions else frozenset(found)


class _Probe(Engine):
    """An engine of which only some rooms take part, each given what it was given in the run that is kept."""

    __slots__ = ("_answers", "_kept", "_rooms")

    def __init__(
        self, settings: Settings, *, rooms: frozenset[Room], kept: Iterator[KeptStep], **given: Any
    ) -> None:
        super().__init__(settings, **given)
        self._rooms = rooms
        self._kept = kept
        self._answers: RepeatedActs | None = None
        if "response" in rooms:
            rules, learned = given.get("rules"), given.get("learned")
            self.response = self._answers = RepeatedActs(
                settings.response, self.receptor, self.mind, rules=rules, learned=learned, agent=self.agent
            )

    def step(self, event: Event) -> Step:
        """Raises `OtherStepError` where one of its rooms hands on something else."""
        (step, acts), rooms, answers = next(self._kept), self._rooms, self._answers
        percept = step.percept
        if "receptor" in rooms and self.receptor.step(event) != percept:
            raise OtherStepError
        if "governor" in rooms:
            verdict = self.governor.step(
                event,
                novelty=step.thought.novelty,
                elapsed=percept.elapsed,
                pattern=percept.pattern,
                failure_rate=percept.failure_rate,
            )
            if verdict != step.verdict:
                raise OtherStepError
        if answers is not None:
            answers.acts = iter(acts)
            if answers.step(event, percept, step.thought, step.verdict, step.mood) != step.reaction:
                raise OtherStepError
        return step


class _RoomStates(NamedTuple):
    """How the rooms stood at a place where the recording keeps a state."""

    place: int
    rows: dict[str, int]
    """Rows of each agent's track before it."""
    engines: dict[str, dict[Room, Any]]
    """The rooms of each agent that is awake."""


class HeadStart:
    """The search for the place; ask it for what holds there once `advance` says that it is over."""

    def __init__(self, timeline: Timeline, kept: KeptRun, settings: Settings, rooms: frozenset[Room]) -> None:
        self._timeline, self._settings, self._rooms = timeline, settings, rooms
        self._done, self._stop = 0, len(kept.steps)
        changes = timeline.changes
        # A state that is kept right where something changed may know of that already.
        last = min(self._stop, changes[1].after - 1) if len(changes) > 1 else self._stop
        self._frames = {frame.after: frame for frame in timeline.frames if frame.after <= last}
        self._last: _RoomStates | None = None
        self._rows: dict[str, int] = {}
        self._levels: dict[str, array[float]] = {}
        self._names = [name for room in _LEVELS if room in rooms for name in _LEVELS[room]]
        steps = iter(kept.steps[: self._stop])

        def make(chosen: Settings, **given: Any) -> Engine:
            return _Probe(chosen, rooms=rooms, kept=steps, **given)

        self._society = timeline.initial.society(settings, make)
        timeline.initial.hand_over(self._society)

    @property
    def place(self) -> int:
        """Events before the place from which a run with these settings must go on."""
        return 0 if self._last is None else self._last.place

    def advance(self, events: int) -> bool:
        """Look at so many more; False once the place is known."""
        society, rows, levels = self._society, self._rows, self._levels
        stretch = self._timeline.events[self._done : min(self._done + events, self._stop)]
        try:
            for place, event in enumerate(stretch, self._done):
                agent = event.agent
                society.step(event)
                rows[agent] = rows.get(agent, 0) + 1
                if self._names:
                    levels.setdefault(agent, array("d")).extend(self._read(society.engine(agent)))
                self._done = place + 1
                if self._done in self._frames:
                    self._last = self._stand()
        except OtherStepError:
            self._stop = self._done
        return self._done < self._stop

    def society(self) -> Society:
        """Minds at the place: as recorded, but for the rooms that other settings bear on.

        Raises `StoreError` where the recording's own state cannot be read.
        """
        last = self._last
        if last is None:
            raise StoreError("no state is kept there")
        state = self._timeline.kept_state(self._frames[last.place])
        state["members"] = [
            (*head, {**engine, **last.engines[head[0]]}) for *head, engine in state["members"]
        ]
        return self._timeline.loaded(self._settings, state)

    def tracks(self) -> dict[str, Track]:
        """Each agent's readings before the place."""
        found: dict[str, Track] = {}
        for agent, rows in self._last.rows.items() if self._last is not None else ():
            recorded = self._timeline.tracks[agent]
            track = found[agent] = Track(recorded.origin)
            track.indexes = recorded.indexes[:rows]
            columns = {name: recorded.columns.column(name, 0, rows) for name in track.columns.names}
            if self._names:
                own = np.array(self._levels[agent]).reshape(-1, len(self._names))[:rows]
                columns |= zip(self._names, own.astype(np.float32).T, strict=True)
            track.columns.extend(np.stack([columns[name] for name in track.columns.names], axis=1))
        return found

    def _read(self, engine: Engine) -> tuple[float, ...]:
        felt = engine.receptor.levels() if "receptor" in self._rooms else ()
        return (*felt, *engine.governor.levels()) if "governor" in self._rooms else felt

    def _stand(self) -> _RoomStates:
        society = self._society
        engines = {
            agent: {room: getattr(society.engine(agent), room).dump() for room in self._rooms}
            for agent in society.agents
        }
        return _RoomStates(self._done, dict(self._rows), engines)
