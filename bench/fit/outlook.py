"""The read-out's weights, a stage at a time, with what they are worth on tasks they have not seen.

Phrases are chosen again inside every fold, so that the scores hold for the whole procedure.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from bench.fit.phrases import Chosen, choose
from bench.fit.ridge import Floats, Ints, balanced, folds, logistic, standardised
from bench.fit.runs import COLUMNS, STAGES, Standing, Walked, at_stage, groups
from core.engine.response.outlook import PHRASES, scaled
from core.timeline.evaluation import Bools, Ranking

# Counts looked at while a run goes on.
GOING = (
    "looks",
    "tests",
    "tests_passed",
    "changes",
    "changed_files",
    "failures",
    "same_error",
    "failed_edits",
    "failed_reads",
    "rereads",
    "new_files",
    "checks_passed",
    "runs_since_change",
    "edits_since_pass",
    "since_good_edit",
    "since_change",
    "edits_recent",
)
# Counts looked at when it has ended.
ENDED = (
    "actions",
    "tests",
    "tests_passed",
    "changes",
    "changed_files",
    "failures",
    "same_error",
    "failed_edits",
    "failed_reads",
    "rereads",
    "new_files",
    "checks_passed",
    "runs_since_change",
    "edits_since_pass",
    "since_good_edit",
    "since_run",
    "failures_since_edit",
    "edits_recent",
)
RIDGE = 30.0
RIDGE_OF_WORDS = 60.0  # Words carry over to other tasks less well than counts: they are held closer to nothing.
SEEDS = (1, 2, 3)
_DRAWS = 30


class StageFit(NamedTuple):
    """One stage's weights and scores."""

    names: tuple[str, ...]
    runs: int
    means: Floats
    weights: Floats
    band: float
    auc: float
    low: float
    high: float
    auc_of_counts: float
    brier: float
    base_brier: float
    calibration: float


class OutlookFit(NamedTuple):
    """All stages, and the phrases that were chosen on all runs."""

    stages: dict[str, StageFit]
    phrases: Chosen


def fit(runs: list[Walked]) -> OutlookFit:
    """All stages; phrases are chosen over all of them at once."""
    standing = {stage: at_stage(runs, stage) for stage in STAGES}
    model, failed = groups(runs), np.array([run.failed for run in runs])
    tasks = [run.task for run in runs]
    spoken = {stage: (each.places, each.spoken) for stage, each in standing.items()}
    everything = np.ones(len(runs), bool)
    shifts = {stage: np.zeros(len(runs)) for stage in STAGES}
    plain = {stage: np.zeros(len(runs)) for stage in STAGES}
    for seed in SEEDS:
        fold = folds(tasks, seed)
        for number in np.unique(fold):
            inside = fold != number
            chosen = choose(spoken, model, failed, inside)
            for stage, each in standing.items():
                for words, sums in ((True, shifts), (False, plain)):
                    x = columns(each, stage, chosen if words else None)
                    places = np.array(each.places)
                    out = ~inside[places]
                    sums[stage][places[out]] += _apart(x, model[places], failed[places], out) / len(SEEDS)
    phrases = choose(spoken, model, failed, everything)
    return OutlookFit(
        {stage: _stage(runs, stage, each, phrases, shifts[stage], plain[stage]) for stage, each in standing.items()},
        phrases,
    )


def names_of(stage: str) -> tuple[str, ...]:
    """The counts of a stage, the words last."""
    return (*(ENDED if stage == "end" else GOING), *PHRASES)


def columns(standing: Standing, stage: str, chosen: Chosen | None) -> Floats:
    """Scaled counts; without phrases the words are nothing."""
    names = names_of(stage)
    counts = standing.counts[:, [COLUMNS.index(name) for name in names]]
    for place, phrases in enumerate(chosen or (), counts.shape[1] - len(PHRASES)):
        counts[:, place] = standing.spoken[:, phrases].sum(1)
    return np.column_stack([np.vectorize(partial(scaled, name))(counts[:, place]) for place, name in enumerate(names)])


def _ridge(width: int) -> Floats:
    ridge = np.full(width, RIDGE)
    ridge[-len(PHRASES) :] = RIDGE_OF_WORDS
    return ridge


def _apart(x: Floats, model: Ints, failed: Bools, out: Bools) -> Floats:
    """Shifts of the runs that are out, from weights fitted without them."""
    inside = ~out
    _, means, spread = standardised(x[inside], model[inside])
    known = (x - means) / spread
    sample = balanced(failed[inside], model[inside])
    weights = logistic(known[inside], failed[inside].astype(float), model[inside], _ridge(x.shape[1]), sample)
    return np.asarray(known[out] @ weights)


def _stage(
    runs: list[Walked], stage: str, standing: Standing, phrases: Chosen, crossed: Floats, plain: Floats
) -> StageFit:
    places = standing.places
    x = columns(standing, stage, phrases)
    model = groups(runs)[places]
    y = np.array([runs[place].failed for place in places], float)
    known, means, spread = standardised(x, model)
    ridge = _ridge(x.shape[1])
    sample = balanced(y > 0.5, model)
    weights = logistic(known, y, model, ridge, sample)
    generator = np.random.default_rng(5)
    drawn = [known @ logistic(known, y, model, ridge, sample * generator.poisson(1.0, len(y))) for _ in range(_DRAWS)]
    ranking = Ranking(y > 0.5, [runs[place].model for place in places], [runs[place].task for place in places])
    shifts = crossed[places]
    ranked, counted = ranking.rank(shifts), ranking.rank(plain[places])
    if ranked is None or counted is None:
        raise SystemExit(f"Stage {stage}: no model has enough runs of both ends to be ranked.")
    base = np.array([y[model == group].mean() for group in model])
    usual = np.array([shifts[model == group].mean() for group in model])
    chances = _chances(shifts - usual, base)
    return StageFit(
        names_of(stage),
        len(places),
        means,
        weights / spread,
        float(np.std(drawn, axis=0).mean()),
        *ranked,
        counted.auc,
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
