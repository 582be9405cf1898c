"""The state every mechanism reads, each signal group of it written by exactly one."""

from __future__ import annotations

import struct
from math import exp, sqrt
from typing import Literal, get_args

from core.engine.state import Stateful, custom, tupled
from core.engine.values import Value
from core.errors import StateError
from core.events import Event, Prompt, ToolUse
from core.settings.mind_state import MoodSettings, VitalitySettings

Regime = Literal["calm", "progress", "turbulence", "crisis"]
REGIMES: tuple[Regime, ...] = get_args(Regime)  # From the quietest to the worst.
SEVERITY: dict[Regime, int] = {regime: place for place, regime in enumerate(REGIMES)}

Phase = Literal["thriving", "stable", "conserving", "declining", "terminal"]
PHASES: tuple[Phase, ...] = get_args(Phase)

Emotion = Literal["joy", "trust", "fear", "surprise", "sadness", "disgust", "anger", "anticipation"]
EMOTIONS: tuple[Emotion, ...] = get_args(Emotion)

Tier = Literal["T0", "T1", "T2"]
TIERS: tuple[Tier, ...] = get_args(Tier)

SignalGroup = Literal["affect", "prediction", "mortality", "environment", "inference"]

_LAYOUT = struct.Struct("<B3dBdb2dBBdB")
_VERSION = 1
PACKED_SIZE = _LAYOUT.size


class CorticalReading(Value, frozen=True):
    """All signals at one moment."""

    pleasure: float
    arousal: float
    dominance: float
    emotion: Emotion
    accuracy: float
    trend: int
    economic: float
    composite: float
    phase: Phase
    regime: Regime
    budget_remaining: float
    tier: Tier


