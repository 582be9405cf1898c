"""The ambient estimator: what is normal for this agent, and from where on a value is not."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp

from core.engine.percept import AXES, Axis
from core.engine.receptor.vector import FLOW, POSITION, Vector
from core.engine.state import Stateful, plain_list
from core.settings.receptor import AmbientSettings


def effective(baseline: float, offset: float, field: float, low: float, high: float) -> float:
    """The threshold of B for one axis."""
    threshold = baseline + offset + field
    return low if threshold < low else high if threshold > high else threshold


class AmbientEstimator(Stateful):
    """Follow every axis by a slow average.

    The first event, and the first after a silence, seeds it with the present values. A shift of context sets
    it back to where it began: zero, or the prior. For flow it follows the undisturbed value, so that nothing
    that happens in B or C can move the ruler of A.
    """

    __slots__ = ("_constant", "_ignore", "_now", "_prior", "_seeded", "baseline")
    STATE = (
        "_now",
        "_seeded",
        plain_list("baseline"),
        plain_list("_prior"),
    )

    def __init__(self, settings: AmbientSettings) -> None:
        self._constant = settings.time_constant
        self._ignore = settings.ignore_below
        self._prior = [0.0] * len(AXES)
        self._now = 0.0
        self._seeded = False
        self.baseline = [0.0] * len(AXES)

    def seed(self, prior: Mapping[Axis, float]) -> None:
        """Begin with what was normal before; new events soon outweigh it."""
        for axis, level in prior.items():
            self._prior[POSITION[axis]] = min(max(level, 0.0), 1.0)
        self.baseline = list(self._prior)
        self._seeded = True

    def freeze(self) -> None:
        """A silence: what comes next does not continue what came before."""
        self._seeded = False

    def reset(self) -> None:
        """The context shifted: what was normal there is not normal here."""
        self.baseline = list(self._prior)

    def update(self, now: float, values: Vector, undisturbed: float) -> None:
        """Move the averages towards the present values."""
        passed = now - self._now
        self._now = now
        baseline = self.baseline
        if not self._seeded:
            baseline[:] = values
            baseline[FLOW] = undisturbed
            self._seeded = True
        elif passed > 0.0:
            frustration, seeking, confidence, fatigue, _, uncertainty = values
            a, b, c, d, e, f = baseline
            alpha = 1.0 - exp(-passed / self._constant)
            least = self._ignore
            self.baseline = [
                a + alpha * (frustration - a) if frustration >= least else a,
                b + alpha * (seeking - b) if seeking >= least else b,
                c + alpha * (confidence - c) if confidence >= least else c,
                d + alpha * (fatigue - d),
                e + alpha * (undisturbed - e) if undisturbed >= least else e,
                f + alpha * (uncertainty - f) if uncertainty >= least else f,
            ]
