"""Governed episodes: each from one prompt to the next, kept with its course and its end."""

from __future__ import annotations

from collections import deque
from struct import Struct as Layout
from typing import Literal, NamedTuple

from msgspec.structs import astuple

from core.engine.governor.machine import HaltReason
from core.engine.state import Stateful, custom, each, grouped
from core.engine.values import Value, reading_of
from core.settings.governor import GovernorEpisodeSettings

_POINT = Layout("<I4f")


class Point(NamedTuple):
    """The budgets after one step, for drawing."""

    step: int
    effort: float
    risk: float
    exploration: float
    persistence: float


class GovernorEpisode(Value, frozen=True):
    """One governed episode, as far as it has come."""

    number: int  # 1 for the first; work before any prompt counts as one too.
    opened_at: float  # Epoch seconds.
    closed_at: float  # Epoch seconds of the next prompt; of an open episode, of its last step.
    steps: int
    fruitless: int  # Steps without reward.
    dips: int  # How often recovering began.
    interrupts: int  # How often the person stopped the agent.
    halt: HaltReason | Literal[""]
    halted_at: float
    halt_value: float  # The reading that met the limit.
    halt_limit: float
    cause: str  # What stood in the way at the halt.
    after_halt: int  # Tool uses that came after the halt.
    points: bytes  # The course, packed; `trajectory` reads it.

    def trajectory(self) -> tuple[Point, ...]:
        """The budgets over the steps, thinned evenly in a long episode."""
        return tuple(map(Point._make, _POINT.iter_unpack(self.points)))

    @property
    def sentence(self) -> str:
        """Where and why it would halt; empty if it would not."""
        if not self.halt:
            return ""
        words = halt_words(self.halt, self.halt_value, self.halt_limit)
        cause = f", {self.cause}" if self.cause else ""
        return f"would halt here: {words} ({self.fruitless} of {self.steps} steps without progress{cause})"


def halt_words(halt: HaltReason, value: float, limit: float) -> str:
    """A halt in short words."""
    if halt == "EXTERNAL":
        return f"step fuse, {value:.0f} of {limit:.0f} steps"
    if halt == "SAFETY":
        return f"exploration rose to {value:.2f}, limit {limit:.2f}"
    if halt == "OVERRISK":
        return f"risk rose to {value:.2f}, limit {limit:.2f}"
    if halt == "EXHAUSTION":
        return f"effort fell to {value:.3f}, limit {limit:.3f}"
    return f"no progress, and effort fell to {value:.2f}, limit {limit:.2f}"


def _points(packed: bytes) -> list[bytes]:
    size = _POINT.size
    return [packed[at : at + size] for at in range(0, len(packed), size)]


_OF_OPEN = (
    "number", "opened_at", "_last_at", "steps", "fruitless", "dips", "interrupts", "halt", "halted_at", "halt_value",
    "halt_limit", "cause", "after_halt",
)  # fmt: skip


class GovernorEpisodes(Stateful):
    """The open episode and a bounded number of those before it."""

    STATE = (
        each("_past", astuple, lambda row: GovernorEpisode(*row)),
        grouped("open", *_OF_OPEN, custom("_points", b"".join, _points)),
        "_stride",
        "halts",
    )

    def __init__(self, settings: GovernorEpisodeSettings) -> None:
        self._most = settings.points
        self._past: deque[GovernorEpisode] = deque(maxlen=settings.kept)
        self.number = 0  # Episodes opened so far.
        self.halts = 0  # In all episodes, kept or not.
        self._clear(0.0)

    def _clear(self, at: float) -> None:
        self.opened_at = at
        self._last_at = at
        self.steps = 0
        self.fruitless = 0
        self.dips = 0
        self.interrupts = 0
        self.halt: HaltReason | Literal[""] = ""
        self.halted_at = 0.0
        self.halt_value = 0.0
        self.halt_limit = 0.0
        self.cause = ""
        self.after_halt = 0  # Tool uses since the open episode halted.
        self._points: list[bytes] = []
        self._stride = 1

    def open(self, at: float) -> None:
        """Close the open episode and begin another; one without a step leaves nothing behind."""
        if self.steps:
            self._past.append(self.current(at))
        self.number += 1
        self._clear(at)

    def record(self, at: float, step: int, budgets: tuple[float, float, float, float], reward: float) -> None:
        """Note the budgets after one step, and whether it brought anything."""
        self._last_at = at
        self.steps = step
        if reward <= 0.0:
            self.fruitless += 1
        if step % self._stride == 0:
            points = self._points
            points.append(_POINT.pack(step, *budgets))
            if len(points) >= self._most:
                self._points = points[1::2]
                self._stride *= 2

    def halted(self, at: float, halt: HaltReason, value: float, limit: float, cause: str) -> None:
        """The governor would have ended the episode here."""
        self.halts += 1
        self.halt = halt
        self.halted_at = at
        self.halt_value = value
        self.halt_limit = limit
        self.cause = cause

    def overrun(self, at: float) -> None:
        """One more tool use after the halt."""
        self._last_at = at
        self.after_halt += 1

    def current(self, closed_at: float | None = None) -> GovernorEpisode:
        """The open episode."""
        closed_at = self._last_at if closed_at is None else closed_at
        return reading_of(GovernorEpisode, self, closed_at=closed_at, points=b"".join(self._points))

    def past(self) -> tuple[GovernorEpisode, ...]:
        """Ended episodes that had a step, oldest first."""
        return tuple(self._past)
