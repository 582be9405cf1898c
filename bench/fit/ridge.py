"""A logistic with a ridge and an intercept a group, and how well it ranks on tasks it has not seen."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.timeline.evaluation import Bools

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
FOLDS = 5
_STEPS = 15
_INTERCEPT = 0.3  # The ridge on intercepts, so that a group that always ends the same way keeps a finite one.


def logistic(
    x: Floats,
    y: Floats,
    groups: Ints,
    ridge: float | Floats,
    sample: Floats | None = None,
    offset: Floats | None = None,
) -> Floats:
    """Weights of the columns; each group has an intercept of its own, which is not given back."""
    count = int(groups.max()) + 1
    rows, width = x.shape
    inside = np.zeros((rows, count))
    inside[np.arange(rows), groups] = 1.0
    every = np.hstack([x, inside])
    penalty = np.concatenate([np.full(width, ridge), np.full(count, _INTERCEPT)])
    weight = np.ones(rows) if sample is None else sample
    found = np.zeros(width + count)
    beside = np.zeros(rows) if offset is None else offset
    for _ in range(_STEPS):
        chance = 1.0 / (1.0 + np.exp(-(every @ found + beside)))
        slope = every.T @ (weight * (chance - y)) + penalty * found
        curve = (every * (weight * chance * (1.0 - chance) + 1e-9)[:, None]).T @ every + np.diag(penalty)
        found = found - np.linalg.solve(curve, slope)
    return np.asarray(found[:width])


def folds(tasks: list[str], seed: int) -> Ints:
    """A fold for every run, all runs of a task in the same one."""
    names = sorted(set(tasks))
    order = np.random.default_rng(seed).permutation(len(names)) % FOLDS
    place: dict[str, Any] = dict(zip(names, order, strict=True))
    return np.array([place[task] for task in tasks], dtype=np.int64)


def standardised(x: Floats, groups: Ints) -> tuple[Floats, Floats, Floats]:
    """Columns with their mean over groups taken off and their spread within groups made one."""
    means = np.mean([x[groups == group].mean(0) for group in np.unique(groups)], axis=0)
    within = x.copy()
    for group in np.unique(groups):
        within[groups == group] -= within[groups == group].mean(0)
    spread = np.asarray(within.std(0)) + 1e-6
    return (x - means) / spread, np.asarray(means), spread


def balanced(y: Bools, groups: Ints) -> Floats:
    """A weight for every row, so that a group of many runs of both ends does not drown the others.

    Rankings are averaged over groups; full balance would hang too much on a group with a handful of runs.
    """
    weights = np.ones(len(y))
    for group in np.unique(groups):
        rows = groups == group
        share = float(y[rows].mean())
        weights[rows] = 1.0 / np.sqrt(max(1.0, share * (1.0 - share) * rows.sum()))
    return np.asarray(weights * len(y) / weights.sum())
