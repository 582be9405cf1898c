"""Runs of the bench that were kept, one JSON object a line."""

from __future__ import annotations

import json
import platform
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from bench.measure import Figure, machine
from core.report.checkup import engine_compiled

HISTORY = Path(__file__).parent / "history.jsonl"


class Record(NamedTuple):
    """One complete run."""

    at: int
    machine: str
    python: str
    figures: tuple[Figure, ...]

    @property
    def day(self) -> str:
        """When it was, to the minute."""
        return moment(self.at)

    @property
    def processor(self) -> str:
        """What it ran on, without how much of it."""
        return self.machine.partition(",")[0]

    def figure(self, name: str) -> Figure | None:
        """The figure of one name; None where it was not measured."""
        return next((each for each in self.figures if each.name == name), None)


def moment(at: int) -> str:
    """A time in UTC, to the minute."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M}"


def taken(figures: list[Figure]) -> Record:
    """Figures measured here and now."""
    python = platform.python_version() + (", compiled engine" if engine_compiled() else "")
    return Record(int(time.time()), machine(), python, tuple(figures))


def keep(record: Record, path: Path = HISTORY) -> None:
    """Add a run to those that were kept."""
    told = record._asdict() | {"figures": [each._asdict() for each in record.figures]}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(told, ensure_ascii=False) + "\n")


def kept(path: Path = HISTORY) -> list[Record]:
    """All runs that were kept, the oldest first."""
    if not path.exists():
        return []
    found = []
    for line in path.read_text("utf-8").splitlines():
        told = json.loads(line)
        told["figures"] = tuple(Figure(**each) for each in told["figures"])
        found.append(Record(**told))
    return sorted(found, key=lambda record: record.at)


def cells(figure: Figure) -> tuple[str, str, str, str, str, str]:
    """A figure as a row: name, value, aim, whether it was met, ratio, note."""
    aim = "" if figure.aim is None else f"{'≥' if figure.better == 'higher' else '≤'} {figure.aim:,g}"
    mark = {True: "✓", False: "✗", None: ""}[figure.met]
    ratio = "" if figure.ratio is None else f"{short(figure.ratio)} x {figure.yardstick}"
    return figure.name, f"{short(figure.value)} {figure.unit}", aim, mark, ratio, figure.note


def short(value: float) -> str:
    """A measured value to three places, or whole where it is large."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


HEADS = ("figure", "value", "aim", "", "ratio to yardstick", "note")
