"""Consolidation: what the mind does with its memory while it sleeps."""

from __future__ import annotations

from collections import deque
from typing import Literal, NamedTuple

from core.engine.mind.episodes import Episodes
from core.engine.mind.habituation import Habituation
from core.engine.mind.salience import Salience
from core.engine.state import Stateful, tuple_queue
from core.settings.mind import DreamSettings

Reason = Literal["pressure", "compaction"]
"""Sleep pressure called for it, or the agent's own context was compacted."""


class Dream(NamedTuple):
    """One dream cycle and what each of its four parts did."""

    number: int
    at: float
    tick: int
    reason: Reason
    pressure: float
    """Sleep pressure before it."""
    compressed: int
    """Episodes turned into summaries."""
    expired: int
    """Salience items thrown away."""
    forgotten: int
    """Habituated patterns that had faded."""
    rebalanced: int
    """Kinds of stimulus whose usual urgency was updated."""
    iframe: bool
    """A full frame was asked for."""

    def words(self) -> str:
        """What it did, in a line."""
        return (
            f"{self.compressed} episodes compressed, {self.expired} items and {self.forgotten} patterns "
            f"dropped, {self.rebalanced} baselines reset, full frame asked for"
        )


class Dreams(Stateful):
    """Run the four parts of a dream and remember the last few."""

    __slots__ = ("_count", "_past")
    STATE = (
        "_count",
        tuple_queue("_past", Dream),
    )

    def __init__(self, settings: DreamSettings) -> None:
        self._count = 0
        self._past: deque[Dream] = deque(maxlen=settings.kept)

    def run(
        self,
        at: float,
        now: float,
        tick: int,
        reason: Reason,
        pressure: float,
        episodes: Episodes,
        salience: Salience,
        habituation: Habituation,
    ) -> Dream:
        """Compress episodes, collect garbage, rebalance salience, ask for a full frame."""
        compressed = episodes.compress(tick + 1)
        expired = salience.drop_expired(now)
        forgotten = habituation.collect(tick)
        rebalanced = salience.rebalance()
        dream = Dream(
            self._count, at, tick, reason, pressure, compressed, expired, forgotten, rebalanced, iframe=True
        )
        self._count += 1
        self._past.append(dream)
        return dream

    @property
    def count(self) -> int:
        """Dreams since the start."""
        return self._count

    def past(self) -> tuple[Dream, ...]:
        """The last dreams, oldest first."""
        return tuple(self._past)
