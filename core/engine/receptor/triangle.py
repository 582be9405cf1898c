"""The ambient baseline and the neuron triangle: A the flow gate, B the emotion neuron, C the meta neuron."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from math import exp

from core.engine.percept import AXES, AgentState, Axis, Pattern, Signal, SignalName
from core.engine.receptor.emotion import CONFIDENCE, FATIGUE, FLOW, FRUSTRATION, SEEKING, UNCERTAINTY, Vector, vector
from core.engine.receptor.readings import GateReading, HeldReading, MetaReading
from core.engine.state import KeptField, Stateful, plain_list, queued
from core.settings.receptor import AmbientSettings, MetaSettings, NeuronSettings

NONE = -1  # No axis.


def effective(baseline: float, offset: float, field: float, low: float, high: float) -> float:
    """Return the threshold of one axis."""
    threshold = baseline + offset + field
    return low if threshold < low else high if threshold > high else threshold


class AmbientEstimator(Stateful):
    """Follow every axis by a slow average.

    The first event, and the first after a silence, sets it to the present values. A context shift resets it
    to zero or the prior. For flow it follows the undisturbed value, so B and C cannot move A's threshold.
    """

    STATE = ("_now", "_seeded", plain_list("baseline"), plain_list("_prior"))

    def __init__(self, settings: AmbientSettings) -> None:
        self._constant = settings.time_constant
        self._ignore = settings.ignore_below
        self._prior = [0.0] * len(AXES)
        self._now = 0.0
        self._seeded = False
        self.baseline = [0.0] * len(AXES)

    def seed(self, prior: Mapping[Axis, float]) -> None:
        """Start with earlier baselines; new events soon outweigh them."""
        for axis, level in prior.items():
            self._prior[AXES.index(axis)] = min(max(level, 0.0), 1.0)
        self.baseline = list(self._prior)
        self._seeded = True

    def freeze(self) -> None:
        """Start a new average with the next event, after a silence."""
        self._seeded = False

    def reset(self) -> None:
        """Reset the baselines after a context shift."""
        self.baseline = list(self._prior)

    def update(self, now: float, values: Vector, undisturbed: float) -> None:
        """Move the averages towards the present values."""
        elapsed = now - self._now
        self._now = now
        baseline = self.baseline
        if not self._seeded:
            baseline[:] = values
            baseline[FLOW] = undisturbed
            self._seeded = True
        elif elapsed > 0.0:
            frustration, seeking, confidence, fatigue, _, uncertainty = values
            a, b, c, d, e, f = baseline
            alpha = 1.0 - exp(-elapsed / self._constant)
            least = self._ignore
            self.baseline = [
                a + alpha * (frustration - a) if frustration >= least else a,
                b + alpha * (seeking - b) if seeking >= least else b,
                c + alpha * (confidence - c) if confidence >= least else c,
                d + alpha * (fatigue - d),
                e + alpha * (undisturbed - e) if undisturbed >= least else e,
                f + alpha * (uncertainty - f) if uncertainty >= least else f,
            ]


_BENT: tuple[Axis, ...] = ("frustration", "seeking", "uncertainty")


class Field:
    """The shifts of B's thresholds by C. It has no entry for flow: C cannot reach A."""

    __slots__ = ("frustration", "seeking", "uncertainty")

    def __init__(self) -> None:
        self.frustration = 0.0
        self.seeking = 0.0
        self.uncertainty = 0.0


