"""The score of each method, term by term."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from core.engine.percept import AGENT_STATES, AXES, PATTERNS, SIGNAL_AXES, AgentState, Axis, Pattern, Signal, SignalName
from core.engine.response.rules import CUE_OF, CUES, Cue, Method, MethodType, Mode, RuleSet
from core.engine.state import KeptField, Stateful, custom, mapped, plain_list, rows, through
from core.engine.values import Derived, Value
from core.events import ACTIONS, Action
from core.settings.response import ScoringSettings

Cues = Sequence[tuple[Cue, float]]  # What may be heard beside the receptor's signals, and how strongly.

_SLACK = 1.0 - 1e-9
_NEVER = float("inf")


class Candidate(Value, frozen=True):
    """One method at the last act: every factor of its score, and why it fired or did not."""

    id: str
    type: MethodType
    mode: Mode
    cue: Cue | None  # The signal that fits best; None where none of its signals stands.
    signal_match: float
    state_match: float
    intensity: float
    sensitivity: float
    learned: float  # 1 plus the learned delta.
    recency: float
    score: float
    threshold: float
    fired: bool
    why: str


class Shot(NamedTuple):
    """A method that fires."""

    method: Method
    cue: Cue
    intensity: float
    score: float


# What no flow may keep from the person; loops pass where the method says so, as the built-in one does.
MUST_KNOW: frozenset[Cue] = frozenset(("halt", "pressure", "mortality"))


def _flows(signals: tuple[Signal, ...]) -> bool:
    """While the agent flows no other signal is sent."""
    return bool(signals) and signals[0][0] == "flow_active"


def _passes(cue: Cue, method: Method) -> bool:
    """Whether flow lets a method hear a cue: what the person must know always passes."""
    return cue in MUST_KNOW or (cue == "loop" and method.trigger.despite_flow)


class _Rule:
    """A method with its numbers at hand, the same for every agent."""

    def __init__(self, place: int, method: Method, settings: ScoringSettings, scales: Mapping[Cue, float]) -> None:
        trigger = method.trigger
        self.place = place
        self.method = method
        self.states = trigger.states
        self.sensitivity = trigger.sensitivity
        self.threshold = settings.threshold if trigger.threshold is None else trigger.threshold
        self.cooldown: float = getattr(settings, trigger.frequency)
        self.least: dict[Cue, float] = {}  # Intensity that no other factor could lift above the threshold.
        for cue in trigger.signals:
            most = self.sensitivity * scales[cue]
            self.least[cue] = self.threshold / most * _SLACK if most > 0.0 else _NEVER
        least = min(self.least.values())
        self.soonest = self.cooldown * least ** (1.0 / settings.recovery) * _SLACK if least < 1.0 else _NEVER


class _Audience:
    """Which methods listen to which cue under these settings, shared by all agents."""

    def __init__(self, settings: ScoringSettings, rules: RuleSet, deltas: Mapping[Cue, float]) -> None:
        self.scales: dict[Cue, float] = {cue: 1.0 + deltas.get(cue, 0.0) for cue in CUES}
        self.rules = [_Rule(place, method, settings, self.scales) for place, method in enumerate(rules.methods)]
        self.listening: dict[Cue, list[tuple[float, _Rule]]] = {
            cue: [(rule.least[cue], rule) for rule in self.rules if rule.method.enabled and cue in rule.least]
            for cue in CUES
        }
        # Intensity of each cue up to which no method could fire.
        self.floor: dict[Cue, float] = {
            cue: min((least for least, _ in rules), default=_NEVER) for cue, rules in self.listening.items()
        }


_audience = Derived(_Audience)


class Scorer(Stateful):
    """Score every method that hears something, and remember when each fired.

    Rest is counted in the log's wall time: it spares the person, whose patience does not stop with the agent.
    Acts alone are weighed; between them nothing new is felt.
    """

    STATE = (
        through("fired", "_take_fired"), "_at", "_state", rows("_signals", Signal), rows("_extra", lambda *pair: pair),
        mapped("_before"),
    )  # fmt: skip

    def __init__(self, settings: ScoringSettings, rules: RuleSet, deltas: Mapping[Cue, float]) -> None:
        self._mismatch = settings.mismatch
        self._power = settings.recovery
        audience = _audience(settings, rules, deltas)
        self._scales, self._rules, self._listening = audience.scales, audience.rules, audience.listening
        self.floor = audience.floor
        self._last: list[float | None] = [None] * len(self._rules)  # When each rule last fired.
        # Before this no signal, of at most 1, could make each fire again.
        self._wake = [-_NEVER] * len(self._rules)
        self._at = 0.0
        self._state: AgentState = "idle"
        self._signals: tuple[Signal, ...] = ()
        self._extra: Cues = ()
        self._before: dict[str, float | None] = {}

    def rest(self, at: float, state: AgentState, signals: tuple[Signal, ...]) -> None:
        """An act at which no method can fire."""
        self._at = at
        self._state = state
        self._signals = signals
        if self._extra:
            self._extra = ()
        if self._before:
            self._before = {}

    def update(self, at: float, state: AgentState, signals: tuple[Signal, ...], extra: Cues = ()) -> list[Shot]:
        """Weigh all methods that hear something; those above their threshold, the best first."""
        self.rest(at, state, signals)
        self._extra = tuple(extra)
        flow = _flows(signals)
        best: dict[str, Shot] = {}
        for cue, intensity in self._cues():
            if intensity <= self.floor[cue]:
                continue
            scale = self._scales[cue]
            for least, rule in self._listening[cue]:
                if intensity <= least or at < self._wake[rule.place]:
                    continue
                method = rule.method
                if flow and not _passes(cue, method):
                    continue
                score = self._score(rule, self._last[rule.place], intensity, scale)
                if score > rule.threshold:
                    current = best.get(method.id)
                    if current is None or score > current.score:
                        best[method.id] = Shot(method, cue, intensity, score)
        if not best:
            return []
        for rule in self._rules:
            if rule.method.id in best:
                self._before[rule.method.id] = self._last[rule.place]
                self._set_fired(rule, at)
        return sorted(best.values(), key=lambda shot: -shot.score)

    def _cues(self) -> list[tuple[Cue, float]]:
        """Return the cues of the last act."""
        if _flows(self._signals):
            return list(self._extra)
        return [(CUE_OF[name], intensity) for name, intensity, _ in self._signals] + list(self._extra)

    def _score(self, rule: _Rule, last: float | None, intensity: float, scale: float) -> float:
        match = 1.0 if self._state in rule.states else self._mismatch
        return match * intensity * rule.sensitivity * scale * self._recency(rule, last)

    def _recency(self, rule: _Rule, last: float | None) -> float:
        if last is None:
            return 1.0
        elapsed = self._at - last
        if elapsed >= rule.cooldown:
            return 1.0
        return (elapsed / rule.cooldown) ** self._power if elapsed > 0.0 else 0.0

    def cooldown(self, name: str) -> float:
        """Return how long a method rests; 0 if it is unknown."""
        return next((rule.cooldown for rule in self._rules if rule.method.id == name), 0.0)

    def candidates(self) -> tuple[Candidate, ...]:
        """Every method at the last act, in the order of the rules."""
        cues = self._cues()
        return tuple([self._candidate(rule, cues) for rule in self._rules])

    def _candidate(self, rule: _Rule, cues: Sequence[tuple[Cue, float]]) -> Candidate:
        method = rule.method
        name = method.id
        last = self._before.get(name, self._last[rule.place])
        audible = [(cue, intensity) for cue, intensity in cues if cue in rule.least]
        silenced = flow = _flows(self._signals)
        if flow and any(_passes(cue, method) for cue, _ in audible):
            audible = [(cue, intensity) for cue, intensity in audible if _passes(cue, method)]
            silenced = False
        scored = [(self._score(rule, last, intensity, self._scales[cue]), cue, intensity) for cue, intensity in audible]
        score, cue, intensity = max(scored, key=lambda one: one[0]) if scored else (0.0, None, 0.0)
        return Candidate(
            id=name,
            type=method.type,
            mode=method.mode,
            cue=cue,
            signal_match=1.0 if cue else 0.0,
            state_match=1.0 if self._state in rule.states else self._mismatch,
            intensity=intensity,
            sensitivity=rule.sensitivity,
            learned=self._scales[cue] if cue else 1.0,
            recency=self._recency(rule, last),
            score=score,
            threshold=rule.threshold,
            fired=name in self._before,
            why=self._why(rule, last, cue, intensity, score, silenced),
        )

    def _why(
        self, rule: _Rule, last: float | None, cue: Cue | None, intensity: float, score: float, silenced: bool
    ) -> str:
        if rule.method.id in self._before:
            return f"fired: {score:.3f} is above {rule.threshold:g}"
        if not rule.method.enabled:
            return "switched off"
        if silenced:
            return "muted by flow"
        if cue is None:
            return f"not triggered by {', '.join(rule.least)}"
        if intensity <= 0.0:
            return f"{cue} is held below its threshold"
        reasons = [f"{score:.3f} is not above {rule.threshold:g}"]
        if self._state not in rule.states:
            reasons.append(f"the state is {self._state}, not {' or '.join(rule.states)}")
        if last is not None and self._at - last < rule.cooldown:
            reasons.append(f"cooling down, {max(0.0, self._at - last):.0f} of {rule.cooldown:.0f} s")
        if rule.sensitivity * self._scales[cue] * intensity <= rule.threshold:
            reasons.append(f"{cue} is only {intensity:.2f} above its threshold")
        return "; ".join(reasons)

    @property
    def fired(self) -> tuple[tuple[str, float], ...]:
        """When each method that did fire last did."""
        fired = zip(self._rules, self._last, strict=True)
        return tuple([(rule.method.id, last) for rule, last in fired if last is not None])

    def _take_fired(self, fired: Sequence[Sequence[Any]]) -> None:
        """Forget methods that no longer exist."""
        by_method: dict[str, float] = dict(fired)  # type: ignore[arg-type]
        for rule in self._rules:
            self._set_fired(rule, by_method.get(rule.method.id))

    def _set_fired(self, rule: _Rule, at: float | None) -> None:
        self._last[rule.place] = at
        self._wake[rule.place] = -_NEVER if at is None else at + rule.soonest


class SessionTally(Value, frozen=True):
    """The statistics of one agent's session so far."""

    at: float
    seconds: float  # Of subjective time.
    patterns: dict[Pattern, int]
    states: dict[AgentState, int]
    actions: dict[Action, int]
    fires: dict[Axis, int]  # Signals that began to stand, of each axis.
    snapshots: int
    mean: dict[Axis, float]  # Of the snapshots, one a theta tick.
    variance: float  # Of the emotion vector over the snapshots, summed over its axes.


