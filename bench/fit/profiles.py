"""The profiles that a person may choose in place of the default impulses, written from the tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.settings.fitted import fitted_half_lives, fitted_impulses
from core.settings.impulses import PUBLISHED
from core.settings.layers import tunables
from core.store.profiles import PRESETS, profile_text

AS_PUBLISHED = (
    "As published: the documents' own figures, with no rows for causes they leave out. "
    "Failures do not hold flow down, and a storm of them is not yet being stuck."
)
FITTED = "Fitted: impulses and half-lives both fitted to labelled runs; half-lives count the agent's actions."
FORMER: dict[str, Any] = {
    "receptor.flow.bounded": False,
    "receptor.meta.stuck_failures": 0,
    "response.escalation.compound": 1.5,
    "response.escalation.frustration": 1.0,
    "response.escalation.seeking": 0.5,
    "response.escalation.uncertainty": 0.5,
    "mind.forecast.prior_weight": 4.0,
    "mind.forecast.class_weight": 4.0,
    "mind.forecast.lean": 0.0,
    "mind.forecast.least": 0.0,
}
"""What else was otherwise."""


def as_published() -> dict[str, Any]:
    """Every setting that differs from the default."""
    impulses = {f"receptor.impulse.{row}.{axis}": amount for (row, axis), amount in PUBLISHED.items()}
    wanted = {**impulses, **FORMER}
    return {name: value for name, value in wanted.items() if tunables()[name].default != value}


def fitted() -> dict[str, Any]:
    """Impulses and half-lives of the free fit."""
    wanted: dict[str, Any] = {
        f"receptor.impulse.{row}.{axis}": amount for row, axis, amount in fitted_impulses("fitted")
    }
    for axis, half_life, unit in fitted_half_lives("fitted"):
        wanted[f"receptor.emotion.half_life.{axis}"] = half_life
        wanted[f"receptor.emotion.half_life_unit.{axis}"] = unit
    return wanted


def write_profiles(folder: Path = PRESETS) -> None:
    """Both files."""
    for name, sentence, values in (
        ("as-published", AS_PUBLISHED, as_published()),
        ("fitted", FITTED, fitted()),
    ):
        (folder / f"{name}.toml").write_text(profile_text(sentence, values))


if __name__ == "__main__":
    write_profiles()
