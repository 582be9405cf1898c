"""The seven named control fields and what policy says of each."""

from __future__ import annotations

from math import exp
from typing import Literal, TypeAlias, get_args

from core.engine.state import Stateful
from core.engine.values import Derived, Value
from core.settings.affect import TRIGGERS, AffectSettings, FieldSettings

FieldName = Literal[
    "uncertainty_sensitivity", "ambiguity_tolerance", "novelty_appetite", "persistence", "escalation",
    "risk_sensitivity", "cooperation",
]  # fmt: skip
FIELDS: tuple[FieldName, ...] = get_args(FieldName)

OBSERVED = 6  # How many of the triggers are observations of the agent's own work.

Vector: TypeAlias = tuple[float, float, float, float, float, float, float]

MASKS = {"inherited": 1.0, "excluded": 0.0}


class _Traits:
    """The policy's limits for one field, the same for every agent."""

    def __init__(self, name: FieldName, affect: AffectSettings) -> None:
        settings: FieldSettings = getattr(affect.fields, name)
        attenuation = affect.inheritance.attenuation
        self.name = name
        self.settings = settings
        self.inherits = MASKS.get(settings.inherits, attenuation)
        self.returns = MASKS.get(settings.returns, attenuation)
        effects = (
            settings.on_failure,
            settings.on_competing,
            settings.on_pressure,
            settings.on_novelty,
            settings.on_uncertainty,
            settings.on_success,
        )
        own = "self" in settings.authority
        admitted = [own and trigger in settings.triggers for trigger in TRIGGERS[:OBSERVED]]
        self.gains = tuple(gain if ok else 0.0 for gain, ok in zip(effects, admitted, strict=True))
        self.refused = sum(
            1 << bit for bit, (gain, ok) in enumerate(zip(effects, admitted, strict=True)) if gain and not ok
        )


class ControlField(Stateful):
    """One modulation axis: its value, its envelope, its pace and who may move it."""

    STATE = ("magnitude", "updated", "change", "side", "flips", "stretch")

    def __init__(self, traits: _Traits) -> None:
        settings = traits.settings
        self.name = traits.name
        self.rest = settings.rest
        self.floor = settings.floor
        self.ceiling = settings.ceiling
        self.time_constant = settings.time_constant
        self.slowest = settings.slowest
        self.rate_limit = settings.rate_limit
        self.triggers = settings.triggers
        self.authority = settings.authority
        self.inherits, self.returns = traits.inherits, traits.returns
        self.contagion_limit = settings.contagion_limit
        self.gains, self.refused = traits.gains, traits.refused
        self.magnitude = self.rest
        self.updated = 0.0
        self.change = 0.0
        self.side = 0
        self.flips = 0.0
        self.stretch = 1.0
        self.pace = -1.0 / self.time_constant

    def slow(self, stretch: float) -> None:
        """Stretch the time constant by that factor, as far as policy lets it."""
        if stretch > self.slowest:
            stretch = self.slowest
        self.stretch = stretch
        self.pace = -1.0 / (self.time_constant * stretch)

    def value(self, elapsed: float) -> float:
        """The magnitude after that many seconds without news, leaving the field as it is."""
        if elapsed <= 0.0:
            return self.magnitude
        return self.bounded(self.rest + (self.magnitude - self.rest) * exp(elapsed * self.pace))

    def bounded(self, value: float) -> float:
        """The value within floor and ceiling."""
        return self.floor if value < self.floor else self.ceiling if value > self.ceiling else value

    def restored(self) -> None:
        """Let another policy's envelope bind at once."""
        self.magnitude = self.bounded(self.magnitude)
        self.slow(self.stretch)


class FieldReading(Value, frozen=True):
    """One control field as a screen shows it."""

    name: FieldName
    magnitude: float
    rest: float
    floor: float
    ceiling: float
    rate_limit: float
    time_constant: float  # Effective, in seconds, stretched where the field swings.
    updated: float  # Subjective seconds at which something last moved it.
    change: float  # The last such move, signed.


@Derived
def _traits(settings: AffectSettings) -> tuple[_Traits, ...]:
    """The traits of all fields, in the order of FIELDS."""
    return tuple([_Traits(name, settings) for name in FIELDS])


def control_fields(settings: AffectSettings) -> tuple[ControlField, ...]:
    """The seven fields at rest, in the order of FIELDS."""
    return tuple([ControlField(traits) for traits in _traits(settings)])
