"""One agent's affect: from an event to the parameters it bends, every change on the record."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from struct import Struct as Layout
from typing import Any, Protocol

from blake3 import blake3

from core.engine.affect import lineage as acts
from core.engine.affect.contagion import AUTHORITY_OF, OPEN, Channel, Emission, Exposure, blended
from core.engine.affect.fields import (
    FIELDS,
    NEGATIVE,
    OBSERVED,
    POSITIVE,
    ControlField,
    FieldName,
    FieldReading,
    Observer,
    Vector,
    control_fields,
)
from core.engine.affect.lineage import NO_INTENSITIES, NO_NOISE, Lineage, LineageEntry
from core.engine.affect.policy import BUILT_IN, Policy
from core.engine.affect.reading import RESTRICTIONS, AffectReading, AffectStep, KeptAffect
from core.engine.percept import EVEN, Composition, Modulation, Percept
from core.engine.state import KeptField, Stateful, inner, inners, plain_list
from core.engine.values import Derived, reading_of
from core.events import Event
from core.settings import affect
from core.settings.affect import Authority, HysteresisSettings, Trigger
from core.settings.group import canonical

_KEY = Layout("<qQ")
_WORDS = Layout("<7I4x")
_HALF = 2.0**31


class Noise:
    """A vector of noise for each update, within plus and minus the amplitude."""

    def __init__(self, settings: affect.NoiseSettings, seed: int = 0) -> None:
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

    def __init__(self, settings: affect.StabilitySettings) -> None:
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
                    cuts[place] = acts.TRIGGER if "self" in field.authority else acts.AUTHORITY
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
        """Run one cycle driven by another agent, at the time of the last event; return False if nothing was requested.

        A start is limited by the bounds of each field, not by its pace.
        """
        admitted = list(raws)
        cuts = self.cuts = [0, 0, 0, 0, 0, 0, 0]
        before = self.before = self._magnitudes()
        for place, field in enumerate(self._fields):
            if not raws[place]:
                continue
            if trigger not in field.triggers:
                cuts[place] = acts.TRIGGER
            elif authority not in field.authority:
                cuts[place] = acts.AUTHORITY
            elif start:
                field.magnitude = field.bounded(field.magnitude + raws[place])
                field.updated = now
                field.change = field.magnitude - before[place]
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
            cut = acts.RATE
        goal = self.before[place] + raw
        if goal > ceiling:
            goal = ceiling
            cut |= acts.CEILING
        elif goal < floor:
            goal = floor
            cut |= acts.FLOOR
        rest = field.rest
        if elapsed > 0.0:
            goal = rest + (goal - rest) * exp(elapsed * field.pace)
        if field.stretch > 1.0:
            gain /= field.stretch
            cut |= acts.SWING
        base = field.magnitude
        value = base + gain * (goal - base)
        if not floor <= value <= ceiling:
            value = field.bounded(value)
        change = value - base
        field.magnitude = value
        field.updated = now
        field.change = change
        if (value - rest) * field.side <= 0.0:
            self._stabiliser.watch(field)
        if cut:
            self.cuts[place] |= cut
        return change


_make = tuple.__new__  # Builds a named tuple without its Python-level constructor: one is made for every event.


class Modulator:
    """Compute the targets from deviations: each moves by `reach` times the mean of its drivers."""

    def __init__(self, settings: affect.ModulationSettings) -> None:
        self._promotion = _plain(settings.promotion, 0.5)
        self._breadth = _plain(settings.breadth, 0.5)
        self._branches = _plain(settings.branches, 1.0)
        self._fading = _plain(settings.fading, -1.0)
        self._escalation = _plain(settings.escalation, -0.5)
        self._retries = _plain(settings.retries, 1.0)
        self._delegation = _plain(settings.delegation, 1.0)
        self._acceptance = _plain(settings.acceptance, 0.5)
        self._composition = settings.composition

    def bend(self, deviations: Vector, quarantined: bool) -> Modulation:
        """The eight parameters for deviations from rest; quarantine tightens two and suspends delegation."""
        uncertain, open_, novel, persist, escalate, risk, together = deviations
        caution = risk + uncertain
        base, low, high, reach = self._promotion
        value = base + reach * caution
        promotion = low if value < low else high if value > high else value
        base, low, high, reach = self._breadth
        value = base + reach * (novel + open_)
        breadth = low if value < low else high if value > high else value
        base, low, high, reach = self._branches
        value = base + reach * novel
        branches = low if value < low else high if value > high else value
        base, low, high, reach = self._fading
        value = base + reach * persist
        fading = low if value < low else high if value > high else value
        base, low, high, reach = self._escalation
        value = base + reach * (escalate + uncertain)
        escalation = low if value < low else high if value > high else value
        base, low, high, reach = self._retries
        value = base + reach * persist
        retries = low if value < low else high if value > high else value
        base, low, high, reach = self._delegation
        value = base + reach * together
        delegation = low if value < low else high if value > high else value
        base, low, high, reach = self._acceptance
        value = base + reach * caution
        acceptance = low if value < low else high if value > high else value
        if quarantined:
            promotion, delegation, acceptance = self._promotion[2], 0.0, self._acceptance[2]
        values = (promotion, breadth, branches, fading, escalation, retries, delegation, acceptance)
        return _make(Modulation, values)

    def composition(self, deviations: Vector) -> Composition:
        """How the rest leans; by the bounds of the settings no factor reaches zero."""
        share = self._composition
        uncertain, _, novel, persist, _, risk, _ = deviations
        familiarity = 0.5 + share * (uncertain - novel) / 2.0
        values = (
            1.0 + share * (uncertain + risk) / 2.0,
            1.0 + share * persist,
            1.0 + share * novel,
            1.0 + share * risk,
            1.0 + share * persist,
            0.0 if familiarity < 0.0 else 1.0 if familiarity > 1.0 else familiarity,
        )
        return _make(Composition, values)


class _Target(Protocol):
    @property
    def base(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def reach(self) -> float: ...


def _plain(target: _Target, weight: float) -> tuple[float, float, float, float]:
    return (target.base, target.low, target.high, target.reach * weight)


_BUCKETS = 30  # Slices of the sliding window: a bound on memory, and on how coarsely it slides.


class Quarantine(Stateful):
    """Volatility over a sliding window, and a state that is entered above and left below it.

    Volatility is the sum of all fields' changes in the window, over fields times the window's minutes.
    """

    STATE = ("_width", "_slot", plain_list("_slices"), "_sum", "active", "times")

    def __init__(self, settings: affect.QuarantineSettings) -> None:
        self._enter = settings.enter
        self._release = settings.release
        self._width = settings.window / _BUCKETS
        self._scale = 60.0 / (len(FIELDS) * settings.window)
        self._slices = [0.0] * _BUCKETS
        self._slot = 0
        self._sum = 0.0
        self.active = False
        self.times = 0

    def update(self, now: float, moved: float) -> int:
        """Add one cycle's changes; return 1 if quarantine begins, -1 if it ends, else 0."""
        slots = now / self._width
        if slots >= self._slot + 1:
            self._slide(int(slots))
        if moved:
            self.note(moved)
        volatility = self._sum * self._scale
        if self.active:
            if volatility < self._release:
                self.active = False
                return -1
        elif volatility > self._enter:
            self.active = True
            self.times += 1
            return 1
        return 0

    def note(self, moved: float) -> None:
        """Count changes made since the last cycle."""
        self._slices[self._slot % _BUCKETS] += moved
        self._sum += moved

    def volatility(self, now: float) -> float:
        """Return the volatility at a later moment, without changing the window."""
        slots = int(now / self._width) - self._slot
        if slots <= 0:
            return self._sum * self._scale
        return sum([self._slices[(self._slot - back) % _BUCKETS] for back in range(_BUCKETS - slots)]) * self._scale

    def holds(self, now: float) -> bool:
        """Whether quarantine would still hold at that moment."""
        return self.active and self.volatility(now) >= self._release

    def _slide(self, slot: int) -> None:
        slices = self._slices
        if slot - self._slot >= _BUCKETS:
            for place in range(_BUCKETS):
                slices[place] = 0.0
        else:
            for number in range(self._slot + 1, slot + 1):
                slices[number % _BUCKETS] = 0.0
        self._slot = slot
        self._sum = sum(slices)

    def load(self, state: Sequence[Any]) -> None:
        """Go on from a dump; a window of another length takes the old one's slices over.

        Written by hand: the width is a setting, and a dump's own only says how to read its slices.
        """
        width, slot, slices, total, self.active, self.times = state
        if width == self._width and len(slices) == _BUCKETS:
            self._slot, self._slices, self._sum = slot, list(slices), total
            return
        self._slices = [0.0] * _BUCKETS
        self._slot = int(slot * width / self._width)
        for back in range(len(slices)):
            place = int((slot - back) * width / self._width)
            if self._slot - place < _BUCKETS:
                self._slices[place % _BUCKETS] += slices[(slot - back) % len(slices)]
        self._sum = sum(self._slices)


