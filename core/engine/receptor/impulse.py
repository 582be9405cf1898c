"""The table of impulses: what an event adds to the axes, looked up and never reasoned about."""

from __future__ import annotations

from typing import TypeAlias

from msgspec.structs import asdict

from core.engine.percept import AXES
from core.engine.receptor.vector import FATIGUE, ZERO, Vector
from core.events import Action, Outcome
from core.settings.derived import Derived
from core.settings.impulses import Impulse, ImpulseSettings

CAUSES: dict[tuple[Action, Outcome], str] = {
    ("shell_exec", "failure"): "shell_failure",
    ("shell_exec", "success"): "shell_success",
    ("shell_exec", "empty"): "shell_success",
    ("file_edit", "success"): "file_edit",
    ("search", "empty"): "search_empty",
    ("search", "success"): "search_found",
    ("file_read", "success"): "file_read",
    ("file_read", "empty"): "file_read",
    ("memory_read", "success"): "memory_read",
    ("memory_read", "empty"): "memory_miss",
    ("memory_write", "success"): "memory_write",
}
"""Which row of the table a tool use stands for by its outcome alone; `ActionFacts` adds what its past says.

A command that ran and had nothing to say ended well."""
LONG_PROMPT = "long_prompt"
EVERY_EVENT = "every_event"
CONTEXT_SHIFT = "context_shift"
TURN_TO_TRIAL_ERROR = "turn_to_trial_error"
IMPLEMENTATION = "implementation"


_Met: TypeAlias = tuple[tuple[str, ...], str, bool]
"""Causes, pattern and shift that meet in one event."""
_ROWS = 4096
"""Sums kept; when there are more, all are made anew."""


class Impulses:
    """Sum one row for every cause, pattern and shift that meet, the first time they do for any agent."""

    __slots__ = ("_named", "_rows", "implementation", "weariness")

    def __init__(self, settings: ImpulseSettings) -> None:
        self.weariness = settings.fatigue_per_hour / 3600.0
        """What every second worked adds to the fatigue of an event."""
        self._named, self._rows = _named(settings)
        self.implementation = self._named[IMPLEMENTATION]
        """What failures and frustration take back, as far as they go."""

    def row(self, causes: tuple[str, ...], pattern: str, shifted: bool) -> Vector:
        """What an event adds to the axes, beside its weariness."""
        key = (causes, pattern, shifted)
        found = self._rows.get(key)
        if found is None:
            if len(self._rows) >= _ROWS:
                self._rows.clear()
            found = self._rows[key] = _sum([row for _, row in self._parts(*key)])
        return found

    def parts(
        self, causes: tuple[str, ...], pattern: str, shifted: bool, now: float, axis: int, held: float
    ) -> list[tuple[str, float]]:
        """What an event adds to one axis, impulse by impulse; `held` is what implementation is left with."""
        parts = [
            (name, row[axis] * held if name == IMPLEMENTATION else row[axis])
            for name, row in self._parts(causes, pattern, shifted)
        ]
        if axis == FATIGUE:
            name, amount = parts[0]
            parts[0] = (name, amount + self.weariness * now)
        return [(name, amount) for name, amount in parts if amount]

    def _parts(self, causes: tuple[str, ...], pattern: str, shifted: bool) -> list[tuple[str, Vector]]:
        names = (EVERY_EVENT, *causes, pattern, CONTEXT_SHIFT if shifted else "")
        return [(name, self._named.get(name, ZERO)) for name in names if name]


@Derived
def _named(settings: ImpulseSettings) -> tuple[dict[str, Vector], dict[_Met, Vector]]:
    """Each row by its name, and room for the sums that agents with these settings come to."""
    named: dict[str, Vector] = {"": ZERO}
    for name, row in asdict(settings).items():
        if isinstance(row, Impulse):
            named[name] = _vector(row)
    return named, {}


def _vector(row: Impulse) -> Vector:
    frustration, seeking, confidence, fatigue, flow, uncertainty = (getattr(row, axis, 0.0) for axis in AXES)
    return (frustration, seeking, confidence, fatigue, flow, uncertainty)


def _sum(rows: list[Vector]) -> Vector:
    a, b, c, d, e, f = (sum(column) for column in zip(*rows, strict=True))
    return (a, b, c, d, e, f)
