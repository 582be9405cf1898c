"""The six axes as positions of one tuple."""

from __future__ import annotations

from typing import TypeAlias

from core.engine.percept import AXES, Axis

Vector: TypeAlias = tuple[float, float, float, float, float, float]

FRUSTRATION, SEEKING, CONFIDENCE, FATIGUE, FLOW, UNCERTAINTY = range(6)
NONE = -1
"""Stands for no axis."""
ZERO: Vector = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
POSITION: dict[Axis, int] = {axis: position for position, axis in enumerate(AXES)}