def _counted(name: str, keys: tuple[str, ...]) -> KeptField:
    """A dictionary of counts with a fixed set of keys."""
    return custom(name, lambda counts: tuple(counts.values()), lambda row: dict(zip(keys, row, strict=True)))


class ActTally(Stateful):
    """Count acts as they go by, and look at the axes once a theta tick."""

    STATE = (
        _counted("patterns", PATTERNS), _counted("states", AGENT_STATES), _counted("actions", ACTIONS),
        _counted("_fires", AXES), plain_list("_sums"), plain_list("_squares"), "_snapshots", "_at", "_now",
    )  # fmt: skip

    def __init__(self) -> None:
        self.patterns: dict[Pattern, int] = dict.fromkeys(PATTERNS, 0)
        self.states: dict[AgentState, int] = dict.fromkeys(AGENT_STATES, 0)
        self.actions: dict[Action, int] = dict.fromkeys(ACTIONS, 0)
        self._fires: dict[Axis, int] = dict.fromkeys(AXES, 0)
        self._sums = [0.0] * len(AXES)
        self._squares = [0.0] * len(AXES)
        self._snapshots = 0
        self._at = 0.0
        self._now = 0.0

    def time(self, at: float, now: float) -> None:
        """Note how far the session has come."""
        self._at, self._now = at, now

    def fired(self, name: SignalName) -> None:
        """Count a signal that begins; a compound one counts for both its axes."""
        for axis in SIGNAL_AXES[name]:
            self._fires[axis] += 1

    def sample(self, axes: Sequence[float]) -> None:
        """One snapshot of the emotion vector."""
        self._snapshots += 1
        for place, value in enumerate(axes):
            self._sums[place] += value
            self._squares[place] += value * value

    def read(self) -> SessionTally:
        snapshots = self._snapshots or 1
        means = [total / snapshots for total in self._sums]
        spread = sum(
            [max(0.0, square / snapshots - mean * mean) for square, mean in zip(self._squares, means, strict=True)]
        )
        return SessionTally(
            at=self._at,
            seconds=self._now,
            patterns=dict(self.patterns),
            states=dict(self.states),
            actions=dict(self.actions),
            fires=dict(self._fires),
            snapshots=self._snapshots,
            mean=dict(zip(AXES, means, strict=True)),
            variance=spread,
        )
