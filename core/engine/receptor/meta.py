"""C, the meta neuron: it fires nothing, it only bends the ground the emotion neuron stands on."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from core.engine.percept import AXES, AgentState, Axis, Pattern
from core.engine.receptor.readings import MetaReading
from core.engine.receptor.vector import FRUSTRATION, NONE
from core.engine.state import KeptField, Stateful, queued
from core.settings.receptor import MetaSettings

_BENT: tuple[Axis, ...] = ("frustration", "seeking", "uncertainty")


class Field:
    """What C adds to thresholds of B. There is no place in it for flow: A is out of reach."""

    __slots__ = ("frustration", "seeking", "uncertainty")

    def __init__(self) -> None:
        self.frustration = 0.0
        self.seeking = 0.0
        self.uncertainty = 0.0


class MetaNeuron(Stateful):
    """Remember the strongest axis of each of the last events, name the agent's state, and set the field.

    Danger lowers the thresholds of seeking and uncertainty step by step, safety brings them back. Deep work
    raises that of frustration, being stuck lowers it, any other state brings it back.
    """

    __slots__ = (
        "_bound",
        "_buffer",
        "_danger",
        "_deep_flow",
        "_hits",
        "_safe",
        "_step",
        "_stuck_failures",
        "_stuck_frustration",
        "field",
        "state",
    )
    STATE = (
        queued("_buffer"),
        "state",
        *(KeptField(axis, "self.field.{name}", "self.field.{name} = {value}") for axis in _BENT),
    )

    def __init__(self, settings: MetaSettings) -> None:
        self._danger = settings.danger
        self._safe = settings.safe
        self._step = settings.step
        self._bound = settings.bound
        self._stuck_frustration = settings.stuck_frustration
        self._stuck_failures = settings.stuck_failures
        self._deep_flow = settings.deep_flow
        self._buffer: deque[int] = deque(maxlen=settings.buffer)
        self._hits = [0] * (len(AXES) + 1)
        self.field = Field()
        self.state: AgentState = "idle"

    def seed(self, field: Mapping[Axis, float]) -> None:
        """Begin with a field of earlier sessions; it goes back step by step like any other."""
        for axis in _BENT:
            shift = field.get(axis, 0.0)
            setattr(self.field, axis, min(max(shift, -self._bound), self._bound))

    def update(
        self,
        dominant: int,
        silence: bool,
        pattern: Pattern,
        frustration: float,
        flow: float,
        failures: int = 0,
    ) -> None:
        """Take in what B fired on the event before, then set state and field for this one.

        `failures` is how many actions in a row have failed.
        """
        buffer, hits = self._buffer, self._hits
        if len(buffer) == buffer.maxlen:
            hits[buffer[0]] -= 1
        buffer.append(dominant)
        hits[dominant] += 1
        self.state = state = self._derive(silence, pattern, frustration, flow, failures)
        field, step = self.field, self._step
        rate = hits[FRUSTRATION] / len(buffer)
        if rate > self._danger:
            field.seeking = max(field.seeking - step, -self._bound)
            field.uncertainty = max(field.uncertainty - step, -self._bound)
        elif rate < self._safe:
            if field.seeking:
                field.seeking = _back(field.seeking, step)
            if field.uncertainty:
                field.uncertainty = _back(field.uncertainty, step)
        if state == "deep_work":
            field.frustration = min(field.frustration + step, self._bound)
        elif state == "stuck":
            field.frustration = max(field.frustration - step, -self._bound)
        elif field.frustration:
            field.frustration = _back(field.frustration, step)

    def _derive(
        self, silence: bool, pattern: Pattern, frustration: float, flow: float, failures: int
    ) -> AgentState:
        if silence:
            return "idle"
        if pattern == "delegation":
            return "delegating"
        if pattern == "trial_error" and frustration > self._stuck_frustration:
            return "stuck"
        if self._stuck_failures and failures >= self._stuck_failures:
            return "stuck"
        if pattern == "implementation" and flow > self._deep_flow:
            return "deep_work"
        return "exploring"

    def read(self, state: AgentState) -> MetaReading:
        seen = len(self._buffer) or 1
        field = self.field
        return MetaReading(
            state=state,
            rates=tuple((axis, self._hits[position] / seen) for position, axis in enumerate(AXES)),
            field=(
                ("frustration", field.frustration),
                ("seeking", field.seeking),
                ("uncertainty", field.uncertainty),
            ),
            buffer=tuple(None if position == NONE else AXES[position] for position in self._buffer),
        )

    def restored(self) -> None:
        self._hits = [0] * (len(AXES) + 1)
        for position in self._buffer:
            self._hits[position] += 1


def _back(value: float, step: float) -> float:
    """One step towards zero, never past it."""
    return max(value - step, 0.0) if value > 0.0 else min(value + step, 0.0)
