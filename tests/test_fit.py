"""The fits on made-up runs whose law is known."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from bench.fit import outlook
from bench.fit.phrases import CHECKING, POOL
from bench.fit.ridge import folds, logistic
from bench.fit.runs import COLUMNS, Walked, walked, whole_prompts

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
        counts = np.zeros((length, len(COLUMNS)))
        counts[:, COLUMNS.index("actions")] = np.arange(1, length + 1)
        counts[:, COLUMNS.index("new_files")] = np.cumsum(odd)
        counts[:, COLUMNS.index("tests")] = np.cumsum(~odd)
        spoken = np.zeros((length, len(POOL)), dtype=np.int16)
        spoken[:, DOUBT] = np.cumsum(odd)
        spoken[:, CHECK] = np.cumsum(~odd)
        runs.append(Walked(f"m{number % 3}", f"t{number % 20}", failed, counts, spoken))
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
    assert (fit.phrases.checking, fit.phrases.doubting) == (CHECKING, [DOUBT])


def test_a_cut_prompt_is_replaced_by_the_whole_one(tmp_path: Path) -> None:
    """Names of the prompt can be counted only if the prompt is whole."""
    calls = [
        {
            "role": "assistant",
            "content": "<function=execute_bash>\n<parameter=command>cat a.py</parameter>\n</function>",
        },
        {"role": "user", "content": "EXECUTION RESULT of [execute_bash]:\ndef read_all(): close_all()"},
    ]
    messages = [{"role": "user", "content": "fix [... 9 characters cut ...]"}, *calls]
    runs = tmp_path / "runs.jsonl"
    runs.write_text(json.dumps({"run": "1", "model": "m", "task": "t", "resolved": True, "messages": messages}))
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text(json.dumps({"task": "t", "prompt": "fix read_all and write_all"}) + "\n")
    places = [COLUMNS.index(name) for name in ("names_asked", "names_seen")]
    (cut,), (whole,) = walked([runs], {}), walked([runs], whole_prompts(prompts))
    assert cut.counts[-1, places].tolist() == [0, 0]
    assert whole.counts[-1, places].tolist() == [2, 1]