_STILL = (0,) * len(FIELDS)
LEVELS = (*(f"field.{name}" for name in FIELDS), "volatility")  # Names of what `Affect.levels` gives.


_bound = Derived(Policy.over)
_modulator = Derived(Modulator)
_written: Derived[[affect.AffectSettings], bytes] = Derived(canonical)


class Affect(Stateful):
    """The seventh field of one agent.

    It bends how an agent's mind works, and has no way to say what the agent may do.
    """

    NAMED = True
    STATE = (
        "_at", "_now", inners("_fields"), inner("_observer"),
        KeptField("noise", "self._noise.drawn", "self._noise.drawn = {value}"), inner("_quarantine"),
        inner("_exposure"), inner("lineage"),
    )  # fmt: skip

    def __init__(self, settings: affect.AffectSettings, policy: Policy | None = None, seed: int = 0) -> None:
        self.policy = policy or BUILT_IN
        bound = self._settings = _bound(self.policy, settings)
        self._fields = control_fields(bound)
        self._observer = Observer(bound.observation)
        self._noise = Noise(bound.noise, seed)
        self._updater = Updater(self._fields, bound.hysteresis, Stabiliser(bound.stability), self._noise)
        self._quarantine = Quarantine(bound.quarantine)
        self._modulator = _modulator(bound.modulation)
        self._exposure = Exposure(bound.contagion)
        self.lineage = Lineage(bound.lineage.kept)
        rules = f"{self.policy.name}\n{seed}\n".encode() + _written(self._settings)
        self.lineage.begin(blake3(rules).digest())
        self._now = 0.0
        self._at = 0.0
        self.composition = EVEN
        self._bend()

    def _bend(self) -> None:
        """Compute the modulation from the current fields."""
        deviations = self.deviations
        self.modulation = self._modulator.bend(deviations, self._quarantine.active)
        self.composition = self._modulator.composition(deviations)

    @property
    def quarantined(self) -> bool:
        """Whether affect is held in quarantine."""
        return self._quarantine.active

    @property
    def quarantines(self) -> int:
        """How often quarantine has begun."""
        return self._quarantine.times

    @property
    def deviations(self) -> Vector:
        """Each field's distance from its rest."""
        a, b, c, d, e, f, g = self._fields
        return (
            a.magnitude - a.rest,
            b.magnitude - b.rest,
            c.magnitude - c.rest,
            d.magnitude - d.rest,
            e.magnitude - e.rest,
            f.magnitude - f.rest,
            g.magnitude - g.rest,
        )

    def step(self, event: Event, percept: Percept, novelty: float) -> AffectStep:
        """Advance time, process one event, and return the new modulation."""
        now = percept.now
        elapsed = now - self._now
        if elapsed < 0.0:
            elapsed, now = 0.0, self._now
        self._now = now
        self._at = event.at
        updater = self._updater
        observer = self._observer
        observed = observer.observe(event, percept, novelty)
        entry = None
        moved = change = 0.0
        strongest: FieldName | None = None
        if not observed:
            updater.decay(elapsed)
        elif updater.observe(observed, observer.intensities, elapsed, now):
            entry = self.lineage.append(
                event.at, now, acts.OBSERVED_ACT, observed, observer.intensities, updater.before, updater.after,
                updater.cuts, updater.noise,
            )  # fmt: skip
            moved = updater.moved
            if updater.strongest >= 0:
                strongest = FIELDS[updater.strongest]
                change = updater.change
        turn = self._quarantine.update(now, moved)
        quarantined = self._quarantine.active
        if observed or turn or elapsed > 0.0:
            self._bend()
        return AffectStep(self.modulation, quarantined, turn > 0, turn < 0, strongest, change, entry)

    def resume(self, earlier: KeptAffect) -> LineageEntry:
        """Go on with the affect of an earlier session, faded by the time between, within policy's bounds."""
        before = [field.magnitude for field in self._fields]
        for field, deviation in zip(self._fields, earlier.deviations, strict=True):
            field.magnitude = field.bounded(field.rest + deviation)
            field.magnitude = field.value(earlier.elapsed)
        after = [field.magnitude for field in self._fields]
        entry = self.lineage.append(
            self._at, self._now, acts.RESUMED, 0, NO_INTENSITIES, before, after, _STILL, source=earlier.session
        )
        self._bend()
        return entry

    def hand_down(self, child: str, generation: int) -> Emission | None:
        """Return the affect a new sub-agent may inherit; None in quarantine or beyond the depth limit."""
        if self.quarantined or generation > self._settings.inheritance.depth:
            return None
        entry = self._still(acts.BEQUEATHED, child)
        return Emission(self.deviations, entry.digest)

    def report(self, parent: str) -> Emission | None:
        """Return the affect a finished sub-agent reports to its parent; None in quarantine."""
        if self.quarantined:
            return None
        entry = self._still(acts.REPORTED, parent)
        return Emission(self.deviations, entry.digest)

    def show(self, deviations: Vector | None = None) -> Emission | None:
        """Return the deviations other agents can see; None in quarantine or close to rest."""
        if self._quarantine.active:
            return None
        deviations = deviations or self.deviations
        places = self._exposure.strong_places(deviations)
        return Emission(deviations, self.lineage.head, places) if places else None

    def receive(
        self, emission: Emission, channel: Channel, source: str, factors: Sequence[float] = OPEN
    ) -> LineageEntry | None:
        """Take in another agent's emission as far as policy allows; return the new link, or None if nothing changed.

        Quarantine takes note of it at once, and begins or ends with the agent's next event.
        """
        fields, updater, now = self._fields, self._updater, self._now
        authority = AUTHORITY_OF[channel]
        if channel == "inheritance" or channel == "return":
            start, inheritance = channel == "inheritance", self._settings.inheritance
            share = inheritance.blend if start else inheritance.back
            masks = [field.inherits if start else field.returns for field in fields]
            raws = blended(fields, emission.deviations, share, masks)
            if not updater.receive(raws, channel, authority, now, start=start):
                return None
            act = acts.INHERITED if start else acts.RETURNED
        else:
            pulls = self._exposure.pull(fields, emission, channel, now, factors)
            if pulls is None:
                return None
            updater.receive(pulls, "contagion", authority, now)
            self._exposure.spend(updater.before, updater.after)
            updater.cuts[:] = [mine | theirs for mine, theirs in zip(updater.cuts, self._exposure.cuts, strict=True)]
            act = acts.EXPOSED
        entry = self._record(act, source, emission.head)
        self._quarantine.note(updater.moved)
        self._bend()
        return entry

    def read(self, at: float | None = None, now: float | None = None) -> AffectReading:
        """Affect at a later moment, by the clock or in subjective time, leaving it as it is."""
        later = self._now
        if now is not None:
            later = max(later, now)
        elif at is not None:
            later += max(0.0, at - self._at)
        elapsed = later - self._now
        quarantined = self._quarantine.holds(later)
        values = [field.value(elapsed) for field in self._fields]
        deviations: Any = tuple([value - field.rest for value, field in zip(values, self._fields, strict=True)])
        return AffectReading(
            policy=self.policy.name,
            fields=tuple(
                reading_of(FieldReading, field, magnitude=value, time_constant=field.time_constant * field.stretch)
                for field, value in zip(self._fields, values, strict=True)
            ),
            modulation=self._modulator.bend(deviations, quarantined),
            composition=self._modulator.composition(deviations),
            volatility=self._quarantine.volatility(later),
            enter=self._settings.quarantine.enter,
            release=self._settings.quarantine.release,
            quarantined=quarantined,
            quarantines=self._quarantine.times,
            restrictions=RESTRICTIONS if quarantined else (),
            failures=self._observer.streak,
            novelty_worth=self._observer.worth,
            lineage=self.lineage.entries,
            head=self.lineage.head.hex(),
            changes=self.lineage.count,
        )

    def levels(self) -> tuple[float, ...]:
        """Magnitudes in the order of FIELDS, then volatility: what a curve is drawn from."""
        levels = [field.magnitude for field in self._fields]
        levels.append(self._quarantine.volatility(self._now))
        return tuple(levels)

    def restored(self) -> None:
        """Bend the mind as the fields say."""
        self._bend()

    def _record(self, act: int, source: str, partner: bytes) -> LineageEntry:
        done = self._updater
        return self.lineage.append(
            self._at, self._now, act, 0, NO_INTENSITIES, done.before, done.after, done.cuts, done.noise, source, partner
        )

    def _still(self, act: int, other: str) -> LineageEntry:
        values = [field.magnitude for field in self._fields]
        return self.lineage.append(self._at, self._now, act, 0, NO_INTENSITIES, values, values, _STILL, source=other)
