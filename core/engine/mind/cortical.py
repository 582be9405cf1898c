"""The state every mechanism reads, each signal group of it written by exactly one."""

from __future__ import annotations

import struct
from math import exp, sqrt
from typing import Literal, get_args

from core.engine.state import Stateful, custom, tupled
from core.engine.values import Value, reading_of
from core.errors import StateError
from core.events import Event, Prompt, ToolUse
from core.settings.mind import MoodSettings, VitalitySettings

Regime = Literal["calm", "progress", "turbulence", "crisis"]
REGIMES: tuple[Regime, ...] = get_args(Regime)  # From the quietest to the worst.
SEVERITY: dict[Regime, int] = {regime: place for place, regime in enumerate(REGIMES)}

Phase = Literal["thriving", "stable", "conserving", "declining", "terminal"]
PHASES: tuple[Phase, ...] = get_args(Phase)

Emotion = Literal["joy", "trust", "fear", "surprise", "sadness", "disgust", "anger", "anticipation"]
EMOTIONS: tuple[Emotion, ...] = get_args(Emotion)

Tier = Literal["T0", "T1", "T2"]
TIERS: tuple[Tier, ...] = get_args(Tier)

_LAYOUT = struct.Struct("<B3dBdb2dBBdB")
_VERSION = 1
PACKED_SIZE = _LAYOUT.size


class CorticalState(Value, frozen=True):
    """All signals of one moment; only the heart replaces it, each group of signals at one place."""

    pleasure: float = 0.0  # This and the next two: -1 to 1.
    arousal: float = 0.0
    dominance: float = 0.0
    emotion: Emotion = "anticipation"  # The primary one.
    accuracy: float = 0.5  # Of the forecast, 0 to 1.
    trend: int = 0  # Of the accuracy: -1, 0 or 1.
    economic: float = 1.0  # Vitality, as the composite one 0 to 1.
    composite: float = 1.0
    phase: Phase = "thriving"
    regime: Regime = "calm"
    budget_remaining: float = 1.0  # Share of the day's budget.
    tier: Tier = "T0"  # Of the last turn's model.

    def moment(self) -> tuple[Regime, float, float, float]:
        """The regime, then pleasure, arousal and dominance."""
        return self.regime, self.pleasure, self.arousal, self.dominance

    def pack(self) -> bytes:
        """Every signal, exactly, in less than four cache lines."""
        return _LAYOUT.pack(
            _VERSION, self.pleasure, self.arousal, self.dominance, EMOTIONS.index(self.emotion), self.accuracy,
            self.trend, self.economic, self.composite, PHASES.index(self.phase), REGIMES.index(self.regime),
            self.budget_remaining, TIERS.index(self.tier),
        )  # fmt: skip


def unpack(packed: bytes) -> CorticalState:
    """Return the state that `pack` wrote."""
    try:
        version, *signals = _LAYOUT.unpack(packed)
        if version != _VERSION:
            raise ValueError(f"version {version}")
        for place, names in ((3, EMOTIONS), (8, PHASES), (9, REGIMES), (11, TIERS)):
            signals[place] = names[signals[place]]
    except (struct.error, ValueError, IndexError, TypeError) as error:
        raise StateError(f"this is not a packed cortical state: {error}") from None
    return CorticalState(*signals)


class VitalityReading(Value, frozen=True):
    """Both vitalities, the terms of the second, and the phase."""

    economic: float
    epistemic: float
    composite: float
    phase: Phase
    next_bound: float  # Composite vitality below which the phase is lost; 0 in the last one.


class Vitality(Stateful):
    """Weigh the budget left against the accuracy of the forecast; a lost phase is won back with a margin."""

    STATE = ("economic", "epistemic", "composite", custom("_held", PHASES.__getitem__, PHASES.index))

    def __init__(self, settings: VitalitySettings) -> None:
        self._share = settings.economic_share
        self._bounds = (settings.thriving, settings.stable, settings.conserving, settings.declining)
        self._margin = settings.margin
        self.economic = 1.0
        self.epistemic = 1.0
        self.composite = 1.0
        self._held = 0

    @property
    def phase(self) -> Phase:
        """The behavioural phase."""
        return PHASES[self._held]

    def update(self, economic: float, accuracy: float) -> bool:
        """Take the share of budget left and the forecast's accuracy; True when the phase changed."""
        self.economic = economic
        self.epistemic = accuracy
        composite = self.composite = self._share * economic + (1.0 - self._share) * accuracy
        before = self._held
        place = self.place(composite)
        if place < before:
            place = min(before, self.place(composite - self._margin))
        if place == before:
            return False
        self._held = place
        return True

    def place(self, vitality: float) -> int:
        """The phase a vitality belongs to, as its place in PHASES."""
        for place, bound in enumerate(self._bounds):
            if vitality >= bound:
                return place
        return len(self._bounds)

    def read(self) -> VitalityReading:
        """Both vitalities and the phase."""
        bounds = (*self._bounds, 0.0)
        return reading_of(VitalityReading, self, next_bound=bounds[self._held])