class MetaNeuron(Stateful):
    """Remember the strongest axis of each of the last events, name the agent's state, and set the field.

    Danger lowers the thresholds of seeking and uncertainty step by step, safety brings them back. Deep work
    raises that of frustration, being stuck lowers it, any other state brings it back.
    """

    STATE = (
        queued("_buffer"),
        "state",
        *(KeptField(axis, "self.field.{name}", "self.field.{name} = {value}") for axis in _BENT),
    )

    def __init__(self, settings: MetaSettings) -> None:
        self._danger = settings.danger
        self._safe = settings.safe
        self._step = settings.step
        self._bound = settings.bound
        self._stuck_frustration = settings.stuck_frustration
        self._stuck_failures = settings.stuck_failures
        self._deep_flow = settings.deep_flow
        self._buffer: deque[int] = deque(maxlen=settings.buffer)
        self._hits = [0] * (len(AXES) + 1)
        self.field = Field()
        self.state: AgentState = "idle"

    def seed(self, field: Mapping[Axis, float]) -> None:
        """Start with the field of earlier sessions; it decays like any other."""
        for axis in _BENT:
            shift = field.get(axis, 0.0)
            setattr(self.field, axis, min(max(shift, -self._bound), self._bound))

    def update(
        self, dominant: int, silence: bool, pattern: Pattern, frustration: float, flow: float, failures: int = 0
    ) -> None:
        """Step with B's dominant axis of the last event, then set state and field for this one.

        `failures` is how many actions in a row have failed.
        """
        buffer, hits = self._buffer, self._hits
        if len(buffer) == buffer.maxlen:
            hits[buffer[0]] -= 1
        buffer.append(dominant)
        hits[dominant] += 1
        self.state = state = self._derive(silence, pattern, frustration, flow, failures)
        field, step = self.field, self._step
        rate = hits[FRUSTRATION] / len(buffer)
        if rate > self._danger:
            field.seeking = max(field.seeking - step, -self._bound)
            field.uncertainty = max(field.uncertainty - step, -self._bound)
        elif rate < self._safe:
            if field.seeking:
                field.seeking = _towards_zero(field.seeking, step)
            if field.uncertainty:
                field.uncertainty = _towards_zero(field.uncertainty, step)
        if state == "deep_work":
            field.frustration = min(field.frustration + step, self._bound)
        elif state == "stuck":
            field.frustration = max(field.frustration - step, -self._bound)
        elif field.frustration:
            field.frustration = _towards_zero(field.frustration, step)

    def _derive(self, silence: bool, pattern: Pattern, frustration: float, flow: float, failures: int) -> AgentState:
        if silence:
            return "idle"
        if pattern == "delegation":
            return "delegating"
        if pattern == "trial_error" and frustration > self._stuck_frustration:
            return "stuck"
        if self._stuck_failures and failures >= self._stuck_failures:
            return "stuck"
        if pattern == "implementation" and flow > self._deep_flow:
            return "deep_work"
        return "exploring"

    def read(self, state: AgentState) -> MetaReading:
        count = len(self._buffer) or 1
        field = self.field
        return MetaReading(
            state=state,
            rates=tuple((axis, self._hits[position] / count) for position, axis in enumerate(AXES)),
            field=(("frustration", field.frustration), ("seeking", field.seeking), ("uncertainty", field.uncertainty)),
            buffer=tuple(None if position == NONE else AXES[position] for position in self._buffer),
        )

    def restored(self) -> None:
        self._hits = [0] * (len(AXES) + 1)
        for position in self._buffer:
            self._hits[position] += 1


def _towards_zero(value: float, step: float) -> float:
    """Return the value one step closer to zero."""
    return max(value - step, 0.0) if value > 0.0 else min(value + step, 0.0)


# The axes of B, in the order of its signals; flow is not among them.
ORDER = (FRUSTRATION, SEEKING, UNCERTAINTY, CONFIDENCE, FATIGUE)
COMPOUND: SignalName = "compound_frustration_seeking"
NAMES: dict[int, SignalName] = {
    FRUSTRATION: "frustration_spike",
    SEEKING: "seeking_spike",
    UNCERTAINTY: "uncertainty_spike",
    CONFIDENCE: "confidence_sustained",
    FATIGUE: "fatigue_rising",
}


_make = tuple.__new__  # Builds a named tuple without its Python-level constructor, as this runs for every act.


