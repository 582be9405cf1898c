"""Labelled runs as the fits need them: counts after every action."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

import core.agents.models
from bench.fit.phrases import POOL
from bench.fit.ridge import Floats, Ints
from core.agents.models import Tone, plain_words
from core.agents.registry import make_kit
from core.engine.receptor.facts import COUNTS, ActionFacts
from core.engine.receptor.receptor import EFFECTIVE
from core.events import Prompt, ToolUse, Turn
from core.settings.receptor import FactSettings
from core.timeline.evaluation import LabelledRun, RunSource, labelled_run, sources

RECENT = ("failures_recent", "stale_recent", "edits_recent")
COLUMNS = (*COUNTS, *RECENT)
STAGES = ("10", "15", "20", "end")


class Walked(NamedTuple):
    """One run, action by action."""

    model: str
    task: str
    failed: bool
    counts: Floats  # A row an action, a column a count.
    spoken: NDArray[np.int16]  # A row an action, a column a phrase of the pool: answers up to then that held it.


@contextmanager
def _heard() -> Iterator[list[str]]:
    """Everything agents say while runs are read; a turn then carries the place of its words."""
    said: list[str] = [""]

    def listen(words: str) -> Tone:
        said.append(words)
        return Tone(len(said) - 1)

    with patch.object(core.agents.models, "tone", listen):
        yield said


def whole_prompts(path: Path) -> dict[str, str]:
    """The prompt of each task, from lines with `task` and `prompt`."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return {line["task"]: line["prompt"] for line in lines}


def _with_prompt(source: RunSource, prompts: dict[str, str]) -> RunSource:
    """A run with the whole prompt of its task in place of one that was cut."""
    run = json.loads(source.label)
    prompt = prompts.get(run.get("task", ""))
    messages = run["traj"]["messages"] if "traj" in run else run["messages"]
    asked = next((message for message in messages if message["role"] == "user"), None)
    if prompt is None or asked is None:
        return source
    asked["content"] = prompt
    return source._replace(label=json.dumps(run).encode())


def walked(paths: list[Path], prompts: dict[str, str]) -> list[Walked]:
    """Every labelled run, walked through the plain figures."""
    kit = make_kit()
    found: list[Walked] = []
    with _heard() as said:
        for source in sources(paths):
            del said[1:]
            run = labelled_run(_with_prompt(source, prompts), kit)
            if isinstance(run, str):
                raise SystemExit(run)
            one = _walk(run, said)
            if one is not None:
                found.append(one)
    return found


def _walk(run: LabelledRun, said: list[str]) -> Walked | None:
    facts = ActionFacts(FactSettings())
    rows: list[list[float]] = []
    spoken = np.zeros(len(POOL), np.int64)
    heard: list[Ints] = []
    for event in run.events:
        if isinstance(event, Turn):
            words = plain_words(said[event.checking])
            spoken = spoken + [phrase in words for phrase in POOL]
        elif isinstance(event, ToolUse) and event.outcome in EFFECTIVE and event.action != "plan":
            facts.update(event)
            rows.append([getattr(facts, name) for name in COLUMNS])
            heard.append(spoken)
        elif isinstance(event, Prompt):
            facts.add_prompt(event)
    if not rows:
        return None
    return Walked(run.model, run.task, not run.resolved, np.array(rows, float), np.array(heard, np.int16))


class Standing(NamedTuple):
    """The runs still going at a stage."""

    places: list[int]
    counts: Floats
    spoken: Floats


def at_stage(runs: list[Walked], stage: str) -> Standing:
    """Runs still going at a stage, by their places, with their counts there."""
    if stage == "end":
        places, last = list(range(len(runs))), -1
    else:
        places = [place for place, run in enumerate(runs) if len(run.counts) > int(stage)]
        last = int(stage) - 1
    return Standing(
        places,
        np.array([runs[place].counts[last] for place in places]),
        np.array([runs[place].spoken[last] for place in places], float),
    )


def groups(runs: list[Walked]) -> Ints:
    """The number of each run's model."""
    names = sorted({run.model for run in runs})
    return np.array([names.index(run.model) for run in runs], dtype=np.int64)
