"""How well a reading ranks runs: AUC within each model, averaged, with an interval over tasks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
LEAST = 5
"""Runs of either end that a model needs, to be ranked."""
_DRAWS = 200
_SEED = 7


class Ranked(NamedTuple):
    """An AUC and the interval that holds it nine times in ten."""

    auc: float
    low: float
    high: float


class Ranking:
    """Ranks readings of the same runs; tasks are drawn again for the interval, the same for every reading."""

    def __init__(self, failed: Bools, models: list[str], tasks: list[str]) -> None:
        self._failed = failed
        names = np.array(models)
        self._groups = [
            np.flatnonzero(names == model)
            for model in sorted(set(models))
            if min(failed[names == model].sum(), (~failed[names == model]).sum()) >= LEAST
        ]
        known = sorted(set(tasks))
        place = {task: number for number, task in enumerate(known)}
        self._task = np.array([place[task] for task in tasks])
        drawn = np.random.default_rng(_SEED).integers(0, len(known), (_DRAWS, len(known)))
        self._draws = np.array([np.bincount(row, minlength=len(known)) for row in drawn], float).T

    @property
    def models(self) -> int:
        """How many models have runs of both ends."""
        return len(self._groups)

    def auc(self, values: Floats) -> float:
        """The AUC for failing alone; a half where no model has runs of both ends."""
        areas = [
            float(weighted_auc(values[rows], self._failed[rows], np.ones((len(rows), 1)))[0])
            for rows in self._groups
        ]
        return float(np.mean(areas)) if areas else 0.5

    def rank(self, values: Floats) -> Ranked | None:
        """The AUC for failing, and its interval; None where no model has runs of both ends."""
        if not self._groups:
            return None
        plain: list[float] = []
        drawn: list[Floats] = []
        for rows in self._groups:
            weights = np.hstack([np.ones((len(rows), 1)), self._draws[self._task[rows]]])
            areas = weighted_auc(values[rows], self._failed[rows], weights)
            plain.append(float(areas[0]))
            drawn.append(areas[1:])
        low, high = np.nanquantile(np.nanmean(np.array(drawn), axis=0), (0.05, 0.95))
        return Ranked(float(np.mean(plain)), float(low), float(high))


def weighted_auc(values: Floats, failed: Bools, weights: Floats) -> Floats:
    """One AUC for every column of weights; equal values count half."""
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.diff(values[order], prepend=np.nan) != 0.0)
    bad = np.add.reduceat(weights[order] * failed[order, None], starts, axis=0)
    good = np.add.reduceat(weights[order] * ~failed[order, None], starts, axis=0)
    below = np.cumsum(good, axis=0) - 0.5 * good
    pairs = bad.sum(0) * good.sum(0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((bad * below).sum(0) / pairs)
