"""Impulses of frustration, confidence and flow with half-lives that are free, from the odds of runs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bench.fit.phrases import Chosen, choose
from bench.fit.ridge import Floats, Ints, balanced, folds, logistic
from bench.fit.runs import STAGES, Walked, at_stage, groups
from core.timeline.evaluation import Bools, Ranking

ROWS = (
    "every_event",
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
    "look_after_change",
    "many_edits",
    "many_new_files",
    "long_since_prompt",
    "words_of_checking",
    "words_of_doubt",
)
"""Causes that stand often enough in labelled runs to be fitted.

The first counts every action; words come last, for they are chosen again in every fold."""
_PLACE = {row: place for place, row in enumerate(ROWS[:-2])}
_HEARD = 3
"""Phrases of one kind before an action that count, as in the receptor."""
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


def causes_of(run: Walked) -> Floats:
    """A row an action, a column a row of the table; words are left at nothing."""
    rows = np.zeros((len(run.causes), len(ROWS)))
    for place, causes in enumerate(run.causes):
        rows[place, 0] = 1.0
        for cause in causes:
            column = _PLACE.get(cause)
            if column is not None:
                rows[place, column] += 1.0
    return rows


def words_of(run: Walked, chosen: Chosen) -> Floats:
    """Phrases of both kinds said before each action, as the receptor counts them."""
    said = np.diff(run.spoken.astype(np.int64), axis=0, prepend=0)
    kinds = [np.minimum(_HEARD, said[:, places].sum(1)) for places in chosen]
    return np.stack(kinds, axis=1).astype(float)


def faded(rows: Floats, kept: Floats) -> Floats:
    """The mean up to each action of every column's fading count; `kept` is what is left at each."""
    sums = np.zeros_like(rows)
    level = np.zeros(rows.shape[1])
    for place, row in enumerate(rows):
        level = level * kept[place] + row
        sums[place] = level
    return np.asarray(np.cumsum(sums, axis=0) / np.arange(1, len(rows) + 1)[:, None])


def kept_of(run: Walked, half_life: float, unit: str) -> Floats:
    """What is left of an impulse at each action of what it was at the one before."""
    gaps = np.maximum(0.0, np.diff(np.maximum.accumulate(run.times), prepend=run.times[0]))
    passed = (
        np.ones(len(gaps)) if unit == "actions" else np.where(gaps > _FREEZE, 0.0, np.minimum(gaps, _CAP))
    )
    return np.asarray(0.5 ** (passed / half_life))


Design = dict[str, tuple[Ints, Floats]]
"""At every point, the runs still going and their rows."""


def points_of(every: list[Floats]) -> Design:
    """The rows of every run at every point."""
    made: Design = {}
    for point in POINTS:
        least = 0 if point == "end" else int(point)
        places = np.array([place for place, rows in enumerate(every) if len(rows) > least])
        made[point] = (places, np.array([every[place][least - 1] for place in places]))
    return made


class Sentences(NamedTuple):
    """The phrases chosen without each fold of tasks, and those chosen on all runs."""

    fold: Ints
    without: tuple[Chosen, ...]
    all: Chosen


def sentences(runs: list[Walked]) -> Sentences:
    """Choose phrases without each fold: impulses of words are scored on tasks they were not chosen on."""
    spoken = {stage: (each.places, each.spoken) for stage in STAGES for each in (at_stage(runs, stage),)}
    model, failed = groups(runs), np.array([run.failed for run in runs])
    fold = folds([run.task for run in runs], 1)
    without = tuple(choose(spoken, model, failed, fold != number) for number in np.unique(fold))
    return Sentences(fold, without, choose(spoken, model, failed, np.ones(len(runs), bool)))


def fit_axis(runs: list[Walked], said: Sentences, half_life: float, unit: str) -> AxisFit:
    """One axis at one half-life; each row's weight is held between its bounds."""
    model, failed = groups(runs), np.array([run.failed for run in runs])
    kept = [kept_of(run, half_life, unit) for run in runs]
    acts = points_of([faded(causes_of(run), left) for run, left in zip(runs, kept, strict=True)])

    def design(chosen: Chosen) -> Design:
        words = points_of([faded(words_of(run, chosen), left) for run, left in zip(runs, kept, strict=True)])
        for point, (_, rows) in words.items():
            acts[point][1][:, -2:] = rows
        return acts

    shifts = {point: np.zeros(len(runs)) for point in POINTS}
    for number, chosen in enumerate(said.without):
        made = design(chosen)
        inside = said.fold != number
        found = _bounded(made, model, failed, inside)
        for point, (places, rows) in made.items():
            outside = ~inside[places]
            shifts[point][places[outside]] = rows[outside] @ found
    made = design(said.all)
    weights = _bounded(made, model, failed, np.ones(len(runs), bool))
    scores = {}
    for point, (places, _) in made.items():
        ranking = Ranking(
            failed[places], [runs[place].model for place in places], [runs[place].task for place in places]
        )
        ranked = ranking.rank(shifts[point][places])
        scores[point] = ranked.auc if ranked else 0.5
    ended = made["end"][1] @ weights
    scale = SPREAD / float(np.sqrt(np.mean([ended[model == each].var() for each in np.unique(model)])))
    lift = float(made["end"][1][:, 0].mean())
    return AxisFit(half_life, unit, weights * scale, scale * float(ended.mean()), lift, scores)


def _bounded(made: Design, model: Ints, failed: Bools, inside: Bools) -> Floats:
    """The logistic over all points at once; a weight beyond its bound is put there."""
    blocks, ends, marks, samples = [], [], [], []
    for number, (places, rows) in enumerate(made.values()):
        keep = inside[places]
        blocks.append(rows[keep])
        ends.append(failed[places][keep])
        marks.append(model[places][keep] * len(made) + number)
        samples.append(balanced(failed[places][keep], model[places][keep]))
    x, y = np.vstack(blocks), np.concatenate(ends).astype(float)
    _, mark = np.unique(np.concatenate(marks), return_inverse=True)
    sample = np.concatenate(samples)
    spread = x.std(0) + 1e-6
    low, high = bounds()
    fixed = np.full(len(ROWS), np.nan)
    for _ in range(len(ROWS)):
        free = np.isnan(fixed)
        held = np.where(free, 0.0, fixed)
        found = held.copy()
        offset = x @ held
        found[free] = logistic(x[:, free] / spread[free], y, mark, RIDGE, sample, offset) / spread[free]
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
AXES = ("frustration", "confidence", "flow")
"""Axes that are fitted; the last two to the odds of success."""
FREE = ((1.0, "actions"), (2.0, "actions"), (4.0, "actions"), (16.0, "actions"), (600.0, "seconds"))
"""Half-lives tried where they are free."""


def fit(runs: list[Walked], said: Sentences) -> AxisFit:
    """The best of the free half-lives; one fit serves all three axes."""
    tried = [fit_axis(runs, said, half_life, unit) for half_life, unit in FREE]
    return max(tried, key=lambda one: sum(one.auc.values()))


def impulse(axis: str, row: str, fit: AxisFit) -> float:
    """What one event of a row adds to an axis; what raises frustration lowers the other two."""
    sign = 1.0 if axis == "frustration" else -1.0
    return round(sign * float(fit.weights[ROWS.index(row)]), 4) + 0.0


def every_event(axis: str, fit: AxisFit) -> float:
    """What every event adds: its own weight, and what lifts a usual run to the level."""
    sign = 1.0 if axis == "frustration" else -1.0
    return round(sign * float(fit.weights[0]) + (LEVEL - sign * fit.usual) / fit.lift, 4)
