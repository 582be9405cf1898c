"""What a figure is, and how one is taken."""

from __future__ import annotations

import gc
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple


class Figure(NamedTuple):
    """One measured thing with its aim."""

    name: str
    value: float
    unit: str
    aim: float | None = None
    better: Literal["higher", "lower"] = "lower"
    yardstick: str = ""  # What `ratio` is a ratio to.
    ratio: float | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the aim was reached; None where there is none."""
        if self.aim is None:
            return None
        return self.value >= self.aim if self.better == "higher" else self.value <= self.aim


def best_of(work: Callable[[], object], rounds: int = 3, clock: Callable[[], float] = time.process_time) -> float:
    """Seconds of processor time of the fastest round, the collector held still.

    Other work on the machine counts little that way; for several processes hand in a clock.
    """
    best = float("inf")
    for _ in range(rounds):
        gc.collect()
        gc.disable()
        start = clock()
        work()
        best = min(best, clock() - start)
        gc.enable()
    return best


def quantile(samples: list[float], share: float) -> float:
    """The value that `share` of the samples do not exceed."""
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


def resident() -> float:
    """Megabytes this process holds now; where the system does not tell, the most it ever held."""
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:
        return _peak_told()


def peak() -> float:
    """Megabytes this process held at most; what Linux tells by `getrusage` begins with the parent's peak."""
    try:
        rows = Path("/proc/self/status").read_text("ascii").splitlines()
    except OSError:
        return _peak_told()
    return next(int(row.split()[1]) * 1024 / 1e6 for row in rows if row.startswith("VmHWM:"))


def _peak_told() -> float:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most * (1 if sys.platform == "darwin" else 1024) / 1e6


def machine() -> str:
    """The machine in one line, without its name."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{_processor()}, {os.cpu_count()} cores, {memory:.0f} GB, {platform.system()} {platform.machine()}"


def _processor() -> str:
    """The processor's model where the system tells it, else its kind."""
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            name, _, model = line.partition(":")
            if name.strip() == "model name" and model.strip():
                return " ".join(model.split())
    except OSError:
        pass
    if sys.platform == "darwin":
        words = ["sysctl", "-n", "machdep.cpu.brand_string"]
        told = subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
        if told:
            return told
    return platform.machine()
