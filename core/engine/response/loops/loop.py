"""A loop as a person meets it."""

from __future__ import annotations

from typing import NamedTuple

from core.engine.values import Value
from core.settings.loops import DetectorName


class Loop(NamedTuple):
    """An agent going round in circles."""

    detector: DetectorName
    period: int
    """Calls in one round; 0 where rounds mean nothing."""
    count: int  # type: ignore[assignment]
    """Rounds, failures, flips, or answers without progress."""
    tool: str
    """The program or tool concerned."""
    what: str
    intensity: float
    """One half when recognised, three quarters at twice that, never 1."""
    began_at: float


class DetectorReading(Value, frozen=True):
    """How far one detector is from telling."""

    name: DetectorName
    enabled: bool
    count: int
    limit: int


class LoopReading(Value, frozen=True):
    """What the screen shows of loops."""

    current: Loop | None
    told: int
    detectors: tuple[DetectorReading, ...]


def intensity(value: float, limit: float) -> float:
    """How bad it is: rises from one half at the limit towards 1."""
    return 1.0 - 0.5 * limit / value if value > limit else 0.5


def subject(tool: str, program: str, targets: tuple[str, ...]) -> str:
    """Whom a sentence is about: the program, or the tool and its file."""
    if program or not targets:
        return program or tool or "a call"
    return f"{tool} on {targets[0].rpartition('/')[2]}"
