"""How much life is left, and the behavioural phase that follows from it."""

from __future__ import annotations

from core.engine.mind.cortical import PHASES, Phase
from core.engine.state import Stateful, made
from core.engine.values import Value
from core.settings.mind_state import VitalitySettings


class VitalityReading(Value, frozen=True):
    """Both vitalities, the terms of the second, and the phase."""

    economic: float
    epistemic: float
    composite: float
    phase: Phase
    next_bound: float
    """Composite vitality below which the phase is lost; 0 in the last one."""


class Vitality(Stateful):
    """Weigh the budget left against the accuracy of the forecast; a lost phase is won back with a margin."""

    __slots__ = ("_bounds", "_held", "_margin", "_share", "composite", "economic", "epistemic")
    STATE = (
        "economic",
        "epistemic",
        "composite",
        made("_held", PHASES.__getitem__, PHASES.index),
    )

    def __init__(self, settings: VitalitySettings) -> None:
        self._share = settings.economic_share
        self._bounds = (settings.thriving, settings.stable, settings.conserving, settings.declining)
        self._margin = settings.margin
        self.economic = 1.0
        self.epistemic = 1.0
        self.composite = 1.0
        self._held = 0

    @property
    def phase(self) -> Phase:
        """The behavioural phase."""
        return PHASES[self._held]

    def update(self, economic: float, accuracy: float) -> bool:
        """Take the share of budget left and the forecast's accuracy; True when the phase changed."""
        self.economic = economic
        self.epistemic = accuracy
        composite = self.composite = self._share * economic + (1.0 - self._share) * accuracy
        held = self._held
        place = self.place(composite)
        if place < held:
            place = min(held, self.place(composite - self._margin))
        if place == held:
            return False
        self._held = place
        return True

    def place(self, vitality: float) -> int:
        """The phase a vitality belongs to, as its place in PHASES."""
        for place, bound in enumerate(self._bounds):
            if vitality >= bound:
                return place
        return len(self._bounds)

    def read(self) -> VitalityReading:
        """Both vitalities and the phase."""
        bounds = (*self._bounds, 0.0)
        return VitalityReading(self.economic, self.epistemic, self.composite, self.phase, bounds[self._held])
