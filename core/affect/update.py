"""The staged update of the control fields.

For each field: admissible? raw update, rate limit, apply, range clamp, decay, hysteresis, stabilisation; what
came of it is left in `before`, `after`, `cuts` and `noise` for the lineage. All observations of one event
make one cycle, so the rate limit binds their sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

from core.affect.fields import OBSERVED, ControlField
from core.affect.lineage import AUTHORITY, CEILING, FLOOR, RATE, SWING, TRIGGER
from core.affect.noise import Noise
from core.affect.observations import NEGATIVE, POSITIVE
from core.affect.stability import Stabiliser
from core.settings.affect import Authority, HysteresisSettings, Trigger

_PRESENT = tuple(tuple(bit for bit in range(OBSERVED) if seen >> bit & 1) for seen in range(1 << OBSERVED))
"""The positions of the bits set in each number."""


class Updater:
    """Move the seven fields, stage by stage, and keep the transaction of the last cycle."""

    __slots__ = (
        "_effects",
        "_fields",
        "_negative",
        "_neutral",
        "_noise",
        "_noisy",
        "_positive",
        "_refused",
        "_stabiliser",
        "after",
        "asked",
        "before",
        "change",
        "cuts",
        "moved",
        "noise",
        "strongest",
    )

    def __init__(
        self,
        fields: tuple[ControlField, ...],
        hysteresis: HysteresisSettings,
        stabiliser: Stabiliser,
        noise: Noise,
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
        for field in self._fields:
            if field.flips:
                self._stabiliser.rest(field, elapsed)
            rest = field.rest
            magnitude = field.magnitude
            if magnitude != rest:
                value = rest + (magnitude - rest) * exp(elapsed * field.pace)
                field.magnitude = value if field.floor <= value <= field.ceiling else field.bounded(value)

    def observe(self, seen: int, intensities: Sequence[float], elapsed: float, now: float) -> bool:
        """One cycle of the agent's own observations; False where no field was addressed."""
        self._begin()
        gain = self._negative if seen & NEGATIVE else self._positive if seen & POSITIVE else self._neutral
        fields = self._fields
        self.before = [field.magnitude for field in fields]
        self.cuts = cuts = [0] * len(fields)
        noise = self._noise.draw() if self._noisy else ()
        refused = seen & self._refused
        raws = [0.0] * len(fields)
        for bit in _PRESENT[seen]:
            intensity = intensities[bit]
            for place, effect in self._effects[bit]:
                raws[place] += effect * intensity
        for place, field in enumerate(fields):
            if field.flips and elapsed > 0.0:
                self._stabiliser.rest(field, elapsed)
            if refused and field.refused & seen:
                cuts[place] = TRIGGER if "self" in field.authority else AUTHORITY
            raw = raws[place]
            if raw:
                if noise:
                    self.noise[place] = noise[place]
                    raw += noise[place]
                cuts[place] |= self._move(place, field, raw, elapsed, gain, now)
            elif elapsed > 0.0 and field.magnitude != field.rest:
                rest = field.rest
                value = rest + (field.magnitude - rest) * exp(elapsed * field.pace)
                field.magnitude = value if field.floor <= value <= field.ceiling else field.bounded(value)
        self.after = [field.magnitude for field in fields]
        return self.asked or any(cuts)

    def push(self, raws: Sequence[float], trigger: Trigger, authority: Authority, now: float) -> bool:
        """One cycle driven by another agent, at the time of the last event; False where nothing was asked."""
        return self._outside(raws, trigger, authority, now, False)

    def seed(self, raws: Sequence[float], trigger: Trigger, authority: Authority, now: float) -> bool:
        """Set a start rather than a change: bound by the envelope, not by the pace of a cycle."""
        return self._outside(raws, trigger, authority, now, True)

    def _outside(
        self, raws: Sequence[float], trigger: Trigger, authority: Authority, now: float, start: bool
    ) -> bool:
        self._begin()
        for place, field in enumerate(self._fields):
            raw = raws[place]
            self.before[place] = field.magnitude
            cut = 0
            if raw:
                self.asked = True
                if trigger not in field.triggers:
                    cut = TRIGGER
                elif authority not in field.authority:
                    cut = AUTHORITY
                elif start:
                    field.magnitude = field.bounded(field.magnitude + raw)
                    field.updated = now
                    field.changed = field.magnitude - self.before[place]
                else:
                    cut = self._move(place, field, raw, 0.0, self._neutral, now)
            self.after[place] = field.magnitude
            self.cuts[place] = cut
        return self.asked

    def _begin(self) -> None:
        self.moved = 0.0
        self.change = 0.0
        self.strongest = -1
        self.asked = False
        if self._noisy:
            self.noise = [0.0] * len(self._fields)

    def _move(
        self, place: int, field: ControlField, raw: float, elapsed: float, gain: float, now: float
    ) -> int:
        self.asked = True
        cut = 0
        limit = field.rate_limit
        if raw > limit:
            raw = limit
            cut = RATE
        elif raw < -limit:
            raw = -limit
            cut = RATE
        base = field.magnitude
        goal = base + raw
        if goal > field.ceiling:
            goal = field.ceiling
            cut |= CEILING
        elif goal < field.floor:
            goal = field.floor
            cut |= FLOOR
        stretch = field.stretch
        if elapsed > 0.0:
            kept = exp(elapsed * field.pace)
            rest = field.rest
            base = rest + (base - rest) * kept
            goal = rest + (goal - rest) * kept
        if stretch > 1.0:
            gain /= stretch
            cut |= SWING
        value = base + gain * (goal - base)
        if not field.floor <= value <= field.ceiling:
            value = field.bounded(value)
        change = value - base
        field.magnitude = value
        field.updated = now
        field.changed = change
        if (value - field.rest) * field.side <= 0.0:
            self._stabiliser.watch(field)
        size = change if change >= 0.0 else -change
        self.moved += size
        if size > abs(self.change):
            self.change = change
            self.strongest = place
        return cut
