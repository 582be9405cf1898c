"""The staged update of the control fields.

For each field: admissible? raw update, rate limit, apply, range clamp, decay, hysteresis, stabilisation; what
came of it is left in `before`, `after`, `cuts` and `noise` for the lineage. All observations of one event
make one cycle, so the rate limit binds their sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from struct import Struct as Layout

from blake3 import blake3

from core.engine.affect.fields import OBSERVED, ControlField
from core.engine.affect.lineage import AUTHORITY, CEILING, FLOOR, NO_NOISE, RATE, SWING, TRIGGER
from core.engine.affect.observations import NEGATIVE, POSITIVE
from core.settings.affect import Authority, HysteresisSettings, NoiseSettings, StabilitySettings, Trigger

_KEY = Layout("<qQ")
_WORDS = Layout("<7I4x")
_HALF = 2.0**31


class Noise:
    """A vector of noise for each update, within plus and minus the amplitude."""

    def __init__(self, settings: NoiseSettings, seed: int = 0) -> None:
        self._amplitude = settings.amplitude
        self._seed = (seed + 2**63) % 2**64 - 2**63
        self.drawn = 0  # Vectors so far: all of its state.

    @property
    def on(self) -> bool:
        """Whether there is any."""
        return self._amplitude > 0.0

    def draw(self) -> tuple[float, ...]:
        """The next vector."""
        if not self.on:
            return NO_NOISE
        words = _WORDS.unpack(blake3(_KEY.pack(self._seed, self.drawn)).digest())
        self.drawn += 1
        return tuple((word / _HALF - 1.0) * self._amplitude for word in words)


FORGOTTEN = 1e-3  # Swings that count for no more than this are none.


class Stabiliser:
    """Stretch a swinging field's time constant, so that it decays and answers more slowly."""

    def __init__(self, settings: StabilitySettings) -> None:
        self._band = settings.band
        self._threshold = settings.threshold
        self._growth = 1.0 + settings.damping
        self._window = settings.window

    def share_left(self, elapsed: float) -> float:
        """The share of its swings a field still has after that many seconds."""
        return exp(-elapsed / self._window)

    def settle(self, field: ControlField, share: float) -> None:
        """Let a field that has swung answer faster again; one whose swings are forgotten, at once."""
        if field.flips < FORGOTTEN:
            field.flips = share = 0.0
        field.slow(1.0 + (field.stretch - 1.0) * share)

    def watch(self, field: ControlField) -> None:
        """Count a swing if the field's new value lies on the other side of its rest."""
        deviation = field.magnitude - field.rest
        if deviation > self._band:
            side = 1
        elif deviation < -self._band:
            side = -1
        else:
            return
        if side != field.side:
            if field.side:
                field.flips += 1.0
                if field.flips > self._threshold:
                    field.slow(field.stretch * self._growth)
            field.side = side


# The positions of the bits set in each number.
_PRESENT = tuple(tuple(bit for bit in range(OBSERVED) if seen >> bit & 1) for seen in range(1 << OBSERVED))


_INSTANT = 1e-3  # Seconds below which rounding might carry a field that decays across the edge it stood at.


