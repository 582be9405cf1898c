"""The seven named control fields, what policy says of each, and the observations that move them."""

from __future__ import annotations

from math import exp
from typing import Literal, TypeAlias, get_args

from core.engine.percept import Percept
from core.engine.state import Stateful, plain_list
from core.engine.values import Derived, Value
from core.events import AgentEnd, Event, Prompt, ToolUse, Turn
from core.settings.affect import TRIGGERS, AffectSettings, FieldSettings, ObservationSettings

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
            settings.on_failure, settings.on_competing, settings.on_pressure, settings.on_novelty,
            settings.on_uncertainty, settings.on_success,
        )  # fmt: skip
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


# Positions of the observations among the triggers.
FAILURE, COMPETING, PRESSURE, NOVELTY, UNCERTAINTY, SUCCESS = range(6)

NEGATIVE = 1 << FAILURE | 1 << PRESSURE | 1 << UNCERTAINTY
POSITIVE = 1 << SUCCESS


class Observer(Stateful):
    """Say what one event is to affect: bits for what was observed, and how strongly."""

    STATE = ("streak", plain_list("_files"), "_prompted", "worth")

    def __init__(self, settings: ObservationSettings) -> None:
        self._settings = settings
        self._full_failures = max(settings.full_failures, settings.least_failures)
        self.worth = settings.novelty_prior
        self.streak = 0.0
        self._files: list[str] = []
        self._prompted: float | None = None
        self.intensities = [0.0] * 6

    def observe(self, event: Event, percept: Percept, novelty: float) -> int:
        """Fill `intensities` and return the bits of what was observed."""
        self.intensities = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
        kind = type(event)
        observations = 0
        if kind is ToolUse:
            observations = self._tool_use(event, percept, novelty)  # type: ignore[arg-type]
        elif kind is Turn:
            observations = self._turn(event)  # type: ignore[arg-type]
        elif kind is Prompt:
            observations = self._prompt(event)  # type: ignore[arg-type]
        elif kind is AgentEnd:
            observations = self._agent_end(event)  # type: ignore[arg-type]
        if percept.shifted:
            observations |= self._uncertain(self._settings.shift)
        for signal in percept.signals:
            if signal.fresh and signal.name == "uncertainty_spike":
                observations |= self._uncertain(self._settings.spike)
        return observations

    def _tool_use(self, event: ToolUse, percept: Percept, novelty: float) -> int:
        outcome = event.outcome
        observations = 0
        if outcome == "failure":
            observations = self._failed(percept.failure_rate)
        elif outcome == "success" or (outcome == "empty" and event.action == "shell_exec"):
            observations = self._succeeded(event)
        elif outcome == "empty":
            observations = self._uncertain(self._settings.empty)
        least = self._settings.novelty
        if novelty > least:
            self.intensities[NOVELTY] = min(1.0, (novelty - least) / (1.0 - least)) * self.worth
            observations |= 1 << NOVELTY
            if outcome == "success":
                self.worth += self._settings.novelty_memory * (1.0 - self.worth)
            elif outcome == "failure":
                self.worth -= self._settings.novelty_memory * (1.0 + self.worth)
        return observations

    def _failed(self, failure_rate: float) -> int:
        self.streak += 1.0
        if self.streak < self._settings.least_failures:
            return 0
        self.intensities[FAILURE] = min(1.0, max(self.streak / self._full_failures, failure_rate))
        return 1 << FAILURE

    def _succeeded(self, event: ToolUse) -> int:
        action = event.action
        if action == "shell_exec":
            if event.purpose in ("test", "build", "commit"):
                self.streak = 0.0
                return self._good(self._settings.milestone)
            self.streak -= self.streak * self._settings.forgiveness
            return self._good(self._settings.command)
        if action == "file_edit":
            return self._good(self._settings.edit) | self._scattered(event.targets)
        return 0

    def _scattered(self, targets: tuple[str, ...]) -> int:
        files, edits, least = self._files, self._settings.edits, self._settings.least_files
        files.extend(targets[:edits])
        if len(files) > edits:
            del files[: len(files) - edits]
        different = len(set(files))
        if different < least:
            return 0
        self.intensities[COMPETING] = (different - least + 1) / (max(edits, least) - least + 1)
        return 1 << COMPETING

    def _prompt(self, event: Prompt) -> int:
        last, self._prompted = self._prompted, event.at
        if event.interrupt:
            return self._pressed(1.0)
        if last is None:
            return 0
        gap = max(0.0, event.at - last)
        return self._pressed(1.0 - gap / self._settings.cadence) if gap < self._settings.cadence else 0

    def _turn(self, event: Turn) -> int:
        if event.context_window <= 0:
            return 0
        share = event.context_tokens / event.context_window
        least = self._settings.context_share
        return self._pressed(min(1.0, (share - least) / (1.0 - least))) if share > least else 0

    def _agent_end(self, event: AgentEnd) -> int:
        if event.outcome == "success":
            return self._good(self._settings.report)
        return self._failed(0.0) if event.outcome == "failure" else 0

    def _good(self, intensity: float) -> int:
        self.intensities[SUCCESS] = intensity
        return 1 << SUCCESS if intensity > 0.0 else 0

    def _pressed(self, intensity: float) -> int:
        self.intensities[PRESSURE] = intensity
        return 1 << PRESSURE

    def _uncertain(self, intensity: float) -> int:
        if intensity <= self.intensities[UNCERTAINTY]:
            return 0
        self.intensities[UNCERTAINTY] = intensity
        return 1 << UNCERTAINTY
