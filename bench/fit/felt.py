"""Impulses under the documents' half-lives, fitted to axes as the receptor holds them: between 0 and 1."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bench.fit.impulses import POINTS, ROWS, Sentences, causes_of, kept_of, words_of
from bench.fit.phrases import Chosen
from bench.fit.ridge import Floats, Ints, balanced, logistic
from bench.fit.runs import Walked, groups
from core.settings.receptor import FlowSettings
from core.timeline.evaluation import Bools, Ranking

COLUMNS = (*ROWS, "trial_error", "implementation")
_PLACE = {row: place for place, row in enumerate(COLUMNS)}
_WORDS = slice(len(ROWS) - 2, len(ROWS))
LEAST = {
    "shell_failure": 0.4,
    "failed_edit": 0.2,
    "failed_read": 0.2,
    "same_result": 0.2,
    "failing_since_edit": 0.2,
    "long_since_edit": 0.0,
    "trial_error": 0.4,
    "check_failed": -0.2,
    "run_since_change": -0.2,
    "test_run": -0.1,
}
"""Trouble raises frustration by at least this share of the greatest impulse and lowers the others.

Failing commands do not foretell how a run ends; an axis must mean what its name says all the same. Running
something after an edit speaks for a run: the last three may take back what a failure adds, and not more."""
MOST = {
    "shell_success": -0.1,
    "check_passed": -0.2,
    **dict.fromkeys(
        (
            "file_edit",
            "file_read",
            "search_found",
            "change",
            "changed_file",
            "test_run",
            "run_since_change",
            "first_check",
        ),
        0.0,
    ),
}
"""What goes well lowers it by at least this share, or never raises it."""
ORDINARY = {"edit_again": 0.3, "look_after_change": 0.3, "new_file": 0.3}
"""What stands in any work weighs at most such a share: a long clean session of edits must be able to flow."""
IMPLEMENTATION = 0.2
"""What the pattern of implementation adds to confidence and flow at least, as such a share."""
LEFT_OUT = ("long_since_prompt",)
"""Rows that are not fitted: labelled runs are short, and a task of a day must not be one long trouble."""
RIDGE = 30.0
_ROUNDS, _HALVINGS = 4, 5
_GAIN = 1e-4


class AxisShape(NamedTuple):
    """What is given of an axis before it is fitted."""

    half_life: float
    """Seconds."""
    sign: float
    """1 where it rises with the odds of failing, -1 where it falls."""
    every_event: float
    """What any event adds: it keeps the axis off 0, where it could not fall."""
    unit: float
    """The level that stands for odds higher by a factor of e."""
    cap: float
    """The greatest impulse of one row, either way."""


SHAPES = {
    "frustration": AxisShape(180.0, 1.0, 0.005, 0.065, 0.05),
    "confidence": AxisShape(120.0, -1.0, 0.045, 0.45, 0.135),
    "flow": AxisShape(180.0, -1.0, 0.035, 0.45, 0.135),
}
"""Half-lives as published. The units let frustration peak near .2 in a usual run, the others near .5."""


class FeltFit(NamedTuple):
    """The impulse of every row on an axis, what they are worth, and where the axis then stands."""

    half_life: float
    impulses: dict[str, float]
    auc: dict[str, float]
    mean: float


class _Acts:
    """All runs beside one another, an action at a time."""

    def __init__(self, runs: list[Walked]) -> None:
        self._runs = runs
        longest = max(len(run.causes) for run in runs)
        self.rows = np.zeros((longest, len(runs), len(COLUMNS)), np.float32)
        self.calm = np.ones((longest, len(runs)))
        limit = FlowSettings().failures
        for place, run in enumerate(runs):
            causes = causes_of(run)
            self.rows[: len(causes), place, : len(ROWS)] = causes
            for step, (pattern, failing) in enumerate(zip(run.patterns, run.failing, strict=True)):
                self.calm[step, place] = max(0.0, 1.0 - failing / limit)
                if pattern in _PLACE:
                    self.rows[step, place, _PLACE[pattern]] = 1.0
        self.model, self.failed = groups(runs), np.array([run.failed for run in runs])
        self.length = np.array([len(run.causes) for run in runs])

    def speak(self, chosen: Chosen) -> None:
        """Put the counts of these phrases into their columns."""
        for place, run in enumerate(self._runs):
            words = words_of(run, chosen)
            self.rows[: len(words), place, _WORDS] = words

    def kept(self, half_life: float) -> Floats:
        """What is left at every action of the level before it."""
        left = np.ones(self.calm.shape)
        for place, run in enumerate(self._runs):
            left[: len(run.causes), place] = kept_of(run, half_life, "seconds")
        return left

    def going(self, point: str) -> Ints:
        """The runs still going at a point."""
        return np.flatnonzero(self.length > (0 if point == "end" else int(point)))

    def rankings(self, inside: Bools) -> Rankings:
        """At every point the runs still going, and what ranks them."""
        found: Rankings = {}
        for point in POINTS:
            places = self.going(point)
            places = places[inside[places]]
            models = [self._runs[place].model for place in places]
            tasks = [self._runs[place].task for place in places]
            found[point] = (places, Ranking(self.failed[places], models, tasks))
        return found


Rankings = dict[str, tuple[Ints, Ranking]]


def _auc(rankings: Rankings, means: dict[str, Floats], sign: float) -> dict[str, float]:
    """How well the mean of an axis ranks the runs at every point."""
    return {point: ranking.auc(sign * means[point][places]) for point, (places, ranking) in rankings.items()}


class _Felt(NamedTuple):
    """The mean of an axis up to every point, and how it moves with each impulse."""

    means: dict[str, Floats]
    slopes: dict[str, Floats]


def _feel(acts: _Acts, shape: AxisShape, kept: Floats, impulses: Floats) -> _Felt:
    """Walk all runs at once: fade, add, hold between 0 and 1."""
    count, width = len(acts.length), len(COLUMNS)
    level, total = np.zeros(count), np.zeros(count)
    slope, slopes = np.zeros((count, width)), np.zeros((count, width))
    means: dict[str, Floats] = {}
    moved: dict[str, Floats] = {}
    for step, rows in enumerate(acts.rows):
        there = acts.length > step
        if shape.sign < 0.0:
            rows = rows.copy()
            rows[:, -1] *= acts.calm[step]
        raw = level * kept[step] + rows @ impulses
        free = (raw > 0.0) & (raw < 1.0)
        level = np.clip(raw, 0.0, 1.0)
        slope = (slope * kept[step][:, None] + rows) * free[:, None]
        total += np.where(there, level, 0.0)
        slopes += np.where(there[:, None], slope, 0.0)
        if str(step + 1) in POINTS:
            means[str(step + 1)], moved[str(step + 1)] = total / (step + 1), slopes / (step + 1)
    means["end"], moved["end"] = total / acts.length, slopes / acts.length[:, None]
    return _Felt(means, moved)


def _bounds(shape: AxisShape) -> tuple[Floats, Floats]:
    """The least and greatest impulse of every row on an axis; what any event adds is given."""
    low = shape.cap * np.array([LEAST.get(row, -ORDINARY.get(row, 1.0)) for row in COLUMNS])
    high = shape.cap * np.array([MOST.get(row, ORDINARY.get(row, 1.0)) for row in COLUMNS])
    if shape.sign < 0.0:
        low, high = -high, -low
        low[_PLACE["implementation"]] = IMPLEMENTATION * shape.cap
    foreign = "implementation" if shape.sign > 0.0 else "trial_error"
    for row in (foreign, *LEFT_OUT):
        low[_PLACE[row]] = high[_PLACE[row]] = 0.0
    low[0] = high[0] = shape.every_event
    return low, high


def _solved(acts: _Acts, shape: AxisShape, felt: _Felt, impulses: Floats, inside: Bools) -> Floats:
    """The impulses that a logistic would have, were the axis as straight everywhere as it is here."""
    blocks, offsets, ends, marks, samples = [], [], [], [], []
    for number, point in enumerate(POINTS):
        places = acts.going(point)
        places = places[inside[places]]
        slopes = shape.sign * felt.slopes[point][places] / shape.unit
        blocks.append(slopes)
        offsets.append(shape.sign * felt.means[point][places] / shape.unit - slopes @ impulses)
        ends.append(acts.failed[places])
        marks.append(acts.model[places] * len(POINTS) + number)
        samples.append(balanced(acts.failed[places], acts.model[places]))
    x, offset, y = np.vstack(blocks), np.concatenate(offsets), np.concatenate(ends).astype(float)
    _, mark = np.unique(np.concatenate(marks), return_inverse=True)
    spread = x.std(0) + 1e-6
    low, high = _bounds(shape)
    held = np.where(low == high, low, np.nan)
    for _ in COLUMNS:
        free = np.isnan(held)
        found = np.where(free, 0.0, held)
        beside = offset + x @ found
        sample = np.concatenate(samples)
        found[free] = logistic(x[:, free] / spread[free], y, mark, RIDGE, sample, beside) / spread[free]
        beyond = free & ((found < low) | (found > high))
        if not beyond.any():
            break
        held[beyond] = np.clip(found, low, high)[beyond]
    return found


def _fitted(acts: _Acts, shape: AxisShape, kept: Floats, inside: Bools) -> tuple[Floats, _Felt]:
    """Step towards the logistic's impulses for as long as runs are ranked better by it."""
    impulses = np.zeros(len(COLUMNS))
    impulses[0] = shape.every_event
    felt = _feel(acts, shape, kept, impulses)
    rankings = acts.rankings(inside)
    worth = sum(_auc(rankings, felt.means, shape.sign).values())
    for _ in range(_ROUNDS):
        aim = _solved(acts, shape, felt, impulses, inside)
        for halving in range(_HALVINGS):
            tried = impulses + 0.5**halving * (aim - impulses)
            there = _feel(acts, shape, kept, tried)
            better = sum(_auc(rankings, there.means, shape.sign).values())
            if better > worth + _GAIN:
                impulses, felt, worth = tried, there, better
                break
        else:
            break
    return impulses, felt


def fit(runs: list[Walked], said: Sentences) -> dict[str, FeltFit]:
    """All three axes, each scored on tasks left out of its fit and of the choice of phrases."""
    acts = _Acts(runs)
    every = np.ones(len(runs), bool)
    left = {name: acts.kept(shape.half_life) for name, shape in SHAPES.items()}
    scored = {name: {point: np.zeros(len(runs)) for point in POINTS} for name in SHAPES}
    for number, chosen in enumerate(said.without):
        acts.speak(chosen)
        inside = said.fold != number
        for name, shape in SHAPES.items():
            _, felt = _fitted(acts, shape, left[name], inside)
            for point in POINTS:
                scored[name][point][~inside] = felt.means[point][~inside]
    acts.speak(said.all)
    found = {}
    for name, shape in SHAPES.items():
        impulses, felt = _fitted(acts, shape, left[name], every)
        found[name] = FeltFit(
            shape.half_life,
            {row: round(float(impulses[place]), 4) + 0.0 for row, place in _PLACE.items()},
            _auc(acts.rankings(every), scored[name], shape.sign),
            float(felt.means["end"].mean()),
        )
    return found
