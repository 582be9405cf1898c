"""Whether the work is calm, in progress, turbulent or in crisis."""

from __future__ import annotations

from core.engine.mind.cortical import SEVERITY, Regime
from core.engine.percept import Percept
from core.engine.state import Stateful
from core.engine.values import Value
from core.settings.mind_state import RegimeSettings

ROUGH: tuple[Regime, ...] = ("crisis", "turbulence")


class RegimeReading(Value, frozen=True):
    """The regime, and the one that may follow it."""

    regime: Regime
    candidate: Regime
    lasting: float  # Seconds for which the candidate has lasted.
    needed: float  # Seconds it must last.


class RegimeSense(Stateful):
    """Name the regime of each percept, and change to a new one only when it lasts.

    Crisis and turbulence need failures: once none of the last actions failed, they end at once, and a crisis
    also ends when enough commands in a row have passed.
    """

    STATE = ("regime", "candidate", "since", "_now")

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
        """Step with one percept and whether the agent is in a loop; return whether the regime changed."""
        now = self._now = percept.now
        regime = self.regime
        candidate = self._classify(percept, loop)
        if candidate != self.candidate:
            self.candidate = candidate
            self.since = now
        over = (regime in ROUGH and not percept.failures) or (regime == "crisis" and percept.recovered)
        if candidate == regime or (not over and now - self.since < self._hold(regime, candidate)):
            return False
        self.regime = candidate
        return True

    def _classify(self, percept: Percept, loop: bool) -> Regime:
        """Return the regime this percept alone would have."""
        rate = percept.failure_rate if percept.events >= self._least_events else 0.0
        if percept.failures:
            if not percept.recovered and (loop or _compound(percept)):
                return "crisis"
            if rate >= (self._turbulence_leave if self.regime == "turbulence" else self._turbulence_enter):
                return "turbulence"
        bound = self._turbulence_enter if self.regime == "progress" else self._progress_enter
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


def _compound(percept: Percept) -> bool:
    return any(signal.name == "compound_frustration_seeking" for signal in percept.signals)
