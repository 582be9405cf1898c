"""B, the emotion neuron: it fires where an axis leaves what is normal, and holds what it fired."""

from __future__ import annotations

from collections.abc import Sequence

from core.percept import AXES, Signal, SignalName
from core.receptor.ambient import effective
from core.receptor.meta import Field
from core.receptor.readings import HeldReading
from core.receptor.vector import CONFIDENCE, FATIGUE, FRUSTRATION, NONE, SEEKING, UNCERTAINTY, Vector
from core.settings.receptor import AmbientSettings, NeuronSettings
from core.state import Stateful, plain_list

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


_make = tuple.__new__
"""Builds a named tuple without its Python-level constructor: these are made for every act."""


class EmotionNeuron(Stateful):
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
    STATE = (
        plain_list("_left"),
        plain_list("_intensity"),
        "_compound",
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
        left = self._left
        excess = self._excess(values, baseline, field)
        if max(excess) < 0.0 and not any(left):
            self.dominant, self.greatest, self._compound = NONE, 0.0, False
            return ()
        standing: list[Signal] = []
        dominant, greatest = NONE, -1.0
        for axis, intensity in zip(ORDER, excess, strict=True):
            held = left[axis]
            if intensity >= 0.0:
                left[axis] = self._hold
            elif held > 1:
                left[axis] = held - 1
                intensity = 0.0
            else:
                left[axis] = 0
                continue
            fresh = not held
            self._intensity[axis] = intensity
            if intensity > greatest:
                dominant, greatest = axis, intensity
            standing.append(_make(Signal, (NAMES[axis], intensity, fresh)))
        self.dominant = dominant
        self.greatest = greatest if standing else 0.0
        compound = left[FRUSTRATION] > 0 and left[SEEKING] > 0
        if compound:
            both = max(standing[0].intensity, standing[1].intensity)
            standing[:2] = [_make(Signal, (COMPOUND, both, not self._compound))]
        self._compound = compound
        return tuple(standing)

    def _excess(
        self, values: Vector, baseline: Sequence[float], field: Field
    ) -> tuple[float, float, float, float, float]:
        """How far each axis stands above its threshold, in the order of its signals."""
        low, high = self._low, self._high
        frustration, seeking, confidence, fatigue, _, uncertainty = values
        a, b, c, d, _, f = baseline
        i, j, k, m, _, o = self._offsets
        a = a + i + field.frustration
        b = b + j + field.seeking
        f = f + o + field.uncertainty
        c += k
        d += m
        return (
            frustration - (low if a < low else high if a > high else a),
            seeking - (low if b < low else high if b > high else b),
            uncertainty - (low if f < low else high if f > high else f),
            confidence - (low if c < low else high if c > high else c),
            fatigue - (low if d < low else high if d > high else d),
        )

    def frustrated(self, value: float, baseline: Sequence[float], field: Field) -> bool:
        """Whether frustration stands at or above its threshold."""
        threshold = baseline[FRUSTRATION] + self._offsets[FRUSTRATION] + field.frustration
        low, high = self._low, self._high
        return value >= (low if threshold < low else high if threshold > high else threshold)

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

    def thresholds(self, baseline: Sequence[float], field: Field) -> tuple[float, ...]:
        """Those of all axes, in the order of AXES."""
        low, high = self._low, self._high
        a, b, c, d, e, f = baseline
        i, j, k, m, n, o = self._offsets
        return (
            effective(a, i, field.frustration, low, high),
            effective(b, j, field.seeking, low, high),
            effective(c, k, 0.0, low, high),
            effective(d, m, 0.0, low, high),
            effective(e, n, 0.0, low, high),
            effective(f, o, field.uncertainty, low, high),
        )

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