class EmotionNeuron(Stateful):
    """Fire an axis at or above its threshold; release it after enough events below it in a row.

    Frustration and seeking that are active together are sent as one compound signal, provided that a recent
    act failed. While A fires, B sends nothing and drops what it held.
    """

    STATE = (plain_list("_left"), plain_list("_intensity"), "_compound", "dominant", "greatest")

    def __init__(self, settings: NeuronSettings, ambient: AmbientSettings) -> None:
        self._hold = settings.hold
        self._low = ambient.low
        self._high = ambient.high
        self._offsets = vector([getattr(ambient.offset, axis) for axis in AXES])
        # Events below the threshold until each axis is released; 0 if no signal is active.
        self._left = [0] * len(AXES)
        self._intensity = [0.0] * len(AXES)
        self._compound = False
        self.dominant = NONE  # The axis furthest above its threshold.
        self.greatest = 0.0  # Its distance above the threshold.

    def update(self, values: Vector, baseline: Sequence[float], field: Field, failing: bool) -> tuple[Signal, ...]:
        """Return the signals that fire or are still held; `failing` says whether any recent act failed."""
        left = self._left
        a, b, c, d, e = self._excess(values, baseline, field)
        if a < 0.0 and b < 0.0 and c < 0.0 and d < 0.0 and e < 0.0 and self.dominant == NONE:
            return ()
        standing: list[Signal] = []
        dominant, greatest = NONE, -1.0
        for axis, intensity in ((FRUSTRATION, a), (SEEKING, b), (UNCERTAINTY, c), (CONFIDENCE, d), (FATIGUE, e)):
            left_before = left[axis]
            if intensity >= 0.0:
                left[axis] = self._hold
            elif left_before > 1:
                left[axis] = left_before - 1
                intensity = 0.0
            else:
                left[axis] = 0
                continue
            fresh = not left_before
            self._intensity[axis] = intensity
            if intensity > greatest:
                dominant, greatest = axis, intensity
            standing.append(_make(Signal, (NAMES[axis], intensity, fresh)))
        self.dominant = dominant
        self.greatest = greatest if standing else 0.0
        compound = failing and left[FRUSTRATION] > 0 and left[SEEKING] > 0
        if compound:
            both = max(standing[0].intensity, standing[1].intensity)
            standing[:2] = [_make(Signal, (COMPOUND, both, not self._compound))]
        self._compound = compound
        return tuple(standing)

    def _excess(
        self, values: Vector, baseline: Sequence[float], field: Field
    ) -> tuple[float, float, float, float, float]:
        """Return the distance of each axis above its threshold, in the order of its signals."""
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
        """Return whether frustration is at or above its threshold."""
        threshold = baseline[FRUSTRATION] + self._offsets[FRUSTRATION] + field.frustration
        low, high = self._low, self._high
        return value >= (low if threshold < low else high if threshold > high else threshold)

    def rest(self) -> None:
        """Drop all signals of B, because A fires."""
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
        """Return the thresholds of all axes, in the order of AXES."""
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
        """Return the events below the threshold until the axis is released; 0 if no signal is active."""
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


class FlowGate(Stateful):
    """Fire while flow is at or above its threshold.

    The threshold is made of the flow baseline and a fixed offset; no field of the meta neuron is handed in.
    """

    STATE = ("firing", "fresh", "intensity")

    def __init__(self, settings: AmbientSettings) -> None:
        self._offset = settings.offset.flow
        self._low = settings.low
        self._high = settings.high
        self.firing = False
        self.fresh = False
        self.intensity = 0.0

    def threshold(self, baseline: float) -> float:
        """Return the threshold of flow."""
        threshold = baseline + self._offset
        return self._low if threshold < self._low else self._high if threshold > self._high else threshold

    def update(self, flow: float, baseline: float) -> bool:
        """Return whether the agent is in flow."""
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
        """Stop firing, whatever the value of flow."""
        self.firing = self.fresh = False
        self.intensity = 0.0

    def read(self, flow: float, baseline: float, firing: bool) -> GateReading:
        return GateReading(value=flow, threshold=self.threshold(baseline), firing=firing)
