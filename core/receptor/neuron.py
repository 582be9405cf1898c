"""B, the emotion neuron: it fires where an axis leaves what is normal, and holds what it fired."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.percept import AXES, Signal, SignalName
from core.receptor.ambient import effective
from core.receptor.meta import Field
from core.receptor.readings import HeldReading
from core.receptor.vector import CONFIDENCE, FATIGUE, FRUSTRATION, NONE, SEEKING, UNCERTAINTY, Vector
from core.settings.receptor import AmbientSettings, NeuronSettings

ORDER = (FRUSTRATION, SEEKING, UNCERTAINTY, CONFIDENCE, FATIGUE)
"""The axes B listens to, in the order its signals are sent; flow is not among them."""
COMPOUND: SignalName = "compound_frustration_seeking"
NAMES: dict[int, SignalName] = {
    FRUSTRATION: "frustration_spike",
    SEEKING: "seeking_spike",
    UNCERTAINTY: "uncertainty_spike",
    CONFIDENCE: "confidence_sustained",
    FATIGUE: "fatigue_rising",
}


class EmotionNeuron:
    """Fire an axis at or above its threshold; let it go after enough events below it in a row.

    Frustration and seeking that stand together are sent as one compound signal. While A fires, B rests and
    forgets what it held.
    """

    __slots__ = (
        "_compound",
        "_high",
        "_hold",
        "_intensity",
        "_left",
        "_low",
        "_offsets",
        "dominant",
        "greatest",
    )

    def __init__(self, settings: NeuronSettings, ambient: AmbientSettings) -> None:
        self._hold = settings.hold
        self._low = ambient.low
        self._high = ambient.high
        self._offsets = tuple(getattr(ambient.offset, axis) for axis in AXES)
        self._left = [0] * len(AXES)
        """Events below the threshold until each axis is let go; 0 where nothing stands."""
        self._intensity = [0.0] * len(AXES)
        self._compound = False
        self.dominant = NONE
        """The axis that stands highest above its threshold."""
        self.greatest = 0.0
        """How far it stands above it."""

    def update(self, values: Vector, baseline: Sequence[float], field: Field) -> tuple[Signal, ...]:
        """Say what fires and what is still held."""
        low, high, offsets, left = self._low, self._high, self._offsets, self._left
        standing: list[Signal] | None = None
        dominant, greatest = NONE, -1.0
        for axis, lift in (
            (FRUSTRATION, field.frustration),
            (SEEKING, field.seeking),
            (UNCERTAINTY, field.uncertainty),
            (CONFIDENCE, 0.0),
            (FATIGUE, 0.0),
        ):
            threshold = baseline[axis] + offsets[axis] + lift
            if threshold < low:
                threshold = low
            elif threshold > high:
                threshold = high
            value = values[axis]
            if value >= threshold:
                fresh = not left[axis]
                left[axis] = self._hold
                intensity = value - threshold
            elif left[axis] > 1:
                left[axis] -= 1
                fresh, intensity = False, 0.0
            else:
                left[axis] = 0
                continue
            self._intensity[axis] = intensity
            if intensity > greatest:
                dominant, greatest = axis, intensity
            if standing is None:
                standing = []
            standing.append(Signal(NAMES[axis], intensity, fresh))
        self.dominant = dominant
        if standing is None:
            self._compound = False
            self.greatest = 0.0
            return ()
        self.greatest = greatest
        compound = left[FRUSTRATION] > 0 and left[SEEKING] > 0
        if compound:
            both = max(standing[0].intensity, standing[1].intensity)
            standing[:2] = [Signal(COMPOUND, both, not self._compound)]
        self._compound = compound
        return tuple(standing)

    def rest(self) -> None:
        """A fires: nothing of B is sent or held."""
        self._left = [0] * len(AXES)
        self._compound = False
        self.dominant, self.greatest = NONE, 0.0

    def terms(self, axis: int, baseline: Sequence[float], field: Field) -> tuple[float, float, float, float]:
        """The threshold of an axis and its three terms: baseline, offset, field."""
        lift = getattr(field, AXES[axis], 0.0)
        offset = self._offsets[axis]
        level = baseline[axis]
        return effective(level, offset, lift, self._low, self._high), level, offset, lift

    def release(self, axis: int) -> int:
        """Events below the threshold until the axis is let go; 0 where nothing stands."""
        return self._left[axis]

    def read(self) -> tuple[HeldReading, ...]:
        return tuple(
            HeldReading(
                axis=AXES[axis],
                signal=COMPOUND if self._compound and axis in (FRUSTRATION, SEEKING) else NAMES[axis],
                intensity=self._intensity[axis],
                release=self._left[axis],
            )
            for axis in ORDER
            if self._left[axis]
        )

    def dump(self) -> tuple[Any, ...]:
        return (tuple(self._left), tuple(self._intensity), self._compound, self.dominant, self.greatest)

    def load(self, state: Sequence[Any]) -> None:
        left, intensity, self._compound, self.dominant, self.greatest = state
        self._left = list(left)
        self._intensity = list(intensity)
