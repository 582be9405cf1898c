"""Whether the work is calm, in progress, turbulent or in crisis."""

from __future__ import annotations

from core.engine.mind.cortical import SEVERITY, Regime
from core.engine.percept import Percept
from core.engine.state import Stateful
from core.engine.values import Value
from core.settings.mind_state import RegimeSettings


class RegimeReading(Value, frozen=True):
    """The regime, and the one that may follow it."""

    regime: Regime
    candidate: Regime
    lasting: float
    """Seconds for which the candidate has held."""
    needed: float
    """Seconds it has to hold."""


class RegimeSense(Stateful):
    """Name the regime of each percept, and believe a new one only when it lasts."""

    __slots__ = (
        "_crisis_hold",
        "_fall_hold",
        "_least_events",
        "_now",
        "_progress_enter",
        "_rise_hold",
        "_turbulence_enter",
        "_turbulence_leave",
        "candidate",
        "regime",
        "since",
    )
    STATE = (
        "regime",
        "candidate",
        "since",
        "_now",
    )

    def __init__(self, settings: RegimeSettings) -> None:
        self._turbulence_enter = settings.turbulence_enter
        self._turbulence_leave = min(settings.turbulence_leave, settings.turbulence_enter)
        self._progress_enter = settings.progress_enter
        self._least_events = settings.least_events
        self._rise_hold = settings.rise_hold
        self._fall_hold = settings.fall_hold
        self._crisis_hold = settings.crisis_hold
        self.regime: Regime = "calm"
        self.candidate: Regime = "calm"
        self.since = 0.0
        self._now = 0.0

    def update(self, percept: Percept, loop: bool) -> bool:
        """Take one percept and whether the agent runs in a loop; True when the regime changed."""
        now = self._now = percept.now
        regime = self.regime
        seen: Regime = "crisis" if loop else self._name(percept, regime)
        if seen != self.candidate:
            self.candidate = seen
            self.since = now
        if seen == regime or now - self.since < self._hold(regime, seen):
            return False
        self.regime = seen
        return True

    def _name(self, percept: Percept, held: Regime) -> Regime:
        for signal in percept.signals:
            if signal.name == "compound_frustration_seeking":
                return "crisis"
        rate = percept.failure_rate if percept.events >= self._least_events else 0.0
        if rate >= (self._turbulence_leave if held == "turbulence" else self._turbulence_enter):
            return "turbulence"
        bound = self._turbulence_enter if held == "progress" else self._progress_enter
        return "progress" if percept.pattern == "implementation" and rate <= bound else "calm"

    def _hold(self, before: Regime, after: Regime) -> float:
        if after == "crisis":
            return 0.0
        if before == "crisis":
            return self._crisis_hold
        return self._rise_hold if SEVERITY[after] > SEVERITY[before] else self._fall_hold

    def read(self) -> RegimeReading:
        """The regime and what may follow."""
        if self.candidate == self.regime:
            return RegimeReading(self.regime, self.candidate, 0.0, 0.0)
        lasting = max(0.0, self._now - self.since)
        return RegimeReading(self.regime, self.candidate, lasting, self._hold(self.regime, self.candidate))
