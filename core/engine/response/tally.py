"""What a session leaves behind when it is over: counts and sums, no content."""

from __future__ import annotations

from collections.abc import Sequence

from core.engine.percept import AGENT_STATES, AXES, PATTERNS, AgentState, Axis, Pattern, Percept, SignalName
from core.engine.response.method import CUE_AXES, CUE_OF
from core.engine.state import KeptField, Stateful, made, plain_list
from core.engine.values import Value
from core.events import ACTIONS, Action

_AXES_OF: dict[str, tuple[Axis, ...]] = {
    "flow_active": ("flow",),
    **{name: CUE_AXES[cue] for name, cue in CUE_OF.items()},
}


class SessionTally(Value, frozen=True):
    """The statistics of one agent's session so far."""

    at: float
    seconds: float
    """Of subjective time."""
    patterns: dict[Pattern, int]
    states: dict[AgentState, int]
    actions: dict[Action, int]
    fires: dict[Axis, int]
    """Signals that began to stand, of each axis."""
    snapshots: int
    mean: dict[Axis, float]
    """Of the snapshots, one a theta tick."""
    variance: float
    """Of the emotion vector over the snapshots, summed over its axes."""


def _counted(name: str, keys: tuple[str, ...]) -> KeptField:
    """Counts by a key of which all are known."""
    return made(name, lambda counts: tuple(counts.values()), lambda row: dict(zip(keys, row, strict=True)))


class ActTally(Stateful):
    """Count acts as they go by, and look at the axes once a theta tick."""

    __slots__ = ("_at", "_fires", "_now", "_snapshots", "_squares", "_sums", "actions", "patterns", "states")
    STATE = (
        _counted("patterns", PATTERNS),
        _counted("states", AGENT_STATES),
        _counted("actions", ACTIONS),
        _counted("_fires", AXES),
        plain_list("_sums"),
        plain_list("_squares"),
        "_snapshots",
        "_at",
        "_now",
    )

    def __init__(self) -> None:
        self.patterns: dict[Pattern, int] = dict.fromkeys(PATTERNS, 0)
        self.states: dict[AgentState, int] = dict.fromkeys(AGENT_STATES, 0)
        self.actions: dict[Action, int] = dict.fromkeys(ACTIONS, 0)
        self._fires: dict[Axis, int] = dict.fromkeys(AXES, 0)
        self._sums = [0.0] * len(AXES)
        self._squares = [0.0] * len(AXES)
        self._snapshots = 0
        self._at = 0.0
        self._now = 0.0

    def time(self, percept: Percept) -> None:
        """Note how far the session has come."""
        self._at = percept.at
        self._now = percept.now

    def fired(self, name: SignalName) -> None:
        """Count a signal that begins to stand; a compound one counts for both its axes."""
        for axis in _AXES_OF[name]:
            self._fires[axis] += 1

    def sample(self, axes: Sequence[float]) -> None:
        """One snapshot of the emotion vector."""
        self._snapshots += 1
        for place, value in enumerate(axes):
            self._sums[place] += value
            self._squares[place] += value * value

    def read(self) -> SessionTally:
        seen = self._snapshots or 1
        means = [total / seen for total in self._sums]
        spread = sum(
            [max(0.0, square / seen - mean * mean) for square, mean in zip(self._squares, means, strict=True)]
        )
        return SessionTally(
            at=self._at,
            seconds=self._now,
            patterns=dict(self.patterns),
            states=dict(self.states),
            actions=dict(self.actions),
            fires=dict(self._fires),
            snapshots=self._snapshots,
            mean=dict(zip(AXES, means, strict=True)),
            variance=spread,
        )
