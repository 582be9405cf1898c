"""The emotion engine: axes that impulses raise and time lowers."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import islice
from math import exp, log
from typing import Any, TypeAlias, overload

from msgspec.structs import asdict

from core.engine.percept import AXES, Axis, Cause
from core.engine.receptor.readings import Contribution, Why
from core.engine.state import Stateful, each, tupled
from core.engine.values import Derived
from core.events import Action, Outcome
from core.settings.receptor import EmotionSettings, Impulse, ImpulseSettings

Vector: TypeAlias = tuple[float, float, float, float, float, float]

FRUSTRATION, SEEKING, CONFIDENCE, FATIGUE, FLOW, UNCERTAINTY = range(6)
ZERO: Vector = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
POSITION: dict[Axis, int] = {axis: position for position, axis in enumerate(AXES)}


# The impulse of a tool use by its outcome alone; `ActionFacts` adds others. A command with empty output passed.
CAUSES: dict[tuple[Action, Outcome], str] = {
    ("shell_exec", "failure"): "shell_failure",
    ("shell_exec", "success"): "shell_success",
    ("shell_exec", "empty"): "shell_success",
    ("file_edit", "success"): "file_edit",
    ("search", "empty"): "search_empty",
    ("search", "success"): "search_found",
    ("file_read", "success"): "file_read",
    ("file_read", "empty"): "file_read",
    ("memory_read", "success"): "memory_read",
    ("memory_read", "empty"): "memory_miss",
    ("memory_write", "success"): "memory_write",
}
LONG_PROMPT = "long_prompt"
EVERY_EVENT = "every_event"
CONTEXT_SHIFT = "context_shift"
TURN_TO_TRIAL_ERROR = "turn_to_trial_error"
IMPLEMENTATION = "implementation"


_Met: TypeAlias = tuple[tuple[str, ...], str, bool]  # Causes, pattern and shift of one event.
_ROWS = 4096  # Most sums cached; the cache is emptied when it is full.


class Impulses:
    """Sum the impulses of each combination of causes, pattern and shift once for all agents."""

    def __init__(self, settings: ImpulseSettings) -> None:
        self.weariness = settings.fatigue_per_hour / 3600.0  # Fatigue that each second worked adds to an event.
        self.by_name, self._rows = _rows_by_name(settings)
        self.implementation = self.by_name[IMPLEMENTATION]  # The row that failures and frustration reduce.

    def row(self, causes: tuple[str, ...], pattern: str, shifted: bool) -> Vector:
        """Return the impulses of an event, without the fatigue of hours worked."""
        key = (causes, pattern, shifted)
        total = self._rows.get(key)
        if total is None:
            if len(self._rows) >= _ROWS:
                self._rows.clear()
            total = self._rows[key] = _sum([row for _, row in self._parts(*key)])
        return total

    def parts(
        self, causes: tuple[str, ...], pattern: str, shifted: bool, now: float, axis: int, share: float
    ) -> list[tuple[str, float]]:
        """Return what an event adds to one axis, impulse by impulse; `share` is what is left of implementation's."""
        parts = [
            (name, row[axis] * share if name == IMPLEMENTATION else row[axis])
            for name, row in self._parts(causes, pattern, shifted)
        ]
        if axis == FATIGUE:
            name, amount = parts[0]
            parts[0] = (name, amount + self.weariness * now)
        return [(name, amount) for name, amount in parts if amount]

    def _parts(self, causes: tuple[str, ...], pattern: str, shifted: bool) -> list[tuple[str, Vector]]:
        names = (EVERY_EVENT, *causes, pattern, CONTEXT_SHIFT if shifted else "")
        return [(name, self.by_name.get(name, ZERO)) for name in names if name]


@Derived
def _rows_by_name(settings: ImpulseSettings) -> tuple[dict[str, Vector], dict[_Met, Vector]]:
    """Return each row by its name, and a cache of sums that agents with these settings share."""
    rows: dict[str, Vector] = {"": ZERO}
    for name, row in asdict(settings).items():
        if isinstance(row, Impulse):
            rows[name] = _impulse_vector(row)
    return rows, {}


def _impulse_vector(row: Impulse) -> Vector:
    frustration, seeking, confidence, fatigue, flow, uncertainty = (getattr(row, axis, 0.0) for axis in AXES)
    return (frustration, seeking, confidence, fatigue, flow, uncertainty)


def _sum(rows: list[Vector]) -> Vector:
    a, b, c, d, e, f = (sum(column) for column in zip(*rows, strict=True))
    return (a, b, c, d, e, f)


COMPACTION = "compaction"
DISRUPTION = "disruption"
_COMPACTED = (COMPACTION,)
_NEGLIGIBLE = 1e-12
_NOTICEABLE = 0.002  # What is left of an impulse that is named as a cause.
_SMALL = 0.25  # Share of the strongest cause below which the second is not named.