class Updater:
    """Move the seven fields, stage by stage, and keep the transaction of the last cycle."""

    def __init__(
        self, fields: tuple[ControlField, ...], hysteresis: HysteresisSettings, stabiliser: Stabiliser, noise: Noise
    ) -> None:
        self._fields = fields
        self._negative = hysteresis.negative
        self._neutral = hysteresis.neutral
        self._positive = hysteresis.positive
        self._stabiliser = stabiliser
        self._noise = noise
        self._noisy = noise.on
        self._effects = tuple(
            tuple((place, field.gains[bit]) for place, field in enumerate(fields) if field.gains[bit])
            for bit in range(OBSERVED)
        )
        self._refused = 0
        for field in fields:
            self._refused |= field.refused
        self.before = [0.0] * len(fields)
        self.after = [0.0] * len(fields)
        self.cuts = [0] * len(fields)
        self.noise = [0.0] * len(fields)
        self.moved = 0.0
        self.change = 0.0
        self.strongest = -1
        self.asked = False

    def decay(self, elapsed: float) -> None:
        """Let time alone pass."""
        if elapsed <= 0.0:
            return
        calmed = 0.0
        for field in self._fields:
            if field.flips:
                calmed = calmed or self._stabiliser.share_left(elapsed)
                flips = field.flips = field.flips * calmed
                if field.stretch > 1.0 or flips < FORGOTTEN:
                    self._stabiliser.settle(field, calmed)
            rest = field.rest
            deviation = field.magnitude - rest
            if deviation:
                field.magnitude = rest + deviation * exp(elapsed * field.pace)
        if elapsed < _INSTANT:
            for field in self._fields:
                field.magnitude = field.bounded(field.magnitude)

    def observe(self, observations: int, intensities: Sequence[float], elapsed: float, now: float) -> bool:
        """Run one cycle on the agent's own observations; return False if no field was addressed."""
        raws = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
        for bit in _PRESENT[observations]:
            intensity = intensities[bit]
            for place, effect in self._effects[bit]:
                raws[place] = raws[place] + effect * intensity
        cuts = self.cuts = [0, 0, 0, 0, 0, 0, 0]
        if observations & self._refused:
            for place, field in enumerate(self._fields):
                if field.refused & observations:
                    cuts[place] = TRIGGER if "self" in field.authority else AUTHORITY
        self.before = self._magnitudes()
        self.decay(elapsed)
        gain = (
            self._negative if observations & NEGATIVE else self._positive if observations & POSITIVE else self._neutral
        )
        self._move_all(raws, elapsed, gain, now, self._noisy)
        self.after = self._magnitudes()
        return self.asked or any(cuts)

    def receive(
        self, raws: Sequence[float], trigger: Trigger, authority: Authority, now: float, *, start: bool = False
    ) -> bool:
        """One cycle driven by another agent, at the time of the last event; False where nothing was asked.

        A start is bound by the envelope, not by the pace of a cycle.
        """
        admitted = list(raws)
        cuts = self.cuts = [0, 0, 0, 0, 0, 0, 0]
        before = self.before = self._magnitudes()
        for place, field in enumerate(self._fields):
            if not raws[place]:
                continue
            if trigger not in field.triggers:
                cuts[place] = TRIGGER
            elif authority not in field.authority:
                cuts[place] = AUTHORITY
            elif start:
                field.magnitude = field.bounded(field.magnitude + raws[place])
                field.updated = now
                field.changed = field.magnitude - before[place]
            else:
                continue
            admitted[place] = 0.0
        self._move_all(admitted, 0.0, self._neutral, now, False)
        self.after = self._magnitudes()
        self.asked = any(raws)
        return self.asked

    def _magnitudes(self) -> list[float]:
        a, b, c, d, e, f, g = self._fields
        return [a.magnitude, b.magnitude, c.magnitude, d.magnitude, e.magnitude, f.magnitude, g.magnitude]

    def _move_all(self, raws: Sequence[float], elapsed: float, gain: float, now: float, noisy: bool) -> None:
        """Move the fields that are asked to, and note how far and which one most."""
        moved = change = greatest = 0.0
        strongest = -1
        requested = False
        noise = self._noise.draw() if noisy else ()
        if self._noisy:
            self.noise = [0.0] * len(self._fields)
        for place, raw in enumerate(raws):
            if raw:
                requested = True
                if noise:
                    self.noise[place] = noise[place]
                    raw += noise[place]
                step = self._move(place, raw, elapsed, gain, now)
                size = step if step >= 0.0 else -step
                moved += size
                if size > greatest:
                    greatest, change, strongest = size, step, place
        self.moved = moved
        self.change = change
        self.strongest = strongest
        self.asked = requested

    def _move(self, place: int, raw: float, elapsed: float, gain: float, now: float) -> float:
        """Move one field that time has already passed for; the change."""
        field = self._fields[place]
        floor, ceiling, limit = field.floor, field.ceiling, field.rate_limit
        cut = 0
        if not -limit <= raw <= limit:
            raw = limit if raw > 0.0 else -limit
            cut = RATE
        goal = self.before[place] + raw
        if goal > ceiling:
            goal = ceiling
            cut |= CEILING
        elif goal < floor:
            goal = floor
            cut |= FLOOR
        rest = field.rest
        if elapsed > 0.0:
            goal = rest + (goal - rest) * exp(elapsed * field.pace)
        if field.stretch > 1.0:
            gain /= field.stretch
            cut |= SWING
        base = field.magnitude
        value = base + gain * (goal - base)
        if not floor <= value <= ceiling:
            value = field.bounded(value)
        change = value - base
        field.magnitude = value
        field.updated = now
        field.changed = change
        if (value - rest) * field.side <= 0.0:
            self._stabiliser.watch(field)
        if cut:
            self.cuts[place] |= cut
        return change
