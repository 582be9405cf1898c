"""Labelled runs as the fits need them: counts and causes after every action."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench.fit.ridge import Floats, Ints
from core.agents.labelled import labelled_run, sources
from core.agents.registry import make_kit
from core.events import ToolUse, Turn
from core.receptor.facts import COUNTS, ActionFacts
from core.receptor.receptor import EFFECTIVE
from core.settings.receptor import FactSettings

RECENT = ("failures_recent", "stale_recent", "edits_recent", "new_files_recent")
COLUMNS = (*COUNTS, *RECENT)
STAGES = ("10", "15", "20", "end")


class Walked(NamedTuple):
    """One run, action by action."""

    model: str
    task: str
    failed: bool
    counts: Floats
    """A row an action, a column a count."""
    causes: tuple[tuple[str, ...], ...]
    times: tuple[float, ...]


def walked(paths: list[Path]) -> list[Walked]:
    """Every labelled run, walked through the plain figures."""
    kit = make_kit()
    found: list[Walked] = []
    for source in sources(paths):
        run = labelled_run(source, kit)
        if isinstance(run, str):
            raise SystemExit(run)
        facts = ActionFacts(FactSettings())
        rows: list[list[float]] = []
        causes: list[tuple[str, ...]] = []
        times: list[float] = []
        for event in run.events:
            if isinstance(event, Turn):
                facts.said(event)
            elif isinstance(event, ToolUse) and event.outcome in EFFECTIVE and event.action != "plan":
                causes.append(facts.update(event))
                times.append(event.at)
                rows.append([getattr(facts, name) for name in COLUMNS])
        if rows:
            found.append(
                Walked(
                    run.model, run.task, not run.resolved, np.array(rows, float), tuple(causes), tuple(times)
                )
            )
    return found


def at_stage(runs: list[Walked], stage: str) -> tuple[list[int], Floats]:
    """Runs still going at a stage, by their places, and the logarithms of their counts there."""
    if stage == "end":
        places = list(range(len(runs)))
        rows = [run.counts[-1] for run in runs]
    else:
        least = int(stage)
        places = [place for place, run in enumerate(runs) if len(run.counts) > least]
        rows = [runs[place].counts[least - 1] for place in places]
    return places, np.log1p(np.array(rows))


def groups(runs: list[Walked]) -> Ints:
    """The number of each run's model."""
    names = sorted({run.model for run in runs})
    return np.array([names.index(run.model) for run in runs], dtype=np.int64)
