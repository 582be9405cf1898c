"""Whom the work could be handed to: the sub-agents seen so far, in the order affect prefers them."""

from __future__ import annotations

from typing import NamedTuple

from core.engine.state import Stateful, mapped, tabled
from core.events import AgentEnd, AgentStart

ALONE = "alone"
_MOST = 32
"""Roles remembered, and sub-agents at work whose role is."""


class Delegate(NamedTuple):
    """One way to go on, and what speaks for it."""

    role: str
    """The role of a sub-agent, or `alone`."""
    score: float
    runs: int = 0
    good: int = 0


class Delegates(Stateful):
    """How each role of sub-agent did; affect's preference weighs them against going on alone."""

    __slots__ = ("_roles", "_running")
    STATE = (tabled("_roles", 2), mapped("_running"))

    def __init__(self) -> None:
        self._roles: dict[str, tuple[int, int]] = {}
        self._running: dict[str, str] = {}

    def update(self, event: AgentStart | AgentEnd) -> None:
        """Take note of a sub-agent that starts or reports back."""
        if isinstance(event, AgentStart):
            self._running[event.child] = event.role or "sub-agent"
            if len(self._running) > _MOST:
                del self._running[next(iter(self._running))]
            return
        role = self._running.pop(event.child, "sub-agent")
        runs, good = self._roles.pop(role, (0, 0))
        self._roles[role] = (runs + 1, good + (event.outcome != "failure"))
        if len(self._roles) > _MOST:
            del self._roles[next(iter(self._roles))]

    def order(self, preference: float, failing: float) -> tuple[Delegate, ...]:
        """Every way to go on, the preferred first; without preference nobody is asked."""
        ways = [Delegate(ALONE, (1.0 - preference) * (1.0 - failing))]
        if preference > 0.0:
            ways += [
                Delegate(role, preference * (good + 1) / (runs + 2), runs, good)
                for role, (runs, good) in self._roles.items()
            ]
        return tuple(sorted(ways, key=lambda way: (-way.score, way.role)))


def handing_over(order: tuple[Delegate, ...]) -> str:
    """A sentence on whom to ask; blank where going on alone comes first."""
    first = order[0]
    if first.role == ALONE:
        return ""
    return f"A sub-agent may do better: {first.role} went well {first.good} of {first.runs} times."
