"""Fields that swing between raised and lowered are slowed until they settle."""

from __future__ import annotations

from math import exp

from core.affect.fields import ControlField
from core.settings.affect import StabilitySettings


class Stabiliser:
    """Stretch a swinging field's time constant, so that it decays and answers more slowly."""

    __slots__ = ("_band", "_growth", "_threshold", "_window")

    FORGOTTEN = 1e-3

    def __init__(self, settings: StabilitySettings) -> None:
        self._band = settings.band
        self._threshold = settings.threshold
        self._growth = 1.0 + settings.damping
        self._window = settings.window

    def rest(self, field: ControlField, elapsed: float) -> None:
        """Let time forget swings; to be called where a field has any."""
        kept = exp(-elapsed / self._window)
        field.flips *= kept
        if field.flips < self.FORGOTTEN:
            field.flips = 0.0
            field.slow(1.0)
        elif field.stretch > 1.0:
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
