"""One agent's readings, a row an event, for drawing."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import Any

from core.engine.affect.affect import LEVELS as AFFECT_LEVELS
from core.engine.engine import Engine, Step
from core.engine.governor.governor import LEVELS as GOVERNOR_LEVELS
from core.engine.governor.machine import STATES as GOVERNOR_STATES
from core.engine.mind.cortical import REGIMES
from core.engine.mind.mind import LEVELS as MIND_LEVELS
from core.engine.percept import AGENT_STATES, AXES, PATTERNS, SIGNALS
from core.engine.receptor.receptor import LEVELS as RECEPTOR_LEVELS
from core.timeline.columns import Columns

CODES = ("state", "pattern", "regime", "governor", "signals", "fresh", "quarantined")
"""Columns that hold a number for a name, or a bit for each signal of SIGNALS."""
NAMES = (
    "at",
    *CODES,
    *(f"axis.{axis}" for axis in AXES),
    *RECEPTOR_LEVELS,
    *MIND_LEVELS,
    *GOVERNOR_LEVELS,
    *AFFECT_LEVELS,
)

_STATE = {name: float(number) for number, name in enumerate(AGENT_STATES)}
_PATTERN = {name: float(number) for number, name in enumerate(PATTERNS)}
_REGIME = {name: float(number) for number, name in enumerate(REGIMES)}
_GOVERNOR = {name: float(number) for number, name in enumerate(GOVERNOR_STATES)}
_BIT = {name: 1 << number for number, name in enumerate(SIGNALS)}


class Track:
    """Columns of one agent, and which event of the recording each row stands for."""

    __slots__ = ("columns", "indexes", "origin")

    def __init__(self, origin: float) -> None:
        self.columns = Columns(NAMES)
        self.indexes = array("I")
        self.origin = origin
        """Time that the column `at` counts from."""

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
            percept.at - self.origin,
            _STATE[percept.state],
            _PATTERN[percept.pattern],
            _REGIME[step.thought.regime],
            _GOVERNOR[step.verdict.state],
            standing,
            fresh,
            step.mood.quarantined,
        ]
        row += percept.axes
        row += engine.receptor.levels()
        row += engine.mind.levels()
        row += engine.governor.levels()
        row += engine.affect.levels()
        self.columns.append(row)

    def head(self, place: int) -> Track:
        """The rows of the first `place` events as a track of their own."""
        made, count = Track(self.origin), self.row(place - 1) + 1
        made.columns, made.indexes = self.columns.head(count), self.indexes[:count]
        return made

    def row(self, index: int) -> int:
        """The row of the agent's last event at or before `index`; -1 where there is none."""
        return bisect_right(self.indexes, index) - 1