# The primary emotion by the signs of pleasure, arousal and dominance.
OCTANTS: dict[tuple[bool, bool, bool], Emotion] = {
    (True, True, True): "joy",
    (True, True, False): "surprise",
    (True, False, True): "anticipation",
    (True, False, False): "trust",
    (False, True, True): "anger",
    (False, True, False): "fear",
    (False, False, True): "disgust",
    (False, False, False): "sadness",
}


class MoodReading(Value, frozen=True):
    """The mood, the point it is drawn to, and its inputs."""

    pleasure: float
    arousal: float
    dominance: float
    emotion: Emotion
    intensity: float  # Distance from a neutral mood, 0 to 1.
    pleasure_target: float
    arousal_target: float
    dominance_target: float
    rate: float  # Events a minute.
    chosen_share: float  # Share of edits that were the agent's own choice and succeeded.


class Mood(Stateful):
    """Follow the work in bounded steps: joy comes slowly, dismay faster."""

    STATE = (
        "pleasure", "arousal", "dominance", tupled("octant"), "rate", "events", "last", "calls", "share",
        tupled("_targets"),
    )  # fmt: skip

    def __init__(self, settings: MoodSettings) -> None:
        self._settings = settings
        self._rate_neutral = settings.rate_neutral / 60.0
        self.pleasure = 0.0
        self.arousal = 0.0
        self.dominance = 0.0
        self.octant = (True, False, True)
        self.rate = self._rate_neutral
        self.events = 0
        self.last = 0.0
        self.calls = 0
        self.share = 0.5
        self._targets = (0.0, 0.0, 0.0)

    @property
    def emotion(self) -> Emotion:
        """The primary emotion."""
        return OCTANTS[self.octant]

    def update(self, event: Event) -> None:
        """Count one event; an edit, a refusal or an interruption shows who is in charge."""
        if type(event) is ToolUse:
            self.tool_use(event)
            return
        self.events += 1
        if type(event) is Prompt:
            self.calls = 0
            if event.interrupt:
                self.share -= self._settings.choice_smoothing * self.share

    def tool_use(self, event: ToolUse) -> None:
        """Count one call."""
        self.events += 1
        calls = self.calls
        self.calls = calls + 1
        outcome = event.outcome
        if outcome == "rejected":
            self.share -= self._settings.choice_smoothing * self.share
        elif event.action == "file_edit" and outcome != "pending" and outcome != "collateral":
            won = 1.0 if outcome == "success" and calls >= self._settings.prompted_calls else 0.0
            self.share += self._settings.choice_smoothing * (won - self.share)

    def tick(self, now: float, axes: tuple[float, float, float, float, float, float], urgency: float) -> None:
        """Step towards what the axes, the pace and the greatest urgency of this moment ask for."""
        elapsed = now - self.last
        if elapsed > 0.0:
            weight = 1.0 - exp(-elapsed / self._settings.rate_window)
            self.rate += weight * (self.events / elapsed - self.rate)
            self.events = 0
            self.last = now
        frustration, seeking, confidence, _, flow, _ = axes
        rate = self.rate
        activity = rate / (rate + self._rate_neutral)
        targets = self._targets = (
            0.5 * (confidence + flow - frustration - seeking),
            2.0 * (activity + (1.0 - activity) * self._settings.urgency_weight * urgency) - 1.0,
            2.0 * self.share - 1.0,
        )
        figures = self._settings
        pleasure = self.pleasure = _step(self.pleasure, targets[0], figures.pleasure_rise, figures.pleasure_fall)
        arousal = self.arousal = _step(self.arousal, targets[1], figures.arousal_step, figures.arousal_step)
        dominance = self.dominance = _step(self.dominance, targets[2], figures.dominance_rise, figures.dominance_fall)
        zone = figures.dead_zone
        pleased, aroused, dominant = self.octant
        self.octant = (
            pleasure > (-zone if pleased else zone),
            arousal > (-zone if aroused else zone),
            dominance > (-zone if dominant else zone),
        )

    def read(self) -> MoodReading:
        """The mood and its reasons."""
        mood = self.pleasure, self.arousal, self.dominance
        intensity = sqrt(sum([part**2 for part in mood]) / 3.0)
        return MoodReading(*mood, self.emotion, intensity, *self._targets, self.rate * 60.0, self.share)


def _step(value: float, target: float, rise: float, fall: float) -> float:
    move = target - value
    if move > rise:
        move = rise
    elif move < -fall:
        move = -fall
    moved = value + move
    return 1.0 if moved > 1.0 else -1.0 if moved < -1.0 else moved
