"""The weights of the outlook at each stage, and their worth on tasks left out.

Each stage shares weights with the others and adds its own. Phrases are chosen again inside every fold, so that
the scores are those of the whole procedure.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from bench.fit.phrases import Chosen, choose
from bench.fit.ridge import Floats, Ints, balanced, folds, logistic, standardised
from bench.fit.runs import COLUMNS, STAGES, Standing, Walked, at_stage, groups
from core.engine.response.outlook import NAMES, PHRASES, scaled
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
    NAMES,
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
    NAMES,
)
SHARED = 60.0  # The ridge on the weights that all stages share.
OWN = 100.0  # The ridge on what a stage adds to them.
WORDS = 2.0  # Words carry over to other tasks less well than counts: their ridge is so many times as strong.
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


class Sample(NamedTuple):
    """Scaled counts of the runs at one stage."""

    x: Floats
    failed: Bools
    model: Ints
    counted: Floats  # How often each run counts.


Samples = dict[str, Sample]
Weights = dict[str, tuple[Floats, Floats]]  # By stage: the mean of every count, and its weight.


def fit(runs: list[Walked]) -> OutlookFit:
    """All stages; phrases are chosen over all of them at once."""
    standing = {stage: at_stage(runs, stage) for stage in STAGES}
    model, failed = groups(runs), np.array([run.failed for run in runs])
    spoken = {stage: (each.places, each.spoken) for stage, each in standing.items()}
    everyone = np.ones(len(runs))
    shifts = {stage: np.zeros(len(runs)) for stage in STAGES}
    plain = {stage: np.zeros(len(runs)) for stage in STAGES}

    def samples(chosen: Chosen | None, counted: Floats) -> Samples:
        return {
            stage: Sample(columns(each, stage, chosen), failed[each.places], model[each.places], counted[each.places])
            for stage, each in standing.items()
        }

    for seed in SEEDS:
        fold = folds([run.task for run in runs], seed)
        for number in np.unique(fold):
            inside = fold != number
            for sums, chosen in ((shifts, choose(spoken, model, failed, inside)), (plain, None)):
                parts = samples(chosen, inside.astype(float))
                for stage, values in _shifts(parts, fit_stages(parts)).items():
                    places = np.array(standing[stage].places)
                    sums[stage][places] += np.where(inside[places], 0.0, values) / len(SEEDS)
    phrases = choose(spoken, model, failed, everyone > 0.0)
    parts = samples(phrases, everyone)
    weights = fit_stages(parts)
    generator = np.random.default_rng(5)
    draws = [generator.poisson(1.0, len(runs)).astype(float) for _ in range(_DRAWS)]
    drawn = [
        _shifts(
            parts,
            fit_stages({stage: one._replace(counted=draw[standing[stage].places]) for stage, one in parts.items()}),
        )
        for draw in draws
    ]
    return OutlookFit(
        {
            stage: _stage(
                runs,
                stage,
                each.places,
                weights[stage],
                [one[stage] for one in drawn],
                shifts[stage][each.places],
                plain[stage][each.places],
            )
            for stage, each in standing.items()
        },
        phrases,
    )


def _shifts(samples: Samples, weights: Weights) -> dict[str, Floats]:
    return {stage: (sample.x - weights[stage][0]) @ weights[stage][1] for stage, sample in samples.items()}


def fit_stages(samples: Samples) -> Weights:
    """Fit all stages together: a stage departs from the shared weights as far as its own runs show it."""
    shared = list(dict.fromkeys((*GOING, *ENDED, *PHRASES)))
    width = len(shared)
    ridge = np.repeat([SHARED, *[OWN] * len(samples)], width)
    ridge *= np.tile([WORDS if name in PHRASES else 1.0 for name in shared], len(samples) + 1)
    models = 1 + max(sample.model.max() for sample in samples.values())
    blocks, group, failed, counted, scales = [], [], [], [], {}
    for number, (stage, sample) in enumerate(samples.items()):
        rows = sample.counted > 0.0
        known, means, spread = standardised(sample.x[rows], sample.model[rows])
        places = np.array([shared.index(name) for name in names_of(stage)])
        own = places + width * (number + 1)
        block = np.zeros((len(known), len(ridge)))
        block[:, places] = block[:, own] = known
        blocks.append(block)
        group.append(sample.model[rows] + models * number)
        failed.append(sample.failed[rows])
        counted.append(balanced(sample.failed[rows], sample.model[rows]) * sample.counted[rows])
        scales[stage] = (means, spread, places, own)
    weights = logistic(
        np.vstack(blocks), np.concatenate(failed).astype(float), np.concatenate(group), ridge, np.concatenate(counted)
    )
    return {
        stage: (means, (weights[places] + weights[own]) / spread)
        for stage, (means, spread, places, own) in scales.items()
    }


def names_of(stage: str) -> tuple[str, ...]:
    """The counts of a stage, the words last."""
    return (*(ENDED if stage == "end" else GOING), *PHRASES)


def columns(standing: Standing, stage: str, chosen: Chosen | None) -> Floats:
    """Scaled counts; without phrases the words are nothing."""
    names = names_of(stage)
    counts = standing.counts[:, [COLUMNS.index(name) for name in names]]
    for place, phrases in enumerate(chosen or (), counts.shape[1] - len(PHRASES)):
        counts[:, place] = standing.spoken[:, phrases].sum(1)
    actions, asked = (standing.counts[:, COLUMNS.index(name)] for name in ("actions", "names_asked"))
    return np.column_stack(
        [np.vectorize(partial(scaled, name))(counts[:, place], actions, asked) for place, name in enumerate(names)]
    )


def _stage(
    runs: list[Walked],
    stage: str,
    places: list[int],
    learned: tuple[Floats, Floats],
    drawn: list[Floats],
    shifts: Floats,
    plain: Floats,
) -> StageFit:
    model = groups(runs)[places]
    y = np.array([runs[place].failed for place in places], float)
    ranking = Ranking(y > 0.5, [runs[place].model for place in places], [runs[place].task for place in places])
    ranked, counted = ranking.rank(shifts), ranking.rank(plain)
    if ranked is None or counted is None:
        raise SystemExit(f"Stage {stage}: no model has enough runs of both ends to be ranked.")
    base = np.array([y[model == group].mean() for group in model])
    usual = np.array([shifts[model == group].mean() for group in model])
    chances = _chances(shifts - usual, base)
    return StageFit(
        names_of(stage),
        len(places),
        *learned,
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
