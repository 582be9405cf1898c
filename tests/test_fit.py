"""The fits on made-up runs whose law is known."""

from __future__ import annotations

import numpy as np
import pytest

from bench.fit import felt, impulses, outlook
from bench.fit.phrases import POOL
from bench.fit.ridge import folds, logistic
from bench.fit.runs import COLUMNS, Walked
from core.engine.receptor.emotion import EmotionEngine
from core.settings.receptor import EmotionSettings
from tests.core.engine.receptor.acts import published

CHECK, DOUBT = POOL.index(" verif"), POOL.index(" maybe ")


def made(count: int = 160) -> list[Walked]:
    """Runs that fail where they look at new files and say maybe, and end well where they test and verify."""
    generator = np.random.default_rng(3)
    runs = []
    for number in range(count):
        failed = bool(number % 2)
        length = int(generator.integers(22, 30))
        chances = generator.random(length)
        odd = chances < (0.7 if failed else 0.3)
        causes = tuple(("new_file",) if one else ("shell_success", "test_run") for one in odd)
        counts = np.zeros((length, len(COLUMNS)))
        counts[:, COLUMNS.index("actions")] = np.arange(1, length + 1)
        counts[:, COLUMNS.index("new_files")] = np.cumsum(odd)
        counts[:, COLUMNS.index("tests")] = np.cumsum(~odd)
        spoken = np.zeros((length, len(POOL)), dtype=np.int16)
        spoken[:, DOUBT] = np.cumsum(odd)
        spoken[:, CHECK] = np.cumsum(~odd)
        times = tuple(20.0 * place for place in range(length))
        patterns = ("implementation",) * length
        runs.append(
            Walked(
                f"m{number % 3}",
                f"t{number % 20}",
                failed,
                counts,
                spoken,
                causes,
                times,
                patterns,
                (0.0,) * length,
            )
        )
    return runs


def test_all_runs_of_a_task_are_in_one_fold() -> None:
    tasks = [f"t{number % 20}" for number in range(100)]
    fold = folds(tasks, 1)
    for task in set(tasks):
        assert len({int(fold[place]) for place, each in enumerate(tasks) if each == task}) == 1


def test_a_ridge_draws_weights_to_nothing() -> None:
    x = np.array([[1.0], [-1.0]] * 20)
    y = np.array([1.0, 0.0] * 20)
    group = np.zeros(40, dtype=np.int64)
    free, held = logistic(x, y, group, 1.0), logistic(x, y, group, 100.0)
    assert free[0] > held[0] > 0.0


def test_the_readout_finds_the_law_and_is_the_same_twice() -> None:
    runs = made()
    fit = outlook.fit(runs)
    again = outlook.fit(runs)
    for stage, one in fit.stages.items():
        assert one.auc > 0.8
        assert one.weights[one.names.index("new_files")] > 0.0 > one.weights[one.names.index("tests")]
        assert len(one.names) <= 20
        np.testing.assert_array_equal(one.weights, again.stages[stage].weights)
    assert (fit.phrases.checking, fit.phrases.doubting) == ([CHECK], [DOUBT])


def test_impulses_rise_with_what_foretells_failing() -> None:
    runs = made()
    fit = impulses.fit_axis(runs, impulses.sentences(runs), 4.0, "actions")
    assert fit.auc["end"] > 0.8
    assert impulses.impulse("frustration", "new_file", fit) > 0.0
    assert impulses.impulse("confidence", "new_file", fit) < 0.0
    assert impulses.impulse("frustration", "shell_success", fit) <= 0.0
    assert impulses.every_event("flow", fit) >= 0.0


def test_impulses_under_given_half_lives_keep_the_sense_of_their_axes() -> None:
    runs = made()
    said = impulses.sentences(runs)
    fits = felt.fit(runs, said)
    for axis, one in fits.items():
        shape, sign = felt.SHAPES[axis], felt.SHAPES[axis].sign
        assert all(score > 0.8 for score in one.auc.values())
        assert sign * one.impulses["new_file"] > 0.0
        assert sign * one.impulses["test_run"] < 0.0
        assert one.impulses["every_event"] == shape.every_event
        for row, least in felt.LEAST.items():
            if row != "trial_error":
                assert sign * one.impulses[row] >= least * shape.cap - 1e-4
        for row, most in felt.MOST.items():
            assert sign * one.impulses[row] <= most * shape.cap + 1e-4


def test_an_axis_that_is_fitted_is_felt_as_the_receptor_feels_it() -> None:
    runs = made(20)
    acts = felt._Acts(runs)
    shape = felt.SHAPES["frustration"]
    amounts = np.zeros(len(felt.COLUMNS))
    amounts[[0, felt.COLUMNS.index("new_file"), felt.COLUMNS.index("test_run")]] = 0.01, 0.2, -0.3
    means = felt._feel(acts, shape, acts.kept(shape.half_life), amounts).means["end"]
    rows = {
        "every_event": {"frustration": 0.01},
        "new_file": {"frustration": 0.2},
        "test_run": {"frustration": -0.3},
    }
    for run, mean in zip(runs, means, strict=True):
        engine = EmotionEngine(EmotionSettings(), published(impulse=rows).impulse)
        levels = []
        for at, causes in zip(run.times, run.causes, strict=True):
            causes = tuple(cause for cause in causes if cause != "shell_success")
            engine.update(1, at, at, causes, "", False)
            levels.append(engine.values[0])
        assert mean == pytest.approx(sum(levels) / len(levels), abs=1e-6)


def test_phrases_without_a_law_are_not_chosen() -> None:
    runs = [run._replace(failed=bool(number // 2 % 2)) for number, run in enumerate(made())]
    chosen = outlook.fit(runs).phrases
    assert len(chosen.checking) + len(chosen.doubting) <= 1
