"""When the person is asked: the pressure of all troubles together, against a threshold affect bends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.response.method import Cue
from core.settings.response import EscalationSettings


class Escalation:
    """Join troubles as independent chances; ask once when they reach the threshold.

    It asks again after the pressure fell well below, or after the person spoke.
    """

    __slots__ = ("_armed", "_halt", "_loop", "_rearm", "_weights", "pressure")

    def __init__(self, settings: EscalationSettings) -> None:
        self._weights: dict[Cue, float] = {
            "compound": settings.compound,
            "frustration": settings.frustration,
            "seeking": settings.seeking,
            "uncertainty": settings.uncertainty,
            "fatigue": settings.fatigue,
        }
        self._loop = settings.loop
        self._halt = settings.halt
        self._rearm = settings.rearm
        self._armed = True
        self.pressure = 0.0

    def update(
        self, cues: Sequence[tuple[Cue, float]], loop: float, halted: bool, threshold: float
    ) -> float | None:
        """The pressure where the person should be asked now, else None."""
        calm = 1.0 - min(1.0, loop * self._loop)
        if halted:
            calm *= 1.0 - self._halt
        for cue, intensity in cues:
            weight = self._weights.get(cue)
            if weight is not None:
                calm *= 1.0 - min(1.0, weight * intensity)
        self.pressure = pressure = 1.0 - calm
        if pressure < self._rearm * threshold:
            self._armed = True
        if not self._armed or pressure < threshold or pressure <= 0.0:
            return None
        self._armed = False
        return pressure

    def answer(self) -> None:
        """The person spoke."""
        self._armed = True

    def dump(self) -> tuple[Any, ...]:
        return (self._armed, self.pressure)

    def load(self, state: Sequence[Any]) -> None:
        self._armed, self.pressure = state