# One event: number, at, now, causes, pattern, whether it shifted, the axes after it, flow it disrupted, and the shares
# of the implementation impulses for confidence and for flow.
_Mark: TypeAlias = tuple[int, float, float, tuple[str, ...], str, bool, Vector, float, float, float]


def _mark(row: Sequence[Any]) -> _Mark:
    event, at, now, causes, pattern, shifted, after, disruption, calm, flowing = row
    return (event, at, now, tuple(causes), pattern, shifted, vector(after), disruption, calm, flowing)


class EmotionEngine(Stateful):
    """Sum impulses that fade by true half-lives, each axis held within 0 and 1.

    If a bound cuts an event off, its impulses count in proportion to what took effect, so the contributions
    to a value always sum to it. `undisturbed` is flow as it would be had no signal ever disrupted it.
    """

    STATE = ("_now", tupled("values"), "undisturbed", each("_marks", tuple, _mark))

    def __init__(self, settings: EmotionSettings, impulses: ImpulseSettings) -> None:
        self._given = (settings, impulses)
        self._impulses = Impulses(impulses)
        self._weariness = self._impulses.weariness
        self._rates = vector([-log(2.0) / getattr(settings.half_life, axis) for axis in AXES])
        self._relief = settings.compaction_relief
        self._trend = settings.trend
        self._now = 0.0
        self._marks: deque[_Mark] = deque(maxlen=settings.remembered + 1)
        self._marks.append((0, 0.0, 0.0, (), "", False, ZERO, 0.0, 1.0, 1.0))
        self.values: Vector = ZERO
        self.undisturbed = 0.0

    def update(
        self, event: int, at: float, now: float, causes: tuple[str, ...], pattern: str, shifted: bool, calm: float = 1.0
    ) -> None:
        """Let the axes fade until `now`, then add the impulses of the event.

        `calm` is the share of the implementation pattern's impulses that failures leave; for flow,
        frustration reduces it further.
        """
        p, q, r, s, t, u = self._impulses.row(causes, pattern, shifted)
        a, b, c, d, e, f = self.values
        raw = self.undisturbed
        elapsed = now - self._now
        if elapsed > 0.0:
            i, j, k, m, n, o = self._rates
            a *= exp(i * elapsed)
            b *= exp(j * elapsed)
            c *= exp(k * elapsed)
            d *= exp(m * elapsed)
            fade = exp(n * elapsed)
            e *= fade
            raw *= fade
            f *= exp(o * elapsed)
            self._now = now
        flowing = calm * (1.0 - a)
        if pattern == IMPLEMENTATION:
            r -= (1.0 - calm) * self._impulses.implementation[CONFIDENCE]
            t -= (1.0 - flowing) * self._impulses.implementation[FLOW]
        a += p
        b += q
        c += r
        d += s + self._weariness * now
        e += t
        raw += t
        f += u
        self.undisturbed = 0.0 if raw < 0.0 else 1.0 if raw > 1.0 else raw
        self.values = values = (
            0.0 if a < 0.0 else 1.0 if a > 1.0 else a,
            0.0 if b < 0.0 else 1.0 if b > 1.0 else b,
            0.0 if c < 0.0 else 1.0 if c > 1.0 else c,
            1.0 if d > 1.0 else d,
            0.0 if e < 0.0 else 1.0 if e > 1.0 else e,
            0.0 if f < 0.0 else 1.0 if f > 1.0 else f,
        )
        self._marks.append((event, at, now, causes, pattern, shifted, values, 0.0, calm, flowing))

    def relieve(self, event: int, at: float, now: float) -> None:
        """Reduce fatigue after a compaction of the agent's context."""
        a, b, c, d, e, f = self.ahead(now)
        self.undisturbed *= exp(self._rates[FLOW] * (now - self._now))
        self._now = now
        self.values = (a, b, c, d * (1.0 - self._relief), e, f)
        self._marks.append((event, at, now, _COMPACTED, "", False, self.values, 0.0, 1.0, 1.0))

    def disrupt(self, amount: float) -> None:
        """Reduce flow, because a signal fired on the last event."""
        a, b, c, d, e, f = self.values
        amount = min(amount, e)
        self.values = (a, b, c, d, e - amount, f)
        last = self._marks[-1]
        self._marks[-1] = (*last[:6], self.values, amount, *last[8:])

    def ahead(self, now: float) -> Vector:
        """Return the axes as they will be at a later moment."""
        elapsed = now - self._now
        return self.values if elapsed <= 0.0 else self._faded(self.values, elapsed)

    def trend(self, now: float) -> Vector:
        """Return the change of each axis since a while ago, or since the oldest event remembered."""
        then = now - self._trend
        since, past = self._marks[0][2], self._marks[0][6]
        for _, _, moment, _, _, _, values, _, _, _ in self._marks:
            if moment > then:
                break
            since, past = moment, values
        past = self._faded(past, max(then - since, 0.0))
        a, b, c, d, e, f = (new - old for new, old in zip(self.ahead(now), past, strict=True))
        return (a, b, c, d, e, f)

    def why(self, axis: Axis, now: float) -> Why:
        """Return the impulses of recent events that make up the value; older ones are one figure."""
        position = POSITION[axis]
        rate = self._rates[position]
        contributions: list[Contribution] = []
        since, level = self._marks[0][2], self._marks[0][6][position]
        older = level * exp(rate * (now - since))
        for mark in islice(self._marks, 1, None):
            event, at, moment, _, _, _, values, _, _, _ = mark
            faded = exp(rate * (moment - since))
            left = exp(rate * (now - moment))
            for source, amount in self._effects(mark, position, level * faded):
                if amount:
                    contributions.append(Contribution(event, at, source, amount * left, amount))
            since, level = moment, values[position]
        return Why(
            axis=axis, value=self.ahead(now)[position], contributions=tuple(reversed(contributions)), older=older
        )

    def causes(self, axis: Axis, now: float) -> tuple[Cause, ...]:
        """Return the two impulses that raised an axis most, and how often; a small second one is left out."""
        position = POSITION[axis]
        rate, rows, first = self._rates[position], self._impulses.by_name, self._marks[0]
        amounts: dict[str, float] = {"earlier_acts": first[6][position] * exp(rate * (now - first[2]))}
        counts: dict[str, int] = {"earlier_acts": 0}
        for _, _, moment, causes, pattern, shifted, _, _, calm, flowing in islice(self._marks, 1, None):
            left = exp(rate * (now - moment))
            for name in (EVERY_EVENT, *causes, pattern, CONTEXT_SHIFT if shifted else ""):
                amount = left * rows.get(name, ZERO)[position]
                if name == IMPLEMENTATION:
                    amount *= flowing if position == FLOW else calm
                if amount >= _NOTICEABLE:
                    amounts[name] = amounts.get(name, 0.0) + amount
                    counts[name] = counts.get(name, 0) + 1
        ranked = sorted(amounts, key=lambda source: -amounts[source])[:2]
        least = amounts[ranked[0]] * _SMALL
        return tuple([(source, counts[source]) for source in ranked if amounts[source] >= least])

    def still(self) -> EmotionEngine:
        """Return a copy that does not change, to explain values later."""
        other = EmotionEngine(*self._given)
        other._now, other.values, other.undisturbed = self._now, self.values, self.undisturbed
        other._marks = self._marks.copy()
        return other

    def _effects(self, mark: _Mark, position: int, before: float) -> list[tuple[str, float]]:
        _, _, moment, causes, pattern, shifted, values, disrupted, calm, flowing = mark
        disruption = disrupted if position == FLOW else 0.0
        effect = values[position] + disruption - before
        if causes == _COMPACTED:
            return [(COMPACTION, effect)] if position == FATIGUE else []
        left_share = flowing if position == FLOW else calm if position == CONFIDENCE else 1.0
        parts = self._impulses.parts(causes, pattern, shifted, moment, position, left_share)
        total = sum([amount for _, amount in parts])
        share = effect / total if abs(total) > _NEGLIGIBLE else 1.0
        return [*((source, amount * share) for source, amount in parts), (DISRUPTION, -disruption)]

    def _faded(self, values: Vector, elapsed: float) -> Vector:
        a, b, c, d, e, f = values
        i, j, k, m, n, o = self._rates
        return (
            a * exp(i * elapsed),
            b * exp(j * elapsed),
            c * exp(k * elapsed),
            d * exp(m * elapsed),
            e * exp(n * elapsed),
            f * exp(o * elapsed),
        )


def vector(values: Sequence[float]) -> Vector:
    a, b, c, d, e, f = values
    return (a, b, c, d, e, f)


class Explanation(Sequence[Why]):
    """The contributions to each axis at one moment, in the order of AXES, computed when they are read."""

    def __init__(self, emotion: EmotionEngine, now: float) -> None:
        self._still = emotion.still()
        self._now = now
        self._made: tuple[Why, ...] | None = None

    def __len__(self) -> int:
        return len(AXES)

    @overload
    def __getitem__(self, place: int) -> Why: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Why, ...]: ...
    def __getitem__(self, place: int | slice) -> Why | tuple[Why, ...]:
        if self._made is None:
            self._made = tuple([self._still.why(axis, self._now) for axis in AXES])
        return self._made[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Explanation) and self._now == other._now and self._still.dump() == other._still.dump()

    def __hash__(self) -> int:
        return hash((self._now, self._still.values))
