"""The state every mechanism reads, each signal group of it written by exactly one."""

from __future__ import annotations

import struct
from typing import Literal, get_args

from core.engine.values import Value
from core.errors import StateError

Regime = Literal["calm", "progress", "turbulence", "crisis"]
REGIMES: tuple[Regime, ...] = get_args(Regime)
"""From the quietest to the worst."""
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

    __slots__ = (
        "_accuracy",
        "_arousal",
        "_budget_remaining",
        "_claimed",
        "_composite",
        "_dominance",
        "_economic",
        "_emotion",
        "_phase",
        "_pleasure",
        "_regime",
        "_tier",
        "_trend",
    )

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
        """What kind of weather the work is in."""
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
        """Go on exactly as the one that was dumped."""
        self.unpack(packed)


class AffectWriter:
    """Writes pleasure, arousal, dominance and the primary emotion."""

    __slots__ = ("_state",)

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

    __slots__ = ("_state",)

    def __init__(self, state: CorticalState) -> None:
        self._state = state

    def write(self, accuracy: float, trend: int) -> None:
        """Replace the group."""
        self._state._accuracy = accuracy
        self._state._trend = trend


class MortalityWriter:
    """Writes both vitalities and the behavioural phase."""

    __slots__ = ("_state",)

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

    __slots__ = ("_state",)

    def __init__(self, state: CorticalState) -> None:
        self._state = state

    def write(self, regime: Regime) -> None:
        """Replace the group."""
        self._state._regime = regime


class InferenceWriter:
    """Writes the budget left and the tier in use."""

    __slots__ = ("_state",)

    def __init__(self, state: CorticalState) -> None:
        self._state = state

    def write(self, budget_remaining: float, tier: Tier) -> None:
        """Replace the group."""
        self._state._budget_remaining = budget_remaining
        self._state._tier = tier