class CorticalState:
    """A surface without setters: a group changes only through the writer that claimed it."""

    def __init__(self) -> None:
        self._pleasure = 0.0
        self._arousal = 0.0
        self._dominance = 0.0
        self._emotion: Emotion = "anticipation"
        self._accuracy = 0.5
        self._trend = 0
        self._economic = 1.0
        self._composite = 1.0
        self._phase: Phase = "thriving"
        self._regime: Regime = "calm"
        self._budget_remaining = 1.0
        self._tier: Tier = "T0"
        self._claimed: tuple[SignalGroup, ...] = ()

    @property
    def pleasure(self) -> float:
        """-1 to 1."""
        return self._pleasure

    @property
    def arousal(self) -> float:
        """-1 to 1."""
        return self._arousal

    @property
    def dominance(self) -> float:
        """-1 to 1."""
        return self._dominance

    @property
    def emotion(self) -> Emotion:
        """The primary emotion."""
        return self._emotion

    @property
    def accuracy(self) -> float:
        """Of the forecast, 0 to 1."""
        return self._accuracy

    @property
    def trend(self) -> int:
        """Of the accuracy: -1, 0 or 1."""
        return self._trend

    @property
    def economic(self) -> float:
        """Economic vitality, 0 to 1."""
        return self._economic

    @property
    def composite(self) -> float:
        """Composite vitality, 0 to 1."""
        return self._composite

    @property
    def phase(self) -> Phase:
        """The behavioural phase."""
        return self._phase

    @property
    def regime(self) -> Regime:
        """The regime of the work."""
        return self._regime

    @property
    def budget_remaining(self) -> float:
        """Share of the day's budget left, 0 to 1."""
        return self._budget_remaining

    @property
    def tier(self) -> Tier:
        """Of the last turn's model."""
        return self._tier

    def moment(self) -> tuple[Regime, float, float, float]:
        """The regime, then pleasure, arousal and dominance."""
        return self._regime, self._pleasure, self._arousal, self._dominance

    def frame(self) -> tuple[Tier, float, float, Regime]:
        """The tier, the accuracy, the share of budget used and the regime: what every tick records."""
        return self._tier, self._accuracy, 1.0 - self._budget_remaining, self._regime

    def claim_affect(self) -> AffectWriter:
        """The only writer of pleasure, arousal, dominance and emotion."""
        self._claim("affect")
        return AffectWriter(self)

    def claim_prediction(self) -> PredictionWriter:
        """The only writer of accuracy and trend."""
        self._claim("prediction")
        return PredictionWriter(self)

    def claim_mortality(self) -> MortalityWriter:
        """The only writer of both vitalities and the phase."""
        self._claim("mortality")
        return MortalityWriter(self)

    def claim_environment(self) -> EnvironmentWriter:
        """The only writer of the regime."""
        self._claim("environment")
        return EnvironmentWriter(self)

    def claim_inference(self) -> InferenceWriter:
        """The only writer of the budget and the tier."""
        self._claim("inference")
        return InferenceWriter(self)

    def _claim(self, group: SignalGroup) -> None:
        if group in self._claimed:
            raise RuntimeError(f"the {group} signals have a writer already")
        self._claimed = (*self._claimed, group)

    def read(self) -> CorticalReading:
        """All signals at once."""
        return CorticalReading(
            self._pleasure,
            self._arousal,
            self._dominance,
            self._emotion,
            self._accuracy,
            self._trend,
            self._economic,
            self._composite,
            self._phase,
            self._regime,
            self._budget_remaining,
            self._tier,
        )

    def pack(self) -> bytes:
        """Every signal, exactly, in less than four cache lines."""
        return _LAYOUT.pack(
            _VERSION,
            self._pleasure,
            self._arousal,
            self._dominance,
            EMOTIONS.index(self._emotion),
            self._accuracy,
            self._trend,
            self._economic,
            self._composite,
            PHASES.index(self._phase),
            REGIMES.index(self._regime),
            self._budget_remaining,
            TIERS.index(self._tier),
        )

    def unpack(self, packed: bytes) -> None:
        """Take every signal from what `pack` gave; who writes which stays as it is."""
        try:
            version, *signals = _LAYOUT.unpack(packed)
            if version != _VERSION:
                raise ValueError(f"version {version}")
            pleasure, arousal, dominance, emotion, accuracy, trend = signals[:6]
            economic, composite, phase, regime, budget_remaining, tier = signals[6:]
            names = EMOTIONS[emotion], PHASES[phase], REGIMES[regime], TIERS[tier]
        except (struct.error, ValueError, IndexError, TypeError) as error:
            raise StateError(f"this is not a packed cortical state: {error}") from None
        self._pleasure, self._arousal, self._dominance = pleasure, arousal, dominance
        self._accuracy, self._trend = accuracy, trend
        self._economic, self._composite = economic, composite
        self._budget_remaining = budget_remaining
        self._emotion, self._phase, self._regime, self._tier = names

    def dump(self) -> bytes:
        """Everything the next step depends on."""
        return self.pack()

    def load(self, packed: bytes) -> None:
        """Continue exactly like the dumped one."""
        self.unpack(packed)


class AffectWriter:
    """Writes pleasure, arousal, dominance and the primary emotion."""

    def __init__(self, state: CorticalState) -> None:
        self._state = state

    def write(self, pleasure: float, arousal: float, dominance: float, emotion: Emotion) -> None:
        """Replace the group."""
        state = self._state
        state._pleasure = pleasure
        state._arousal = arousal
        state._dominance = dominance
        state._emotion = emotion


class PredictionWriter:
    """Writes the forecast's accuracy and its trend."""

    def __init__(self, state: CorticalState) -> None:
        self._state = state

    def write(self, accuracy: float, trend: int) -> None:
        """Replace the group."""
        self._state._accuracy = accuracy
        self._state._trend = trend


class MortalityWriter:
    """Writes both vitalities and the behavioural phase."""

    def __init__(self, state: CorticalState) -> None:
        self._state = state

    def write(self, economic: float, composite: float, phase: Phase) -> None:
        """Replace the group."""
        state = self._state
        state._economic = economic
        state._composite = composite
        state._phase = phase


class EnvironmentWriter:
    """Writes the regime."""

    def __init__(self, state: CorticalState) -> None:
        self._state = state

    def write(self, regime: Regime) -> None:
        """Replace the group."""
        self._state._regime = regime


