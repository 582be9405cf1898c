"""A session's agents as a screen shows them, and as they are kept once summed up."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from core.engine.affect.contagion import ZoneReading


class AgentReading(Struct, frozen=True):
    """One agent of a session, running, finished or summed up."""

    name: str
    parent: str  # Empty for the main agent and for one whose start was not seen.
    role: str
    depth: int
    started: float | None  # When its parent started it; None where that was not seen.
    ended: float | None
    outcome: str
    events: int
    quarantined: bool
    quarantines: int
    deviations: tuple[float, ...]  # Of its control fields from rest, in the order of FIELDS.
    awake: bool  # False once only this summary is left.


class SocietyReading(Struct, frozen=True):
    """A whole session as a screen shows it."""

    agents: tuple[AgentReading, ...]  # Parents before their sub-agents, so that depth draws the tree.
    running: int
    finished: int  # Finished sub-agents, forgotten ones included.
    forgotten: int  # Summaries given up for want of room.
    quarantined: tuple[str, ...]
    mean: tuple[float, ...]  # Of the running agents' deviations, in the order of FIELDS.
    loudest: str  # The running agent that is furthest from rest in any field.
    zone: ZoneReading
    rounds: int  # Rounds of contagion so far.
    # Other sessions in the same folder that were heard of, and when each last reported.
    neighbours: tuple[tuple[str, float], ...] = ()


def tree(readings: Mapping[str, AgentReading]) -> list[AgentReading]:
    """Return the agents depth first, sub-agents in the order they appeared; if a parent was forgotten, its child is
    listed below the first agent."""
    below: dict[str, list[AgentReading]] = {}
    for reading in readings.values():
        below.setdefault(reading.parent if reading.parent in readings else "", []).append(reading)
    ordered: list[AgentReading] = []
    waiting = [(reading, 1 if reading.parent else 0) for reading in below.pop("", [])[::-1]]
    while waiting:
        reading, depth = waiting.pop()
        ordered.append(reading if reading.depth == depth else replace(reading, depth=depth))
        waiting.extend((under, depth + 1) for under in below.pop(reading.name, [])[::-1])
    return ordered
