"""Impulses of frustration, confidence and flow, so that they rise and fall with the odds of a run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bench.fit.ridge import Floats, Ints, folds, logistic
from bench.fit.runs import Walked, groups
from core.timeline.ranking import Bools, Ranking

ROWS = (
    "shell_failure",
    "shell_success",
    "file_edit",
    "search_empty",
    "search_found",
    "file_read",
    "failed_edit",
    "failed_read",
    "same_result",
    "new_result",
    "edit_again",
    "check_passed",
    "check_failed",
    "new_file",
    "long_since_edit",
    "change",
    "run_since_change",
    "changed_file",
    "test_run",
    "first_check",
    "failing_since_edit",
)
"""Causes that stand often enough in labelled runs to be fitted."""
POINTS = ("10", "15", "20", "end")
RIDGE = 30.0
LEAST = dict.fromkeys(("shell_failure", "failed_edit", "failed_read", "same_result"), 0.0)
"""Trouble never lowers frustration, whatever the data say: an axis must mean what its name says."""
MOST = dict.fromkeys(("shell_success", "check_passed", "file_edit", "file_read", "search_found"), 0.0)
"""What goes well never raises it."""
_CAP, _FREEZE = 30.0, 180.0


class AxisFit(NamedTuple):
    """The log-odds that one event of each row adds to an axis, and what they are worth."""

    half_life: float
    unit: str
    weights: Floats
    """Impulses of the rows on frustration."""
    usual: float
    """What they come to in the mean run."""
    lift: float
    """What an impulse of one with every event would come to."""
    auc: dict[str, float]


def bounds() -> tuple[Floats, Floats]:
    """The least and greatest weight of every row."""
    low = np.array([LEAST.get(row, -np.inf) for row in ROWS])
    high = np.array([MOST.get(row, np.inf) for row in ROWS])
    return low, high


def decayed(run: Walked, half_life: float, unit: str) -> Floats:
    """The mean up to each action of every row's fading count."""
    sums = np.zeros(len(ROWS))
    total = np.zeros(len(ROWS))
    rows = np.zeros((len(run.causes), len(ROWS)))
    before = run.times[0]
    for place, (causes, at) in enumerate(zip(run.causes, run.times, strict=True)):
        gap = max(0.0, at - before)
        before = max(before, at)
        sums *= 0.5 ** (_passed(gap, unit) / half_life)
        for cause in causes:
            if cause in ROWS:
                sums[ROWS.index(cause)] += 1.0
        total += sums
        rows[place] = total / (place + 1)
    return rows


def design(runs: list[Walked], half_life: float, unit: str) -> dict[str, tuple[list[int], Floats]]:
    """At every point, the runs still going and their rows."""
    every = [decayed(run, half_life, unit) for run in runs]
    made = {}
    for point in POINTS:
        if point == "end":
            places = list(range(len(runs)))
            rows = [each[-1] for each in every]
        else:
            least = int(point)
            places = [place for place, run in enumerate(runs) if len(run.causes) > least]
            rows = [every[place][least - 1] for place in places]
        made[point] = (places, np.array(rows))
    return made


def fit_axis(
    runs: list[Walked], half_life: float, unit: str, low: Floats, high: Floats, ridge: float = RIDGE
) -> AxisFit:
    """One axis at one half-life; each row's weight is held between its bounds."""
    made = design(runs, half_life, unit)
    model = groups(runs)
    failed = np.array([run.failed for run in runs])
    everything = np.ones(len(runs), bool)
    weights = _bounded(made, model, failed, everything, low, high, ridge)
    fold = folds([run.task for run in runs], 1)
    shifts = {point: np.zeros(len(runs)) for point in POINTS}
    for number in np.unique(fold):
        inside = fold != number
        found = _bounded(made, model, failed, inside, low, high, ridge)
        for point, (places, rows) in made.items():
            outside = ~inside[places]
            shifts[point][np.array(places)[outside]] = rows[outside] @ found
    scores = {}
    for point, (places, _) in made.items():
        ranking = Ranking(
            failed[places], [runs[place].model for place in places], [runs[place].task for place in places]
        )
        ranked = ranking.rank(shifts[point][places])
        scores[point] = ranked.auc if ranked else 0.5
    ended = made["end"][1] @ weights
    scale = SPREAD / float(np.sqrt(np.mean([ended[model == each].var() for each in np.unique(model)])))
    lift = float(np.mean([held(run, half_life, unit) for run in runs]))
    return AxisFit(half_life, unit, weights * scale, scale * float(ended.mean()), lift, scores)


