"""From pressures to budgets."""

from __future__ import annotations

from typing import NamedTuple

from core.engine.governor.profile import Profile
from core.settings.governor import WeightSettings

_PRESSURES = ("confidence", "curiosity", "arousal", "risk", "frustration")
"""The four that grant, and the one that takes."""


class Budgets(NamedTuple):
    """What the agent may spend, each from 0 to 1."""

    effort: float
    risk: float
    exploration: float
    persistence: float


class Kinetics:
    """Let pressures grant and take budget: selective in granting, global in taking, slow in both."""

    __slots__ = ("_decay", "_inertia", "_scales", "_stagnation", "_weights")

    def __init__(self, profile: Profile, weights: WeightSettings) -> None:
        self._weights: tuple[float, ...] = tuple(
            getattr(weights, f"{pressure}_{budget}") for budget in Budgets._fields for pressure in _PRESSURES
        )
        self._scales = (
            profile.effort_scale,
            profile.risk_scale,
            profile.exploration_scale,
            profile.persistence_scale,
        )
        self._stagnation = (profile.stagnation_effort_scale, profile.stagnation_persistence_scale)
        self._decay = (profile.exploration_decay, profile.persistence_decay, profile.time_decay)
        self._inertia = (profile.inertia, 1.0 - profile.inertia)

    def next(
        self,
        pressures: tuple[float, float, float, float, float],
        before: tuple[float, float, float, float],
        stagnating: bool,
        dt: float,
    ) -> tuple[float, float, float, float]:
        """The budgets after one step: scaled, decayed, clipped, and slowed by inertia."""
        confidence, frustration, curiosity, arousal, danger = pressures
        e1, e2, e3, e4, e5, r1, r2, r3, r4, r5, x1, x2, x3, x4, x5, p1, p2, p3, p4, p5 = self._weights
        effort = e1 * confidence + e2 * curiosity + e3 * arousal + e4 * danger - e5 * frustration
        risk = r1 * confidence + r2 * curiosity + r3 * arousal + r4 * danger - r5 * frustration
        exploration = x1 * confidence + x2 * curiosity + x3 * arousal + x4 * danger - x5 * frustration
        persistence = p1 * confidence + p2 * curiosity + p3 * arousal + p4 * danger - p5 * frustration
        if stagnating:
            for_effort, for_persistence = self._stagnation
            effort *= for_effort
            persistence *= for_persistence
        scale_effort, scale_risk, scale_exploration, scale_persistence = self._scales
        decay_exploration, decay_persistence, decay_time = self._decay
        effort *= scale_effort
        risk *= scale_risk
        exploration = exploration * scale_exploration - (decay_exploration + dt * decay_time)
        persistence = persistence * scale_persistence - (decay_persistence + dt * decay_time)
        keep, take = self._inertia
        old_effort, old_risk, old_exploration, old_persistence = before
        return (
            keep * old_effort + take * (0.0 if effort < 0.0 else 1.0 if effort > 1.0 else effort),
            keep * old_risk + take * (0.0 if risk < 0.0 else 1.0 if risk > 1.0 else risk),
            keep * old_exploration
            + take * (0.0 if exploration < 0.0 else 1.0 if exploration > 1.0 else exploration),
            keep * old_persistence
            + take * (0.0 if persistence < 0.0 else 1.0 if persistence > 1.0 else persistence),
        )
