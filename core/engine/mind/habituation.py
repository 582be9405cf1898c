"""Repetition wears off: each pattern's novelty falls with exposure and comes back with absence."""

from __future__ import annotations

from heapq import nsmallest
from math import exp, log
from typing import NamedTuple

from core.engine.state import Stateful, tabled
from core.settings.mind import HabituationSettings


class PatternExposure(NamedTuple):
    """How used the mind is to one pattern."""

    what: str
    exposures: float
    """Effective exposures, faded since last seen."""
    attenuation: float
    """Share of novelty the next occurrence would keep."""


class Habituation(Stateful):
    """Attenuate novelty hyperbolically in a continuously fading exposure count.

    Memory is bounded by the number of patterns kept: the longest unseen goes first.
    """

    __slots__ = (
        "_collect_every",
        "_collected",
        "_exposures",
        "_faded",
        "_floor",
        "_forgetting",
        "_half_life",
        "_least_absence",
        "_most",
    )
    STATE = (
        "_collected",
        tabled("_exposures", 3),
    )

    def __init__(self, settings: HabituationSettings) -> None:
        self._half_life = settings.half_life
        self._floor = settings.floor
        self._forgetting = settings.forgetting
        self._collect_every = settings.collect_every
        self._faded = settings.faded
        self._most = settings.patterns
        self._least_absence = settings.forgetting * log(1.0 / settings.faded)
        self._exposures: dict[bytes, tuple[float, int, str]] = {}
        self._collected = 0

    def __len__(self) -> int:
        return len(self._exposures)

    def observe(self, pattern: bytes, tick: int, what: str = "") -> float:
        """Count one occurrence and return the share of novelty it keeps, floor..1."""
        exposures = self._exposures
        seen = exposures.pop(pattern, None)
        if seen is None:
            exposures[pattern] = (1.0, tick, what)
            if len(exposures) > self._most:
                del exposures[next(iter(exposures))]
            return 1.0
        count, last, _ = seen
        if tick > last:
            count *= exp((last - tick) / self._forgetting)
        exposures[pattern] = (count + 1.0, tick, what)
        kept = self._half_life / (self._half_life + count)
        return kept if kept > self._floor else self._floor

    def count(self, pattern: bytes, tick: int) -> float:
        """Effective exposures of a pattern at a tick."""
        seen = self._exposures.get(pattern)
        return 0.0 if seen is None else seen[0] * exp(min(0, seen[1] - tick) / self._forgetting)

    def reset_pattern(self, pattern: bytes) -> None:
        """Dishabituate: the next occurrence is fully novel."""
        self._exposures.pop(pattern, None)

    def tick(self, tick: int) -> None:
        """Clean up when enough gamma ticks have passed."""
        if tick - self._collected >= self._collect_every:
            self.collect(tick)

    def collect(self, tick: int) -> int:
        """Drop what has faded, looking only at what was long unseen; return how many patterns went."""
        self._collected = tick
        forgetting, faded = self._forgetting, self._faded
        gone = []
        for pattern, (count, last, _) in self._exposures.items():
            if last > tick - self._least_absence:
                break
            if count * exp((last - tick) / forgetting) < faded:
                gone.append(pattern)
        for pattern in gone:
            del self._exposures[pattern]
        return len(gone)

    def most_familiar(self, tick: int, limit: int) -> tuple[PatternExposure, ...]:
        """The patterns the mind is most used to, at a tick."""
        counted = nsmallest(limit, [(-self.count(pattern, tick), pattern) for pattern in self._exposures])
        return tuple(
            PatternExposure(
                self._exposures[pattern][2],
                -less,
                max(self._floor, self._half_life / (self._half_life - less)),
            )
            for less, pattern in counted
        )