def held(run: Walked, half_life: float, unit: str) -> float:
    """The mean over a run of what one impulse with every event comes to."""
    level = total = 0.0
    before = run.times[0]
    for at in run.times:
        level = level * 0.5 ** (_passed(max(0.0, at - before), unit) / half_life) + 1.0
        before = max(before, at)
        total += level
    return total / len(run.times)


def _passed(gap: float, unit: str) -> float:
    """What a gap between actions counts for: long pauses fade nothing."""
    return 1.0 if unit == "actions" else 0.0 if gap > _FREEZE else min(gap, _CAP)


def _bounded(
    made: dict[str, tuple[list[int], Floats]],
    model: Ints,
    failed: Bools,
    inside: Bools,
    low: Floats,
    high: Floats,
    ridge: float,
) -> Floats:
    """The logistic over all points at once; a weight beyond its bound is put there."""
    blocks, ends, marks = [], [], []
    for number, (places, rows) in enumerate(made.values()):
        keep = inside[places]
        blocks.append(rows[keep])
        ends.append(failed[places][keep])
        marks.append(model[places][keep] * len(made) + number)
    x, y = np.vstack(blocks), np.concatenate(ends).astype(float)
    _, mark = np.unique(np.concatenate(marks), return_inverse=True)
    spread = x.std(0) + 1e-6
    fixed = np.full(len(ROWS), np.nan)
    for _ in range(len(ROWS)):
        free = np.isnan(fixed)
        held = np.where(free, 0.0, fixed)
        found = held.copy()
        offset = x @ held
        found[free] = logistic(x[:, free] / spread[free], y, mark, ridge, None, offset) / spread[free]
        beyond = free & ((found < low) | (found > high))
        if not beyond.any():
            break
        fixed[beyond] = np.clip(found, low, high)[beyond]
    return found


TRIAL = 0.02
"""What trial and error adds to frustration with every event.

Alternating failures are too rare in labelled runs to be fitted; a quarter of the published impulse keeps the
state that is made from it within reach."""
IMPLEMENTATION = 0.01
"""What the pattern of implementation adds to confidence and flow with every event.

A quarter of the published impulse, for it stands in most events and would drown the fitted rows."""
LEVEL, SPREAD = 0.08, 0.04
"""Where the mean of an axis lies in a usual run, and how far runs of one model differ.

The fit tells the order of runs and no unit: these two give the axis its own, low enough that a quick session,
whose impulses have less time to fade, stays below 1. Every event lifts a usual run to its level.
"""
DOCUMENT = {"frustration": 180.0, "confidence": 120.0, "flow": 180.0}
"""Half-lives of the fitted axes in seconds, as published."""
FREE = ((1.0, "actions"), (2.0, "actions"), (4.0, "actions"), (16.0, "actions"), (600.0, "seconds"))
"""Half-lives tried where they are free."""


class Fits(NamedTuple):
    """Every fitted axis under the published half-lives, and with the best of others."""

    default: dict[str, AxisFit]
    free: dict[str, AxisFit]


def fit(runs: list[Walked]) -> Fits:
    """All three axes; confidence and flow are fitted to the odds of success."""
    low, high = bounds()
    tried: dict[tuple[float, str], AxisFit] = {}
    for half_life, unit in {*FREE, *((seconds, "seconds") for seconds in DOCUMENT.values())}:
        tried[half_life, unit] = fit_axis(runs, half_life, unit, low, high)
    best = max((tried[each] for each in FREE), key=lambda one: sum(one.auc.values()))
    return Fits(
        {axis: tried[seconds, "seconds"] for axis, seconds in DOCUMENT.items()},
        dict.fromkeys(DOCUMENT, best),
    )


def impulse(axis: str, row: str, fit: AxisFit) -> float:
    """What one event of a row adds to an axis; what raises frustration lowers the other two."""
    sign = 1.0 if axis == "frustration" else -1.0
    return round(sign * float(fit.weights[ROWS.index(row)]), 4) + 0.0


def every_event(axis: str, fit: AxisFit) -> float:
    """What every event adds, so that a usual run lies at the level."""
    sign = 1.0 if axis == "frustration" else -1.0
    return round(max(0.0, LEVEL - sign * fit.usual) / fit.lift, 4)
