"""When the person is asked: the pressure of all troubles together, against a threshold affect bends."""

from __future__ import annotations

from core.response.loops import Loop
from core.response.method import Cue
from core.settings.response import ResponseEscalationSettings
from core.state import Stateful


class Escalation(Stateful):
    """Join troubles as independent chances; ask once when they reach the threshold.

    It asks again after the pressure fell well below, or after the person spoke.
    """

    __slots__ = ("_armed", "_halt", "_loop", "_rearm", "pressure", "weights")
    STATE = (
        "_armed",
        "pressure",
    )

    def __init__(self, settings: ResponseEscalationSettings) -> None:
        self.weights: dict[Cue, float] = {
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

    def update(self, calm: float, loop: Loop | None, halted: bool, threshold: float) -> float | None:
        """The pressure where the person should be asked now, else None; `calm` is what signals leave of 1."""
        if halted:
            calm *= 1.0 - self._halt
        if loop is not None:
            press = self._loop * loop.intensity
            calm *= 1.0 - press if press < 1.0 else 0.0
        self.pressure = pressure = 1.0 - calm
        if pressure >= threshold:
            if self._armed and pressure > 0.0:
                self._armed = False
                return pressure
        elif pressure < self._rearm * threshold:
            self._armed = True
        return None

    def answer(self) -> None:
        """The person spoke."""
        self._armed = True
