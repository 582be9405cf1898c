"""The figures that make a governor strict or patient."""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec.structs import asdict

from core.engine.values import Derived
from core.settings.governor import GovernorSettings, ProfileSettings


class Profile(NamedTuple):
    """One temperament, as plain numbers."""

    effort_scale: float
    risk_scale: float
    exploration_scale: float
    persistence_scale: float
    recovery_rate: float  # A second.
    recovery_delay: float  # Seconds.
    recovery_cap: float
    persistence_decay: float  # A step.
    exploration_decay: float  # A step.
    time_decay: float  # A second, of persistence and exploration alike.
    stagnation_window: int
    exhaustion_threshold: float
    max_risk: float
    max_exploration: float
    max_steps: int
    stagnation_floor: float
    stagnation_effort_scale: float
    stagnation_persistence_scale: float
    effort_dip: float = 0.3
    persistence_dip: float = 0.3
    inertia: float = 0.8


_NAMES = ("conservative", "balanced", "aggressive")
# Each figure in the order of the names.
_FIGURES: dict[str, tuple[Any, Any, Any]] = {
    "effort_scale": (0.9, 1.0, 1.2),
    "risk_scale": (0.6, 1.0, 1.3),
    "exploration_scale": (0.5, 1.0, 1.4),
    "persistence_scale": (0.9, 1.0, 1.1),
    "recovery_rate": (0.15, 0.25, 0.5),
    "recovery_delay": (1.0, 0.5, 0.2),
    "recovery_cap": (0.6, 0.5, 0.4),
    "persistence_decay": (0.08, 0.05, 0.02),
    "exploration_decay": (0.1, 0.05, 0.02),
    "time_decay": (0.004, 0.002, 0.001),
    "stagnation_window": (10, 20, 30),
    "exhaustion_threshold": (0.1, 0.05, 0.0),
    "max_risk": (0.8, 1.0, 1.5),
    "max_exploration": (0.6, 1.0, 1.5),
    "max_steps": (60, 100, 200),
    "stagnation_floor": (0.2, 0.1, 0.05),
    "stagnation_effort_scale": (0.5, 0.7, 0.9),
    "stagnation_persistence_scale": (0.4, 0.6, 0.8),
}

PUBLISHED: dict[str, Profile] = {
    name: Profile(**{figure: values[place] for figure, values in _FIGURES.items()}) for place, name in enumerate(_NAMES)
}


@Derived
def chosen(settings: GovernorSettings) -> Profile:
    """The profile the settings name, with the figures they replace."""
    profile = PUBLISHED.get(settings.profile) or Profile(**asdict(settings.observing))
    if not settings.override:
        return profile
    figures = ProfileSettings.parse(settings.override)
    return profile._replace(**{name: getattr(figures, name) for name in settings.override})
