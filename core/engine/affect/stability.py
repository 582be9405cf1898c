"""Fields that swing between raised and lowered are slowed until they settle."""

from __future__ import annotations

from math import exp

from core.engine.affect.fields import ControlField
from core.settings.affect import StabilitySettings

FORGOTTEN = 1e-3
"""Swings that count for no more than this are none."""


class Stabiliser:
    """Stretch a swinging field's time constant, so that it decays and answers more slowly."""

    __slots__ = ("_band", "_growth", "_threshold", "_window")

    def __init__(self, settings: StabilitySettings) -> None:
        self._band = settings.band
        self._threshold = settings.threshold
        self._growth = 1.0 + settings.damping
        self._window = settings.window

    def kept(self, elapsed: float) -> float:
        """The share of its swings a field still has after that many seconds."""
        return exp(-elapsed / self._window)

    def settle(self, field: ControlField, kept: float) -> None:
        """Let a field that has swung answer faster again; one whose swings are forgotten, at once."""
        if field.flips < FORGOTTEN:
            field.flips = kept = 0.0
        field.slow(1.0 + (field.stretch - 1.0) * kept)

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
