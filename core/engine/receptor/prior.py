"""What was normal in earlier sessions: the initial condition of the next one, never a command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from msgspec import Struct, field

from core.engine.percept import AXES, PATTERNS, Axis, Pattern
from core.events import ACTIONS, Action
from core.settings.response import PriorSettings

Name = TypeVar("Name", bound=str)

_DAY = 86_400.0


class AmbientPrior(Struct, frozen=True, rename="camel"):
    """Where axes used to lie, and where they used to fire."""

    baseline_emotion: dict[Axis, float] = field(default_factory=dict)
    adapted_thresholds: dict[Axis, float] = field(default_factory=dict)


class Prior(Struct, frozen=True, rename="camel"):
    """Body memory across sessions; its names are those of its file."""

    ts: float
    """Event time of the newest session's last event."""
    session_count: int
    ambient: AmbientPrior
    pattern_distribution: dict[Pattern, float]
    action_signature: dict[Action, float]


def distribution(counts: Mapping[Name, int], names: tuple[Name, ...]) -> dict[Name, float]:
    """Counts as shares of their sum; empty where nothing was counted."""
    total = sum(counts.get(name, 0) for name in names)
    return {name: counts.get(name, 0) / total for name in names} if total else {}


def session_prior(
    ts: float,
    baseline: Mapping[Axis, float],
    thresholds: Mapping[Axis, float],
    patterns: Mapping[Pattern, int],
    actions: Mapping[Action, int],
) -> Prior:
    """One session as it would stand alone."""
    return Prior(
        ts=ts,
        session_count=1,
        ambient=AmbientPrior(dict(baseline), dict(thresholds)),
        pattern_distribution=distribution(patterns, PATTERNS),
        action_signature=distribution(actions, ACTIONS),
    )


def blended(old: Prior | None, session: Prior, settings: PriorSettings) -> Prior:
    """The prior after one more session; the first one is taken whole."""
    if old is None:
        return session
    weight = settings.blend
    return Prior(
        ts=max(old.ts, session.ts),
        session_count=old.session_count + session.session_count,
        ambient=AmbientPrior(
            mixed(old.ambient.baseline_emotion, session.ambient.baseline_emotion, weight, AXES),
            mixed(old.ambient.adapted_thresholds, session.ambient.adapted_thresholds, weight, AXES),
        ),
        pattern_distribution=mixed(old.pattern_distribution, session.pattern_distribution, weight, PATTERNS),
        action_signature=mixed(old.action_signature, session.action_signature, weight, ACTIONS),
    )


def mixed(
    old: Mapping[Name, float], new: Mapping[Name, float], weight: float, names: tuple[Name, ...]
) -> dict[Name, float]:
    """Both by weight; where one says nothing, the other alone."""
    if not new:
        return dict(old)
    if not old:
        return dict(new)
    return {
        name: (1.0 - weight) * old.get(name, 0.0) + weight * new.get(name, 0.0)
        for name in names
        if name in old or name in new
    }


def usable(prior: Prior, at: float, settings: PriorSettings) -> bool:
    """Whether a prior is from before a session that begins at `at`, and near enough in time.

    A later one may hold the session itself, which would begin otherwise each time it is watched.
    """
    return settings.enabled and 0.0 <= at - prior.ts <= settings.age * _DAY


def seeds(prior: Prior) -> dict[Axis, float]:
    """The baselines an ambient estimator begins with."""
    return {
        axis: min(max(prior.ambient.baseline_emotion[axis], 0.0), 1.0)
        for axis in AXES
        if axis in prior.ambient.baseline_emotion
    }
