"""The published figures, our own, and how one is chosen."""

from __future__ import annotations

import pytest
from msgspec import to_builtins

from core.engine.governor.governor import Governor
from core.engine.governor.profile import PUBLISHED, Profile, chosen
from core.settings.governor import GovernorSettings, ProfileName, ProfileSettings
from core.settings.group import walk_tunables

TABLE: dict[str, tuple[float, float, float]] = {
    "effort_scale": (0.9, 1, 1.2),
    "risk_scale": (0.6, 1, 1.3),
    "exploration_scale": (0.5, 1, 1.4),
    "persistence_scale": (0.9, 1, 1.1),
    "recovery_rate": (0.15, 0.25, 0.5),
    "recovery_delay": (1, 0.5, 0.2),
    "recovery_cap": (0.6, 0.5, 0.4),
    "persistence_decay": (0.08, 0.05, 0.02),
    "exploration_decay": (0.10, 0.05, 0.02),
    "time_decay": (0.004, 0.002, 0.001),
    "stagnation_window": (10, 20, 30),
    "exhaustion_threshold": (0.1, 0.05, 0),
    "max_risk": (0.8, 1, 1.5),
    "max_exploration": (0.6, 1, 1.5),
    "max_steps": (60, 100, 200),
    "stagnation_floor": (0.2, 0.1, 0.05),
    "stagnation_effort_scale": (0.5, 0.7, 0.9),
    "stagnation_persistence_scale": (0.4, 0.6, 0.8),
    "effort_dip": (0.3, 0.3, 0.3),
    "persistence_dip": (0.3, 0.3, 0.3),
    "inertia": (0.8, 0.8, 0.8),
}


def test_the_published_profiles_are_as_published() -> None:
    for column, name in enumerate(("conservative", "balanced", "aggressive")):
        assert PUBLISHED[name]._asdict() == {figure: row[column] for figure, row in TABLE.items()}


@pytest.mark.parametrize("name", ["conservative", "balanced", "aggressive"])
def test_a_published_profile_is_selected_by_name(name: ProfileName) -> None:
    settings = GovernorSettings(profile=name, observing=ProfileSettings(max_steps=7))
    assert chosen(settings) == PUBLISHED[name]
    assert Governor(settings).read().profile_name == name


def test_our_own_profile_is_the_default_and_tunable() -> None:
    assert chosen(GovernorSettings()) == Profile(**to_builtins(ProfileSettings()))
    assert chosen(GovernorSettings(observing=ProfileSettings(max_steps=7))).max_steps == 7


def test_any_figure_of_any_profile_can_be_replaced() -> None:
    settings = GovernorSettings(profile="balanced", override={"max_steps": 400, "inertia": 0.5})
    assert chosen(settings) == PUBLISHED["balanced"]._replace(max_steps=400, inertia=0.5)
    assert type(chosen(settings).max_steps) is int


@pytest.mark.parametrize("override", [{"patience": 1.0}, {"max_steps": 0}, {"max_steps": 9.5}, {"inertia": 1}])
def test_a_figure_that_cannot_be_is_refused_by_name(override: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(override))):
        GovernorSettings(override=override)


def test_every_published_figure_lies_within_the_bounds() -> None:
    for profile in PUBLISHED.values():
        ProfileSettings.parse(profile._asdict())


def test_every_number_has_bounds_a_step_and_a_sentence() -> None:
    for tunable in walk_tunables(GovernorSettings):
        assert tunable.sentence.endswith("."), tunable.name
        if tunable.kind in {"number", "integer"}:
            assert None not in (tunable.low, tunable.high, tunable.step), tunable.name
            assert tunable.low is not None and tunable.high is not None
            assert tunable.low <= tunable.default <= tunable.high, tunable.name
