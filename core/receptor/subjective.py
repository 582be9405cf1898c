"""Subjective time: how much of the wall clock the agent lives through."""

from __future__ import annotations

from core.settings.receptor import TimeSettings
from core.state import Stateful


class SubjectiveTime(Stateful):
    """Let time pass in full up to a cap, then not at all; a long pause freezes it.

    The cap is for the stretch between two acts (tool uses, prompts): events in between, such as turns of
    the model, let time pass within it but never stretch it. A clock that runs backwards stands still, and a
    stretch it runs through again is not lived again; one that was set far back counts from there.
    """

    __slots__ = ("_at", "_cap", "_freeze", "_room", "elapsed", "gap", "now", "silence", "wall")
    STATE = (
        "_at",
        "_room",
        "now",
        "wall",
        "gap",
        "elapsed",
        "silence",
    )

    def __init__(self, settings: TimeSettings) -> None:
        self._cap = settings.cap
        self._freeze = settings.freeze
        self._at: float | None = None
        self._room = settings.cap
        self.now = 0.0
        self.wall = 0.0
        """Seconds on the wall since the first event, backward jumps left out."""
        self.gap = 0.0
        """Wall seconds between the last two events."""
        self.elapsed = 0.0
        self.silence = False

    @property
    def at(self) -> float | None:
        """When the last event was; None before the first."""
        return self._at

    def update(self, at: float, act: bool) -> None:
        """Move on to an event; an act opens a new stretch."""
        last = self._at
        if last is None or at >= last or at < last - self._freeze:
            self._at = at
        gap = 0.0 if last is None or at <= last else at - last
        self.gap = gap
        self.wall += gap
        if gap > self._freeze:
            self.silence = True
            self.elapsed = 0.0
        else:
            self.silence = False
            room = self._room
            self.elapsed = elapsed = gap if gap < room else room
            self.now += elapsed
            self._room = room - elapsed
        if act:
            self._room = self._cap

    def ahead(self, at: float | None) -> tuple[float, float]:
        """Wall and subjective seconds an event at `at` would add."""
        if at is None or self._at is None or at <= self._at:
            return 0.0, 0.0
        gap = at - self._at
        return gap, 0.0 if gap > self._freeze else min(gap, self._room)
