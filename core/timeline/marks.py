"""Moments of a recording worth jumping to."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from core.engine.receptor import Receptor
from core.engine.society.engine import Step
from core.events import Advice, AgentEnd, AgentStart, Compaction, Event, Prompt, Rollback
from core.timeline.packed_list import MARK_KINDS, Mark, MarkKind, RecordedMarks

__all__ = ["MARK_KINDS", "Mark", "MarkKind", "Marks", "RecordedMarks"]


class Marks:
    """All marks of a recording in the order they came."""

    __slots__ = ("_all", "_indexes", "_states")

    def __init__(self) -> None:
        self._all = RecordedMarks()
        self._indexes = array("q")
        self._states: dict[str, str] = {}

    def packed(self) -> list[bytes]:
        """Return all marks, compressed, to be stored on disk."""
        return self._all.packed()

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Mark]:
        return iter(self._all)

    def __getitem__(self, place: int) -> Mark:
        return self._all[place]

    def start(self, earlier: Marks, place: int) -> None:
        """Start with the states of another recording's agents before `place`, so that no change is
        marked twice."""
        for mark in earlier.between(0, place):
            if mark.kind == "state":
                self._states[mark.agent] = mark.name

    def head(self, place: int) -> Marks:
        """The marks of the first `place` events."""
        head = Marks()
        head.adopt(self._all.head(bisect_left(self._indexes, place)))
        return head

    def adopt(self, marks: Iterable[Mark]) -> None:
        """Use the marks of a stored recording."""
        self._all = marks if isinstance(marks, RecordedMarks) else RecordedMarks(marks)
        self._indexes = array("q", [mark.place for mark in self._all])
        self._states = {mark.agent: mark.name for mark in self._all if mark.kind == "state"}

    def step(self, index: int, event: Event, step: Step, receptor: Receptor | None = None) -> None:
        """Mark what the event was and what it did; the agent's receptor knows the causes of signals."""
        rows = _log_marks(event) if type(event) in _MARKED else []
        percept: Any = step.percept
        agent = event.agent
        for signal in percept.signals:
            if signal.fresh:
                rows.append(("signal", signal.name, signal.intensity))
        state = percept.state
        if self._states.get(agent, "idle") != state:
            self._states[agent] = state
            rows.append(("state", state, 0.0))
        _mind_marks(step, percept.shifted, rows)
        for firing in step.reaction.fired:
            kind: MarkKind = "background" if firing.mode == "background" else "method"
            rows.append((kind, firing.method, firing.score))
        for kind, name, weight in rows:
            causes = receptor.causes(name) if kind == "signal" and receptor is not None else ()
            self._all.append(_make(Mark, (index, event.at, agent, kind, name, weight, causes)))
            self._indexes.append(index)

    def after(self, index: int, kinds: Collection[MarkKind], agent: str | None = None) -> Mark | None:
        """The next mark of these kinds later than `index`."""
        return self._first(range(bisect_right(self._indexes, index), len(self._all)), kinds, agent)

    def before(self, index: int, kinds: Collection[MarkKind], agent: str | None = None) -> Mark | None:
        """The last mark of these kinds earlier than `index`."""
        return self._first(range(bisect_left(self._indexes, index) - 1, -1, -1), kinds, agent)

    def _first(self, places: range, kinds: Collection[MarkKind], agent: str | None) -> Mark | None:
        for place in places:
            mark = self._all[place]
            if mark.kind in kinds and (agent is None or mark.agent == agent):
                return mark
        return None

    def between(self, start: int, stop: int) -> list[Mark]:
        """The marks with `start` <= place < `stop`."""
        return self._all[bisect_left(self._indexes, start) : bisect_left(self._indexes, stop)]


_Found = list[tuple[MarkKind, str, float]]
_make = tuple.__new__  # Builds a named tuple without its Python-level constructor: these are made for every event.
_MARKED = frozenset((Prompt, Compaction, Advice, AgentStart, AgentEnd, Rollback))


def _log_marks(event: Event) -> _Found:
    """Return the marks of events that the log itself reports."""
    if isinstance(event, Prompt):
        return [("prompt", "interrupt" if event.interrupt else "prompt", float(event.characters))]
    if isinstance(event, Rollback):
        return [("prompt", "rollback", 0.0)]
    if isinstance(event, Compaction):
        return [("compaction", event.trigger or "compaction", float(event.tokens_before))]
    if isinstance(event, Advice):
        return [("advice", "message to the agent", float(event.characters))]
    if isinstance(event, AgentStart | AgentEnd):
        return [("agent", f"{event.child} {'starts' if isinstance(event, AgentStart) else 'ends'}", 0.0)]
    return []


def _mind_marks(step: Step, shifted: bool, rows: _Found) -> None:
    """Add the marks of changes in the mind."""
    thought, verdict, mood = step.thought, step.verdict, step.mood
    if thought.regime_changed:
        rows.append(("regime", thought.regime, 0.0))
    if shifted:
        rows.append(("shift", "context shift", 0.0))
    if verdict.halted_now:
        rows.append(("halt", verdict.halted_now, float(verdict.step)))
    if mood.entered or mood.released:
        rows.append(("quarantine", "enters" if mood.entered else "leaves", 0.0))
    if thought.dream is not None:
        rows.append(("dream", thought.dream.reason, thought.dream.pressure))
