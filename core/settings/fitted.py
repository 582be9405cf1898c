"""Impulses fitted to labelled runs, as `make fit` wrote them down."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pkgutil import get_data
from typing import Any

TABLE: dict[str, Any] = tomllib.loads((get_data("core.settings", "fitted.toml") or b"").decode())


def fitted_impulses(profile: str) -> Iterator[tuple[str, str, float]]:
    """Row, axis and impulse, for every axis that was fitted."""
    for axis, fit in TABLE[profile].items():
        for row, amount in fit["impulse"].items():
            yield row, axis, float(amount)


def fitted_half_lives(profile: str) -> Iterator[tuple[str, float, str]]:
    """Axis, half-life and its unit, for every axis that was fitted."""
    for axis, fit in TABLE[profile].items():
        yield axis, float(fit["half_life"]), str(fit["unit"])
