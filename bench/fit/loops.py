"""Choose the limits of the loop detectors by nested cross-validation: `python -m bench.fit.loops RUNS...`.

Limits are chosen on all groups but one and scored on that one, for models, repositories and tenths of the tasks.
The figures that hold on other runs are those of the groups left out.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import core.engine.response.tables
from core.agents.registry import make_kit
from core.engine.response.loops import DETECTORS, LoopDetector
from core.settings import Settings
from core.settings.response import DetectorName, LoopSettings
from core.timeline.evaluation import Bools, Floats, LabelledRun, labelled_run, sources

RESULTS = Path(__file__).with_name("loops.json")
LOOPS = Path(core.engine.response.tables.__file__).with_name("loops.toml")
GRID: dict[DetectorName, tuple[str, tuple[int, ...]]] = {
    "repeat": ("times", (4, 5, 6, 8, 10)),
    "failing": ("times", (8, 10, 12, 14, 16)),
    "oscillation": ("flips", (2, 3, 4)),
    "retest": ("times", (5, 6, 8, 10)),
    "rework": ("times", (6, 7, 8, 9, 10, 12, 16, 20)),
    "stalled": ("times", (13, 14, 15, 16, 17, 18)),
    "no_progress": ("times", (26, 28, 30, 32, 34, 36, 38, 40, 42, 44)),
}
TENTHS = 10
GOOD = 0.03  # The largest share of good runs that a choice of limits may alarm where it is made.
Limits = dict[DetectorName, int]


class Data(NamedTuple):
    """All runs, and in which of them each detector becomes active under each limit."""

    failed: Bools
    base: Floats  # The share of failed runs of each run's model.
    groups: dict[str, Any]
    alarms: dict[tuple[DetectorName, int], Bools]


def read_runs(paths: list[Path]) -> list[LabelledRun]:
    """Read every labelled run."""
    kit = make_kit()
    runs = [labelled_run(source, kit) for source in sources(paths)]
    return [run for run in runs if not isinstance(run, str)]


def has_alarm(run: LabelledRun, settings: LoopSettings) -> bool:
    """Whether any loop is announced in a run."""
    detector = LoopDetector(settings)
    return any(detector.update(event) is not None for event in run.events)


def measure(runs: list[LabelledRun]) -> Data:
    """Run every detector alone, under every limit of the grid."""
    failed = np.array([not run.resolved for run in runs])
    models = np.array([run.model for run in runs])
    base = np.array([failed[models == model].mean() for model in models])
    alarms = {}
    for name, (field, limits) in GRID.items():
        for limit in limits:
            tree: dict[str, Any] = {other: {"enabled": other == name} for other in DETECTORS}
            tree[name][field] = limit
            settings = LoopSettings.parse(tree)
            alarms[name, limit] = np.array([has_alarm(run, settings) for run in runs])
    repositories = np.array([run.task.split("__")[0] for run in runs])
    places = {task: place for place, task in enumerate(sorted({run.task for run in runs}))}
    tasks = np.array([places[run.task] % TENTHS for run in runs])
    return Data(failed, base, {"models": models, "repositories": repositories, "tasks": tasks}, alarms)


def union(data: Data, limits: Limits) -> Bools:
    """The runs in which any detector is active."""
    alarmed = np.zeros(len(data.failed), bool)
    for choice in limits.items():
        alarmed |= data.alarms[choice]
    return alarmed


def score(data: Data, alarmed: Bools, rows: Bools) -> tuple[float, float, float]:
    """Return the share of good runs alarmed, the gain over the models' own base, and the recall."""
    hit, good, bad = alarmed & rows, rows & ~data.failed, rows & data.failed
    gain = float((data.failed[hit] - data.base[hit]).mean()) if hit.any() else 0.0
    return float((hit & good).sum() / max(1, good.sum())), gain, float((hit & bad).sum() / max(1, bad.sum()))


def different_limits(data: Data, name: DetectorName) -> list[int]:
    """One limit of each set of runs that a detector alarms."""
    return list({data.alarms[name, limit].tobytes(): limit for limit in GRID[name][1]}.values())


def choose(data: Data, rows: Bools, without: str = "") -> Limits:
    """Choose the limits with the greatest recall that gain and keep to the share of good runs."""
    best: tuple[float, Limits] = (-1.0, {})
    names = [name for name in GRID if name != without]
    for values in itertools.product(*(different_limits(data, name) for name in names)):
        limits = dict(zip(names, values, strict=True))
        good, gain, recall = score(data, union(data, limits), rows)
        if good <= GOOD and recall * gain > best[0]:
            best = (recall * gain, limits)
    return best[1]


def left_out(data: Data, labels: Any, without: str = "") -> tuple[float, float, float]:
    """Score limits on each group that were chosen on all others."""
    alarmed = np.zeros(len(data.failed), bool)
    for label in np.unique(labels):
        outside = labels == label
        alarmed |= outside & union(data, choose(data, ~outside, without))
    return score(data, alarmed, np.ones(len(data.failed), bool))


def default_limits() -> Limits:
    """The limits that nooscope starts with."""
    loops = Settings().response.loops
    return {name: getattr(getattr(loops, name), field) for name, (field, _) in GRID.items()}


def evaluate(data: Data) -> dict[str, Any]:
    """Score the limits in use on all runs, each detector alone, and chosen limits on groups left out."""
    everything = np.ones(len(data.failed), bool)
    in_use = default_limits()
    figures: dict[str, Any] = {"runs": len(data.failed), "limits": in_use}
    figures["in use"] = score(data, union(data, in_use), everything)
    figures["chosen on all"] = choose(data, everything)
    for name, limit in in_use.items():
        others = union(data, {other: value for other, value in in_use.items() if other != name})
        alone = data.alarms[name, limit]
        figures[name] = score(data, alone, everything)
        figures[f"{name} only"] = score(data, alone & ~others, everything)
    for kind, labels in data.groups.items():
        if len(np.unique(labels)) > 1:
            figures[f"{kind} left out"] = left_out(data, labels)
            figures[f"{kind} left out, without"] = {name: left_out(data, labels, name) for name in GRID}
    return figures


def left_out_table(results: dict[str, Any]) -> Iterator[str]:
    """The figures of groups left out, as `nooscope tune evaluate` prints them."""
    yield "# What the loop alarm is worth on groups left out of the choice of its limits, made by"
    yield "# `python -m bench.fit.loops`: share of good runs alarmed, gain over the models' own base rate, recall."
    for name, figures in results.items():
        yield f"[{name}]"
        for kind in ("models", "repositories", "tasks"):
            if f"{kind} left out" in figures:
                yield f"{kind} = [{', '.join(f'{figure:.4f}' for figure in figures[f'{kind} left out'])}]"


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.fit.loops", description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path, help="labelled runs, one file after another")
    paths = parser.parse_args().paths
    results = {path.name.split(".")[0]: evaluate(measure(read_runs([path]))) for path in paths}
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    LOOPS.write_text("\n".join(left_out_table(results)) + "\n")
    print(RESULTS.read_text())


if __name__ == "__main__":
    main()
