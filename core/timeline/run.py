"""One run of the engine: each agent's readings, the marks, and the texts of the methods."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import Any

from core.engine.affect.affect import LEVELS as AFFECT_LEVELS
from core.engine.governor.governor import LEVELS as GOVERNOR_LEVELS
from core.engine.governor.machine import STATES as GOVERNOR_STATES
from core.engine.mind.cortical import REGIMES
from core.engine.mind.mind import LEVELS as MIND_LEVELS
from core.engine.percept import AGENT_STATES, AXES, PATTERNS, SIGNALS
from core.engine.receptor.receptor import LEVELS as RECEPTOR_LEVELS
from core.engine.society import Society
from core.engine.society.engine import Engine, Step
from core.events import Event
from core.timeline.columns import Columns
from core.timeline.marks import Marks
from core.timeline.packed_list import MethodText, MethodTexts

# Columns with the number of a name, or with one bit per signal of SIGNALS.
CODES = ("state", "pattern", "regime", "governor", "signals", "fresh", "quarantined")
NAMES = (
    "at", *CODES, *(f"axis.{axis}" for axis in AXES), *RECEPTOR_LEVELS, *MIND_LEVELS, *GOVERNOR_LEVELS,
    *AFFECT_LEVELS,
)  # fmt: skip

_STATE = {name: float(number) for number, name in enumerate(AGENT_STATES)}
_PATTERN = {name: float(number) for number, name in enumerate(PATTERNS)}
_REGIME = {name: float(number) for number, name in enumerate(REGIMES)}
_GOVERNOR = {name: float(number) for number, name in enumerate(GOVERNOR_STATES)}
_BIT = {name: 1 << number for number, name in enumerate(SIGNALS)}


class Track:
    """Columns of one agent, and the event of the recording for each row."""

    __slots__ = ("columns", "indexes", "origin")

    def __init__(self, origin: float) -> None:
        self.columns = Columns(NAMES)
        self.indexes = array("I")
        self.origin = origin  # Time that the column `at` counts from.

    def __len__(self) -> int:
        return len(self.indexes)

    def add(self, index: int, step: Step, engine: Engine) -> None:
        """Read the engine after one event."""
        percept: Any = step.percept  # a compiled caller that knew its axes would take them apart
        standing = fresh = 0
        for name, _, is_fresh in percept.signals:
            standing |= _BIT[name]
            if is_fresh:
                fresh |= _BIT[name]
        self.indexes.append(index)
        row: list[float] = [
            percept.at - self.origin, _STATE[percept.state], _PATTERN[percept.pattern], _REGIME[step.thought.regime],
            _GOVERNOR[step.verdict.state], standing, fresh, step.mood.quarantined,
        ]  # fmt: skip
        row += percept.axes
        row += engine.receptor.levels()
        row += engine.mind.levels()
        row += engine.governor.levels()
        row += engine.affect.levels()
        self.columns.append(row)

    def head(self, place: int) -> Track:
        """The rows of the first `place` events as a track of their own."""
        head, count = Track(self.origin), self.row(place - 1) + 1
        head.columns, head.indexes = self.columns.head(count), self.indexes[:count]
        return head

    def row(self, index: int) -> int:
        """Return the row of the agent's last event at or before `index`; -1 if there is none."""
        return bisect_right(self.indexes, index) - 1


class Run:
    """A society that is stepped, its agents' tracks, the marks, and the texts of methods."""

    __slots__ = ("_texts", "marks", "origin", "society", "texts_from", "tracks")

    def __init__(self, society: Society, origin: float | None = None) -> None:
        self.society = society
        self.origin = origin  # Time the tracks count from, by default that of the first event.
        self.tracks: dict[str, Track] = {}
        self.marks = Marks()
        self._texts = MethodTexts()
        self.texts_from = 0  # Place from which on that is known.

    def step(self, place: int, event: Event) -> Step:
        """Take in the event at one place of the recording."""
        step = self.society.step(event)
        if self.origin is None:
            self.origin = event.at
        agent = event.agent
        track = self.tracks.get(agent)
        if track is None:
            track = self.tracks[agent] = Track(self.origin)
        engine = self.society.engine(agent)
        track.add(place, step, engine)
        self.marks.step(place, event, step, engine.receptor)
        for firing in step.reaction.fired:
            self._texts.append(MethodText(place, firing.method, firing.text))
        return step

    def head(self, place: int, society: Society) -> Run:
        """Return the run of the first `place` events, to be continued with this society."""
        head = Run(society, self.origin)
        tracks = {agent: track.head(place) for agent, track in self.tracks.items()}
        head.tracks = {agent: track for agent, track in tracks.items() if len(track)}
        head.marks, head.texts_from = self.marks.head(place), min(self.texts_from, place)
        head._texts = MethodTexts([text for text in self._texts if text.place < place])
        return head

    @property
    def texts(self) -> dict[tuple[int, str], str]:
        """The text of each method, by place and name."""
        return {(place, method): text for place, method, text in self._texts}
