"""A, the flow gate: while the agent flows, everything else keeps silent."""

from __future__ import annotations

from core.receptor.readings import GateReading
from core.settings.receptor import AmbientSettings
from core.state import Stateful


class FlowGate(Stateful):
    """Fire while flow is at or above its threshold.

    The threshold is made of the flow baseline and a fixed offset; no field of the meta neuron is handed in.
    """

    __slots__ = ("_high", "_low", "_offset", "firing", "fresh", "intensity")
    STATE = (
        "firing",
        "fresh",
        "intensity",
    )

    def __init__(self, settings: AmbientSettings) -> None:
        self._offset = settings.offset.flow
        self._low = settings.low
        self._high = settings.high
        self.firing = False
        self.fresh = False
        self.intensity = 0.0

    def threshold(self, baseline: float) -> float:
        """From where on the agent flows."""
        threshold = baseline + self._offset
        return self._low if threshold < self._low else self._high if threshold > self._high else threshold

    def update(self, flow: float, baseline: float) -> bool:
        """Say whether the agent flows."""
        threshold = baseline + self._offset
        if threshold < self._low:
            threshold = self._low
        elif threshold > self._high:
            threshold = self._high
        above = flow - threshold
        if above >= 0.0:
            self.fresh = not self.firing
            self.firing = True
            self.intensity = above
            return True
        self.close()
        return False

    def close(self) -> None:
        """The agent does not flow, whatever the axis says."""
        self.firing = self.fresh = False
        self.intensity = 0.0

    def read(self, flow: float, baseline: float, firing: bool) -> GateReading:
        return GateReading(value=flow, threshold=self.threshold(baseline), firing=firing)
