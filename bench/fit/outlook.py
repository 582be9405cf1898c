"""The read-out's weights, a stage at a time, with what they are worth on tasks they have not seen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bench.fit.ridge import Floats, folds, logistic, standardised
from bench.fit.runs import COLUMNS, STAGES, Walked, at_stage, groups
from core.timeline.ranking import Ranking

NAMES = (
    "actions",
    "looks",
    "tests",
    "changes",
    "changed_files",
    "failures",
    "same_error",
    "failed_edits",
    "failed_reads",
    "same_result",
    "rereads",
    "new_files",
    "checks_passed",
    "runs_since_change",
    "edits_since_pass",
    "since_good_edit",
    "since_change",
    "edits_recent",
    "words_of_checking",
    "words_of_doubt",
)
RIDGE = 30.0
SEEDS = (1, 2, 3)
_DRAWS = 30


class StageFit(NamedTuple):
    """One stage's weights and scores."""

    runs: int
    means: Floats
    weights: Floats
    band: float
    auc: float
    low: float
    high: float
    brier: float
    base_brier: float
    calibration: float


def fit(runs: list[Walked]) -> dict[str, StageFit]:
    """All stages."""
    return {stage: _fit(runs, stage) for stage in STAGES}


def crossed(runs: list[Walked], stage: str, seed: int, ridge: float = RIDGE) -> tuple[list[int], Floats]:
    """The shift of every run still going, from weights fitted without its task."""
    places, every = at_stage(runs, stage)
    x = every[:, [COLUMNS.index(name) for name in NAMES]]
    model = groups(runs)[places]
    y = np.array([runs[place].failed for place in places], float)
    fold = folds([runs[place].task for place in places], seed)
    shifts = np.zeros(len(places))
    for number in np.unique(fold):
        inside = fold != number
        _, means, spread = standardised(x[inside], model[inside])
        known = (x - means) / spread
        weights = logistic(known[inside], y[inside], model[inside], ridge)
        shifts[~inside] = known[~inside] @ weights
    return places, shifts


def _fit(runs: list[Walked], stage: str) -> StageFit:
    places, every = at_stage(runs, stage)
    x = every[:, [COLUMNS.index(name) for name in NAMES]]
    model = groups(runs)[places]
    y = np.array([runs[place].failed for place in places], float)
    tasks = [runs[place].task for place in places]
    known, means, spread = standardised(x, model)
    weights = logistic(known, y, model, RIDGE)
    generator = np.random.default_rng(5)
    drawn = [
        known @ logistic(known, y, model, RIDGE, generator.poisson(1.0, len(y)).astype(float))
        for _ in range(_DRAWS)
    ]
    shifts = np.mean([crossed(runs, stage, seed)[1] for seed in SEEDS], axis=0)
    ranked = Ranking(y > 0.5, [runs[place].model for place in places], tasks).rank(shifts)
    assert ranked is not None
    base = np.array([y[model == group].mean() for group in model])
    usual = np.array([shifts[model == group].mean() for group in model])
    chances = _chances(shifts - usual, base)
    return StageFit(
        len(places),
        means,
        weights / spread,
        float(np.std(drawn, axis=0).mean()),
        *ranked,
        float(np.mean((chances - y) ** 2)),
        float(np.mean((base - y) ** 2)),
        _calibration(chances, y),
    )


def _chances(shifts: Floats, base: Floats) -> Floats:
    bounded = np.clip(base, 0.01, 0.99)
    return np.asarray(1.0 / (1.0 + np.exp(-(np.log(bounded / (1.0 - bounded)) + shifts))))


def _calibration(chances: Floats, y: Floats) -> float:
    """How far what was said is from what was, in tenths of the runs."""
    order = np.argsort(chances, kind="stable")
    parts = np.array_split(order, 10)
    return float(sum(len(part) * abs(chances[part].mean() - y[part].mean()) for part in parts) / len(y))
