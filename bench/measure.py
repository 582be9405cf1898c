"""What a figure is, and how one is taken."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Literal, NamedTuple


class Figure(NamedTuple):
    """One measured thing with its aim."""

    name: str
    value: float
    unit: str
    aim: float | None = None
    better: Literal["higher", "lower"] = "lower"
    yardstick: str = ""
    """What `ratio` is a ratio to."""
    ratio: float | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the aim was reached; None where there is none."""
        if self.aim is None:
            return None
        return self.value >= self.aim if self.better == "higher" else self.value <= self.aim


def best_of(work: Callable[[], object], rounds: int = 3) -> float:
    """Seconds of the fastest round, the collector held still."""
    best = float("inf")
    for _ in range(rounds):
        gc.collect()
        gc.disable()
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
        gc.enable()
    return best


def quantile(samples: list[float], share: float) -> float:
    """The value that `share` of the samples do not exceed."""
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]
