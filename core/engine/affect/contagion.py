"""How agents move each other, and what keeps that from running away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from core.engine.affect.fields import FIELDS, ControlField, FieldName, Vector
from core.engine.affect.lineage import CONTAGION, SPIRAL
from core.engine.state import Stateful, plain_list, through
from core.engine.values import Value
from core.settings.affect import Authority, ContagionSettings


class Emission(NamedTuple):
    """The affect one agent shows to another."""

    deviations: Vector  # From rest, in the order of FIELDS.
    head: bytes  # The head of its lineage at that moment.
    felt: tuple[int, ...] = ()  # The places of deviations large enough to be felt, where the sender has looked.


def blended(
    fields: Sequence[ControlField], deviations: Sequence[float], share: float, masks: Sequence[float]
) -> list[float]:
    """The steps that blend another agent's masked state into the agent's own: a parent's, or a sub-agent's last."""
    return [
        share * (field.rest + mask * deviation - field.magnitude) if mask else 0.0
        for field, deviation, mask in zip(fields, deviations, masks, strict=True)
    ]


# Start and end of a delegation; then, while both live: to a sub-agent, to a parent, by files, to all.
Channel = Literal["inheritance", "return", "down", "up", "tree", "broadcast"]

AUTHORITY_OF: dict[Channel, Authority] = {
    "inheritance": "parent",
    "return": "child",
    "down": "parent",
    "up": "child",
    "tree": "peer",
    "broadcast": "broadcast",
}

OPEN = (1.0,) * len(FIELDS)  # No field suppressed.


class Exposure(Stateful):
    """How much one agent may take in from others: damping by channel, and a limit per field and window.

    The limit binds the running and the last whole window together, so no stretch of that length exceeds it.

    An exposure closes part of the gap between the receiver and the sender's damped deviation, and only where
    the sender deviates further even so: a hop can weaken a deviation, never strengthen it.
    """

    STATE = ("_window", "_slot", plain_list("_this"), plain_list("_last"))

    def __init__(self, settings: ContagionSettings) -> None:
        self._damping: dict[Channel, float] = {
            "down": settings.delegation,
            "up": settings.delegation,
            "tree": settings.tree,
            "broadcast": settings.broadcast,
        }
        self._settings = settings
        self._window = float(settings.window)
        self._slot = 0
        self._this = [0.0] * len(FIELDS)
        self._last = [0.0] * len(FIELDS)
        self.cuts = [0] * len(FIELDS)

    def strong_places(self, deviations: Sequence[float]) -> tuple[int, ...]:
        """The places of what is large enough in them to be passed on."""
        least = self._settings.least
        return tuple([place for place, each in enumerate(deviations) if each > least or each < -least])

    def pull(
        self,
        fields: Sequence[ControlField],
        emission: Emission,
        channel: Channel,
        now: float,
        factors: Sequence[float] = OPEN,
    ) -> list[float] | None:
        """Return the raw step of each field, or None if none moves; `cuts` lists the fields that were held back."""
        if int(now / self._window) > self._slot:
            self._turn(now)
        damping = self._damping[channel]
        gap, deviations = self._settings.gap, emission.deviations
        cuts = self.cuts = [0, 0, 0, 0, 0, 0, 0]
        raws = None
        for place in emission.felt or self.strong_places(deviations):
            field = fields[place]
            reached = damping * deviations[place]
            own = field.magnitude - field.rest
            if abs(reached) - abs(own) <= gap:
                continue
            raw = self._settings.strength * (reached - own)
            if factors[place] < 1.0:
                raw *= factors[place]
                cuts[place] |= SPIRAL
            left = max(0.0, field.contagion_limit - self._this[place] - self._last[place])
            if abs(raw) > left:
                raw = left if raw > 0.0 else -left
                cuts[place] |= CONTAGION
            if raw:
                raws = raws or [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
                raws[place] = raw
        return raws

    def spend(self, before: Sequence[float], after: Sequence[float]) -> None:
        """Count what was really shifted against the limits."""
        for place, value in enumerate(after):
            self._this[place] += abs(value - before[place])

    def _turn(self, now: float) -> None:
        slot = int(now / self._window)
        self._last = self._this if slot == self._slot + 1 else [0.0] * len(FIELDS)
        self._this = [0.0] * len(FIELDS)
        self._slot = slot

    def load(self, state: Sequence[Any]) -> None:
        """Continue from a dump; if the window's length has changed, both halves start anew.

        Written by hand: the window is a setting, and a dump's own only says how to read its slot.
        """
        window, slot, this, last = state
        self._slot, self._this, self._last = slot, list(this), list(last)
        if window != self._window:
            self._slot = int((slot + 1) * window / self._window)


class ZoneReading(Value, frozen=True):
    """A session's shared mood."""

    mean: tuple[float, ...]  # Moving average of all agents' deviations, in the order of FIELDS.
    spirals: tuple[FieldName, ...]  # Fields whose contagion is suppressed.


class Zone(Stateful):
    """Watch the mean of all agents, and suppress contagion of a field that runs away."""

    STATE = (plain_list("_mean"), through("suppressed", "_suppress"))

    def __init__(self, settings: ContagionSettings) -> None:
        self._settings = settings
        self._calm = min(settings.calm, settings.spiral)
        self._mean = [0.0] * len(FIELDS)
        self.factors = [1.0] * len(FIELDS)

    def update(self, agents: Sequence[Sequence[float]]) -> None:
        """Update the mean with every agent's deviations, once per round."""
        if not agents:
            return
        for place, column in enumerate(zip(*agents, strict=True)):
            total: float = sum(column)
            mean = self._mean[place]
            mean += self._settings.memory * (total / len(agents) - mean)
            self._mean[place] = mean
            if abs(mean) > self._settings.spiral:
                self.factors[place] = self._settings.suppression
            elif abs(mean) < self._calm:
                self.factors[place] = 1.0

    def read(self) -> ZoneReading:
        """The mean and the fields under suppression."""
        spirals = tuple(name for name, factor in zip(FIELDS, self.factors, strict=True) if factor < 1.0)
        return ZoneReading(tuple(self._mean), spirals)

    @property
    def suppressed(self) -> tuple[bool, ...]:
        """Which fields are held down, in the order of FIELDS."""
        return tuple([factor < 1.0 for factor in self.factors])

    def _suppress(self, suppressed: Sequence[bool]) -> None:
        self.factors = [self._settings.suppression if is_suppressed else 1.0 for is_suppressed in suppressed]
