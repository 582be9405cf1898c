"""Cost against size of work: what one event more costs after a thousand events, and after a million."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bench.measure import machine
from bench.records import short

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
FILE = Path(__file__).parents[1] / "scale.json"
REFERENCE = 10_000  # Size from which on windows are full and costs are compared.


class Measure(NamedTuple):
    """One thing that is measured at every size."""

    title: str
    unit: str
    probe: str  # What has to run for it, in a process of its own.
    of: str = "events"
    flat: bool = True  # Whether it should be the same at every size.


MEASURES = {
    "receptor": Measure("The receptor alone", "µs per event", "receptor"),
    "engine": Measure("The whole engine", "µs per event", "engine"),
    "dump": Measure("The engine's whole state", "kB", "engine"),
    "recording": Measure("Recording", "µs per event", "recording"),
    "memory": Measure("Memory of a recording, by event", "bytes per event", "recording"),
    "total": Measure("Memory of a recording, in all", "MB", "recording", flat=False),
    "seek": Measure("Seek to any place", "ms", "showing"),
    "view": Measure("A view at the live edge", "ms", "showing"),
    "envelope": Measure("Curve of the whole recording, 200 wide", "ms", "showing"),
    "parsing": Measure("Reading a Claude Code log", "µs per line", "parsing", "lines"),
}


class Scale(NamedTuple):
    """A whole run over all sizes."""

    at: int
    machine: str
    python: str
    sizes: list[int]
    values: dict[str, list[float]]  # By measure, one for each size; fewer where a probe stopped early.
    stopped: dict[str, str]  # By measure, why it has fewer.

    def points(self, name: str) -> list[tuple[int, float]]:
        """Size and value of one measure."""
        return list(zip(self.sizes, self.values[name], strict=False))

    def growth(self, name: str) -> float:
        """The value at the largest size over that at the reference size."""
        points = self.points(name)
        first = reference(points)[1]
        return points[-1][1] / first if first else 0.0


def reference(points: Sequence[tuple[int, float]]) -> tuple[int, float]:
    """The point that the larger ones are compared with."""
    return next((point for point in points if point[0] >= REFERENCE), points[0])


def run(sizes: Sequence[int]) -> Scale:
    """Measure everything at every size, each probe in a fresh process."""
    values: dict[str, list[float]] = {}
    stopped: dict[str, str] = {}
    for probe in dict.fromkeys(measure.probe for measure in MEASURES.values()):
        print(f"measuring {probe} ...", file=sys.stderr, flush=True)
        words = [sys.executable, "-m", "bench.scale", probe, *map(str, sizes)]
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True, cwd=Path(__file__).parents[2])
        told = json.loads(done.stdout)
        values |= told["values"]
        if told["stopped"]:
            stopped |= dict.fromkeys(told["values"], told["stopped"])
    ordered = {name: values[name] for name in MEASURES}
    return Scale(int(time.time()), machine(), platform.python_version(), list(sizes), ordered, stopped)


def save(scale: Scale, path: Path = FILE) -> None:
    """Keep a run, in place of the one before."""
    lines = [f'"{name}": {json.dumps(part, ensure_ascii=False)}' for name, part in scale._asdict().items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def load(path: Path = FILE) -> Scale:
    """The run that was kept."""
    return Scale(**json.loads(path.read_text("utf-8")))


def rows(scale: Scale) -> list[tuple[str, ...]]:
    """The run as a table, with its heads."""
    table = [("", *map(size_name, scale.sizes), "", f"largest : {size_name(REFERENCE)}")]
    for name, measure in MEASURES.items():
        told = [short(value) for value in scale.values[name]]
        told += [""] * (len(scale.sizes) - len(told))
        table.append((measure.title, *told, measure.unit, f"{scale.growth(name):.2f}"))
    return table


def size_name(size: float) -> str:
    """A size as short as it can be told."""
    for unit, name in ((1_000_000, "M"), (1_000, "k")):
        if size >= unit and size % unit == 0:
            return f"{size / unit:g}{name}"
    return f"{size:g}"