class InferenceWriter:
    """Writes the budget left and the tier in use."""

    def __init__(self, state: CorticalState) -> None:
        self._state = state

    def write(self, budget_remaining: float, tier: Tier) -> None:
        """Replace the group."""
        self._state._budget_remaining = budget_remaining
        self._state._tier = tier


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
        return VitalityReading(self.economic, self.epistemic, self.composite, self.phase, bounds[self._held])


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
    """The mood, where it is drawn to, and what it was made from."""

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
        "pleasure",
        "arousal",
        "dominance",
        tupled("octant"),
        "rate",
        "events",
        "last",
        "calls",
        "share",
        tupled("_targets"),
    )

    def __init__(self, settings: MoodSettings) -> None:
        self._pleasure_rise = settings.pleasure_rise
        self._pleasure_fall = settings.pleasure_fall
        self._arousal_step = settings.arousal_step
        self._dominance_rise = settings.dominance_rise
        self._dominance_fall = settings.dominance_fall
        self._rate_neutral = settings.rate_neutral / 60.0
        self._rate_window = settings.rate_window
        self._urgency_weight = settings.urgency_weight
        self._smoothing = settings.choice_smoothing
        self._prompted_calls = settings.prompted_calls
        self._dead_zone = settings.dead_zone
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
        """Count one event; an edit, a refusal or an interruption tells who is in charge."""
        if type(event) is ToolUse:
            self.tool_use(event)
            return
        self.events += 1
        if type(event) is Prompt:
            self.calls = 0
            if event.interrupt:
                self.share -= self._smoothing * self.share

    def tool_use(self, event: ToolUse) -> None:
        """Count one call."""
        self.events += 1
        calls = self.calls
        self.calls = calls + 1
        outcome = event.outcome
        if outcome == "rejected":
            self.share -= self._smoothing * self.share
        elif event.action == "file_edit" and outcome != "pending" and outcome != "collateral":
            won = 1.0 if outcome == "success" and calls >= self._prompted_calls else 0.0
            self.share += self._smoothing * (won - self.share)

    def tick(self, now: float, axes: tuple[float, float, float, float, float, float], urgency: float) -> None:
        """Step towards what the axes, the pace and the greatest urgency of this moment ask for."""
        elapsed = now - self.last
        if elapsed > 0.0:
            weight = 1.0 - exp(-elapsed / self._rate_window)
            self.rate += weight * (self.events / elapsed - self.rate)
            self.events = 0
            self.last = now
        frustration, seeking, confidence, _, flow, _ = axes
        rate = self.rate
        activity = rate / (rate + self._rate_neutral)
        targets = self._targets = (
            0.5 * (confidence + flow - frustration - seeking),
            2.0 * (activity + (1.0 - activity) * self._urgency_weight * urgency) - 1.0,
            2.0 * self.share - 1.0,
        )
        pleasure = self.pleasure = _step(self.pleasure, targets[0], self._pleasure_rise, self._pleasure_fall)
        arousal = self.arousal = _step(self.arousal, targets[1], self._arousal_step, self._arousal_step)
        dominance = self.dominance = _step(self.dominance, targets[2], self._dominance_rise, self._dominance_fall)
        zone = self._dead_zone
        pleased, aroused, dominant = self.octant
        self.octant = (
            pleasure > (-zone if pleased else zone),
            arousal > (-zone if aroused else zone),
            dominance > (-zone if dominant else zone),
        )

    def read(self) -> MoodReading:
        """The mood and its reasons."""
        return MoodReading(
            self.pleasure,
            self.arousal,
            self.dominance,
            self.emotion,
            sqrt((self.pleasure**2 + self.arousal**2 + self.dominance**2) / 3.0),
            *self._targets,
            self.rate * 60.0,
            self.share,
        )


def _step(value: float, target: float, rise: float, fall: float) -> float:
    move = target - value
    if move > rise:
        move = rise
    elif move < -fall:
        move = -fall
    moved = value + move
    return 1.0 if moved > 1.0 else -1.0 if moved < -1.0 else moved
