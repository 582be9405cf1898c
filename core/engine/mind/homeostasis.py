"""Answer signals that stray from their own average with small, bounded, proportional corrections."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

from core.engine.state import Stateful, plain_list
from core.engine.values import Value
from core.settings.mind import HomeostasisSettings

SignalId = Literal["vitality", "accuracy", "pleasure"]
SIGNAL_IDS: tuple[SignalId, ...] = get_args(SignalId)
Knob = Literal["tool_trust", "tier_bias", "dream_mode"]

_KNOBS: dict[SignalId, Knob] = {"vitality": "tool_trust", "accuracy": "tier_bias", "pleasure": "dream_mode"}


class Correction(NamedTuple):
    """One knob that was turned, and why."""

    signal: SignalId
    deviation: float
    knob: Knob
    value: float  # Where the knob stands now; of the dream mode, 1 for intensive.


class RuleState(NamedTuple):
    """The state of one rule."""

    signal: SignalId
    knob: Knob
    average: float | None
    deviation: float
    threshold: float
    straying: int  # Ticks in a row beyond the threshold.
    persistence: int
    correction: float


class HomeostasisReading(Value, frozen=True):
    """The rules, the knobs, and which of them the operator holds."""

    tool_trust: float
    tier_bias: float
    intensive: bool
    held: tuple[Knob, ...]
    rules: tuple[RuleState, ...]


class Homeostasis(Stateful):
    """Three rules, each with its signal's rolling average as the set point.

    A correction is proportional to the deviation, lasts as long as the deviation, and never adds up. The average
    of pleasure waits while pleasure is low: what is chronically low must not become the usual level.
    A knob that the operator fixed does not move.
    """

    STATE = (
        plain_list("_averages"), plain_list("_deviations"), plain_list("_straying"), plain_list("_corrections"),
        "intensive",
    )  # fmt: skip

    def __init__(self, settings: HomeostasisSettings) -> None:
        rules = (settings.vitality, settings.accuracy, settings.pleasure)
        self._smoothing = settings.smoothing
        self._gain = settings.gain
        self._on = tuple(rule.on for rule in rules)
        self._threshold = tuple(rule.threshold for rule in rules)
        self._persistence = tuple(rule.persistence for rule in rules)
        self._delta = (settings.vitality.delta, settings.accuracy.delta)
        self._base = (settings.tool_trust, settings.tier_bias)
        self._low = (settings.tool_trust_low, settings.tier_bias_low)
        self._high = (settings.tool_trust_high, settings.tier_bias_high)
        self._held = (settings.tool_trust_held, settings.tier_bias_held)
        self._mode = settings.dream_mode
        self._averages: list[float | None] = [None, None, None]
        self._deviations = [0.0, 0.0, 0.0]
        self._straying = [0, 0, 0]
        self._corrections = [0.0, 0.0]
        self.intensive = settings.dream_mode == "intensive"  # Whether dreams are intensive.

    @property
    def tool_trust(self) -> float:
        """Trust a call needs; higher is tighter."""
        return self._knob(0)

    @property
    def tier_bias(self) -> float:
        """Leaning towards more capable models."""
        return self._knob(1)

    def _knob(self, index: int) -> float:
        base = self._base[index]
        correction = self._corrections[index]
        if self._held[index] or correction == 0.0:
            return base
        return min(max(base + correction, self._low[index]), self._high[index])

    def update(self, vitality: float, accuracy: float, pleasure: float) -> tuple[Correction, ...]:
        """Update the rules at a theta tick and return the knobs that moved."""
        smoothing = self._smoothing
        averages, deviations, straying = self._averages, self._deviations, self._straying
        for index, value in enumerate((vitality, accuracy, pleasure)):
            average = averages[index]
            if average is None:
                average = value
            elif index != 2 or average - value < self._threshold[2]:  # What stays low does not become usual.
                average += smoothing * (value - average)
            averages[index] = average
            deviation = deviations[index] = value - average
            beyond = -deviation if index == 2 else abs(deviation)
            straying[index] = straying[index] + 1 if beyond >= self._threshold[index] else 0
        moved: tuple[Correction, ...] = ()
        for index in (0, 1):
            if straying[index] or self._corrections[index]:
                moved = (*moved, *self._correct(index))
        if straying[2] or self.intensive:
            moved = (*moved, *self._set_mode())
        return moved

    def _correct(self, index: int) -> tuple[Correction, ...]:
        before = self._knob(index)
        correction = 0.0
        if self._on[index] and self._straying[index] >= self._persistence[index]:
            delta = self._delta[index]
            correction = min(max(-self._gain * self._deviations[index], -delta), delta)
        self._corrections[index] = correction
        value = self._knob(index)
        if value == before:
            return ()
        signal = SIGNAL_IDS[index]
        return (Correction(signal, self._deviations[index], _KNOBS[signal], value),)

    def _set_mode(self) -> tuple[Correction, ...]:
        """Intensive once pleasure has been low for long, until it is back at its average."""
        if self._mode != "auto":
            return ()
        before = self.intensive
        if not self._on[2] or self._deviations[2] >= 0.0:
            self.intensive = False
        elif self._straying[2] >= self._persistence[2]:
            self.intensive = True
        if self.intensive == before:
            return ()
        return (Correction("pleasure", self._deviations[2], "dream_mode", float(self.intensive)),)

    def rules(self) -> tuple[RuleState, ...]:
        """Return the state of every rule."""
        states = (self._averages, self._deviations, self._threshold, self._straying, self._persistence)
        corrections = (*self._corrections, float(self.intensive))
        columns = zip(SIGNAL_IDS, _KNOBS.values(), *states, corrections, strict=True)
        return tuple([RuleState(*column) for column in columns])

    def read(self) -> HomeostasisReading:
        """Return knobs, those of them that the operator holds, and rules."""
        fixed = (*self._held, self._mode != "auto")
        fixed_knobs = tuple(_KNOBS[signal] for signal, holds in zip(SIGNAL_IDS, fixed, strict=True) if holds)
        return HomeostasisReading(self.tool_trust, self.tier_bias, self.intensive, fixed_knobs, self.rules())

    def restored(self) -> None:
        """Keep to a mode that the operator holds."""
        if self._mode != "auto":
            self.intensive = self._mode == "intensive"
