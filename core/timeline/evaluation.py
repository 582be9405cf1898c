"""How well readings predict the end of runs whose end is known."""

from __future__ import annotations

import gzip
import tomllib
from collections.abc import Iterator, Sequence
from functools import partial
from math import nan
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from core.agents.registry import known_agents, make_kit
from core.agents.values import decode, table, text
from core.engine.percept import AXES
from core.engine.receptor.receptor import EFFECTIVE
from core.engine.response.outlook import left_out_scores, shift_of, stage_fit, stage_of
from core.engine.response.tables import LOOPS
from core.engine.society.engine import Engine, Step
from core.errors import UnreadableLog
from core.events import Event, SessionEnd, ToolUse, Turn, Where
from core.logs.finder import sessions
from core.logs.format import Kit, Sample, recognise
from core.logs.session import read_session as read_session
from core.settings import Settings

LABELS = "labels.jsonl"
_GZIP = b"\x1f\x8b"


class RunSource(NamedTuple):
    """A run on disk: one line of a file, or a log with its label."""

    origin: str
    line: int
    label: bytes  # The line, or the line of the labels file.
    log: Path | None = None


class LabelledRun(NamedTuple):
    """A run and how it ended."""

    run: str
    model: str
    task: str
    resolved: bool
    events: list[Event]


def sources(paths: list[Path]) -> Iterator[RunSource]:
    """Every run in files and folders, in their order."""
    for path in paths:
        if path.is_dir():
            yield from _folder_runs(path)
        else:
            yield from _lines(path)


def _lines(path: Path) -> Iterator[RunSource]:
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == _GZIP
            raw.seek(0)
            file = cast("IO[bytes]", gzip.GzipFile(fileobj=raw)) if packed else raw
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield RunSource(str(path), number, line)
    except (OSError, EOFError) as error:
        raise UnreadableLog(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from error


def _folder_runs(folder: Path) -> Iterator[RunSource]:
    labels = folder / LABELS
    if not labels.is_file():
        raise UnreadableLog(
            f'{folder}: has no {LABELS}; each line there is {{"log": FILE, "resolved": true or false, '
            '"model": NAME, "task": NAME}'
        )
    for source in _lines(labels):
        name = text(table(decode(source.label)).get("log"))
        yield source._replace(log=folder / name if name else None)


def labelled_run(source: RunSource, kit: Kit) -> LabelledRun | str:
    """Return the run with its events, or a message saying why it is not a run."""
    label = decode(source.label)
    place = f"{source.origin}:{source.line}"
    if not isinstance(label, dict):
        return f"{place}: is not a JSON object"
    if not isinstance(label.get("resolved"), bool):
        return f"{place}: resolved: missing; it must be true or false"
    name = text(label.get("run")) or text(label.get("log")) or place
    if source.log is not None:
        try:
            chosen = sessions([source.log], kit)
        except UnreadableLog as error:
            return f"{place}: {error}"
        events = list(read_session(chosen[0], kit))
    elif "traj" in label or "messages" in label:
        record = msgspec.json.encode(label["traj"]) if "traj" in label else source.label
        form = recognise(Sample(record, Path(source.origin)), known_agents())
        if form is None:
            return f"{place}: traj: not a document of a known agent"
        reader = form.reader(kit, session=name)
        events = [*reader.feed(record, Where(source.origin), source.line), *reader.finish()]
    else:
        return f"{place}: has neither messages nor traj"
    model, task = text(label.get("model")), text(label.get("task")) or name
    return LabelledRun(name, model, task, label["resolved"], without_finish(events))


def without_finish(events: list[Event]) -> list[Event]:
    """Return the events without the act of finishing, which would give the outcome away."""
    left = list(events)
    while left and isinstance(left[-1], SessionEnd | Turn):
        ended = isinstance(left.pop(), SessionEnd)
        if ended and left and isinstance(left[-1], ToolUse):
            left.pop()
    if left and isinstance(left[-1], ToolUse) and left[-1].outcome == "pending":
        left.pop()
        if left and isinstance(left[-1], Turn):
            left.pop()
    return left


Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
LEAST = 5  # Runs of either end that a model needs, to be ranked.
_DRAWS = 200
_SEED = 7


class Ranked(NamedTuple):
    """An AUC and its 90 % interval."""

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
        task_names = sorted(set(tasks))
        place = {task: number for number, task in enumerate(task_names)}
        self._task = np.array([place[task] for task in tasks])
        samples = np.random.default_rng(_SEED).integers(0, len(task_names), (_DRAWS, len(task_names)))
        self._draws = np.array([np.bincount(row, minlength=len(task_names)) for row in samples], float).T

    def rank(self, values: Floats) -> Ranked | None:
        """Return the AUC for failing and its interval; None if no model has both kinds of runs."""
        if not self._groups:
            return None
        plain: list[float] = []
        sampled: list[Floats] = []
        for rows in self._groups:
            weights = np.hstack([np.ones((len(rows), 1)), self._draws[self._task[rows]]])
            areas = weighted_auc(values[rows], self._failed[rows], weights)
            plain.append(float(areas[0]))
            sampled.append(areas[1:])
        low, high = np.nanquantile(np.nanmean(np.array(sampled), axis=0), (0.05, 0.95))
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


# Numbers of actions after which running sessions are read, and the end without its final action.
POINTS = ("10", "15", "20", "25", "end")
ALARMS = ("loop", "frustration", "stuck", "halt", "ask_person")
_METHODS = {"frustration_alert": "frustration", "ask_person": "ask_person"}
TENTHS = 10
ABLE = 0.9  # The greatest share of unresolved runs of a model that is worth watching by alarms.


class Walk(Struct, frozen=True):
    """One run through the engine: its readings at every point, its alarms, its forecasts."""

    run: str
    model: str
    task: str
    failed: bool
    readings: dict[str, dict[str, float]]  # By point.
    alarms: dict[str, int]  # The number of the action that first raised each.
    # Forecasts of the next call by tenth: their number, their sum, and how many failed.
    forecasts: tuple[tuple[int, float, float], ...]
    squared: float
    actions: int


class Missed(NamedTuple):
    """A line that is not a labelled run, and why."""

    reason: str


def walk_all(chunk: Sequence[RunSource], settings: Settings) -> list[Walk | Missed]:
    """Several runs, one after another."""
    kit = make_kit(settings.ingest)
    return list(map(partial(walk_source, kit=kit, settings=settings), chunk))


def walk_source(source: RunSource, kit: Kit, settings: Settings) -> Walk | Missed:
    """One run, from its line."""
    run = labelled_run(source, kit)
    return Missed(run) if isinstance(run, str) else walk_run(run, settings)


def walk_run(run: LabelledRun, settings: Settings) -> Walk:
    """One run through the engine."""
    walker = _Walker(settings)
    for event in run.events:
        walker.step(event)
    return walker.close(run)


class _Walker:
    """Takes the readings of one run on its way."""

    def __init__(self, settings: Settings) -> None:
        self._engine = Engine(settings)
        self._outlook = settings.response.outlook
        self._sums = [0.0] * len(AXES)
        self._actions = 0
        self._readings: dict[str, dict[str, float]] = {}
        self._alarms: dict[str, int] = {}
        self._tenths = [[0, 0.0, 0.0] for _ in range(TENTHS)]
        self._squared = 0.0

    def step(self, event: Event) -> None:
        action = isinstance(event, ToolUse) and event.outcome in EFFECTIVE and event.action != "plan"
        if action and str(self._actions) in POINTS:
            self._readings[str(self._actions)] = self._take(False)
        scored = self._engine.mind.heart.forecast.scored
        step = self._engine.step(event)
        if action:
            self._actions += 1
            for place, value in enumerate(step.percept.axes):
                self._sums[place] += value
        forecast = self._engine.mind.heart.forecast
        if forecast.scored > scored:
            self._score_step(forecast.expected, forecast.failed)
        for name in _raised(step, self._engine.receptor.storm):
            self._alarms.setdefault(name, self._actions)

    def _score_step(self, expected: float, failed: bool) -> None:
        row = self._tenths[min(TENTHS - 1, int(expected * TENTHS))]
        row[0] += 1
        row[1] += expected
        row[2] += failed
        self._squared += (expected - failed) ** 2

    def _take(self, ended: bool) -> dict[str, float]:
        """Means of the axes so far, the plain facts, and the read-out."""
        count = max(1, self._actions)
        readings: dict[str, float] = {axis: total / count for axis, total in zip(AXES, self._sums, strict=True)}
        facts = self._engine.receptor.facts.read()
        for name in facts.__struct_fields__:
            readings[name] = float(getattr(facts, name))
        stage = stage_of(facts.actions, ended)
        readings["forecast"] = nan if stage == "too early" else shift_of(facts, stage_fit(stage, self._outlook))
        return readings

    def close(self, run: LabelledRun) -> Walk:
        if self._actions:
            self._readings["end"] = self._take(True)
        tenths = tuple((int(count), total, failed) for count, total, failed in self._tenths)
        known = run.run, run.model, run.task, not run.resolved
        return Walk(*known, self._readings, self._alarms, tenths, self._squared, self._actions)


def _raised(step: Step, storm: bool) -> list[str]:
    """Return the alarms a person would see, and the marks."""
    names = [_METHODS[fired.method] for fired in step.reaction.fired if fired.method in _METHODS]
    loop = step.reaction.loop
    if loop is not None:
        names += ["loop", f"loop.{loop.detector}"]
    if step.percept.state == "stuck":
        names += ["stuck", "mark.stuck"] if storm else ["mark.stuck"]
    if step.verdict.halted_now:
        names.append("halt")
    return names


def evaluate(walks: Sequence[Walk]) -> dict[str, Any]:
    """Everything there is to say of these runs, as plain figures."""
    models = sorted({walk.model for walk in walks})
    intervals: dict[str, dict[str, list[float]]] = {}
    auc: dict[str, dict[str, float | None]] = {}
    for point in POINTS:
        there = [walk for walk in walks if point in walk.readings]
        if not there:
            continue
        failed = np.array([walk.failed for walk in there])
        ranking = Ranking(failed, [walk.model for walk in there], [walk.task for walk in there])
        for name in there[0].readings[point]:
            ranked = ranking.rank(np.array([walk.readings[point][name] for walk in there]))
            auc.setdefault(name, {})[point] = None if ranked is None else round(ranked.auc, 4)
            if ranked is not None:
                intervals.setdefault(name, {})[point] = [round(ranked.low, 4), round(ranked.high, 4)]
    return {
        "runs": len(walks),
        "models": len(models),
        "by_model": {model: _model([walk for walk in walks if walk.model == model]) for model in models},
        "auc": auc,
        "intervals": intervals,
        "forecast_on_tasks_left_out": left_out_scores(),
        "loops_on_groups_left_out": tomllib.loads(LOOPS.decode()),
        "alarms": _alarms(walks),
        "alarms_of_able_models": _alarms(_able(walks)),
        "calibration": {"next_call": _next_call(walks), "forecast": _readout(walks)},
    }


def _model(walks: list[Walk]) -> dict[str, Any]:
    shifts = [walk.readings["end"]["forecast"] for walk in walks if "end" in walk.readings]
    return {
        "runs": len(walks),
        "unresolved": round(sum(walk.failed for walk in walks) / len(walks), 4),
        "own_shift": round(sum(shifts) / len(shifts), 4) if shifts else 0.0,
    }


def _able(walks: Sequence[Walk]) -> list[Walk]:
    """Runs of models that resolve at least a tenth of theirs: elsewhere any alarm is right."""
    able = {walk.model for walk in walks}
    for model in sorted(able):
        own = [walk.failed for walk in walks if walk.model == model]
        if sum(own) > ABLE * len(own):
            able.discard(model)
    return [walk for walk in walks if walk.model in able]


def _alarms(walks: Sequence[Walk]) -> dict[str, dict[str, float | int | None]]:
    """Compare each alarm with the base rate of the models in whose runs it fires."""
    names = [*ALARMS, *sorted({name for walk in walks for name in walk.alarms} - set(ALARMS))]
    failing = dict.fromkeys((walk.model for walk in walks), 0)
    counts = dict(failing)
    for walk in walks:
        counts[walk.model] += 1
        failing[walk.model] += walk.failed
    rows: dict[str, dict[str, float | int | None]] = {}
    for name in names:
        alarmed = [walk for walk in walks if name in walk.alarms]
        bad = sum(walk.failed for walk in alarmed)
        good = sum(not walk.failed for walk in walks)
        rates = [failing[walk.model] / counts[walk.model] for walk in alarmed]
        rows[name] = {
            "runs": len(alarmed),
            "precision": round(bad / len(alarmed), 4) if alarmed else None,
            "base": round(sum(rates) / len(rates), 4) if alarmed else None,
            "good_alarmed": round((len(alarmed) - bad) / good, 4) if good else None,
            "recall": round(bad / (len(walks) - good), 4) if len(walks) > good else None,
            "median_action": float(np.median([walk.alarms[name] for walk in alarmed])) if alarmed else None,
        }
    return rows


def _next_call(walks: Sequence[Walk]) -> dict[str, Any]:
    sums = np.array([walk.forecasts for walk in walks]).sum(0) if walks else np.zeros((TENTHS, 3))
    count = float(sums[:, 0].sum())
    tenths = [
        {"calls": int(calls), "said": round(expected / calls, 4), "was": round(was / calls, 4)}
        for calls, expected, was in sums.tolist()
        if calls
    ]
    return {
        "calls": int(count),
        "brier": round(float(sum(walk.squared for walk in walks)) / count, 4) if count else None,
        "tenths": tenths,
    }


def _readout(walks: Sequence[Walk]) -> dict[str, Any]:
    """The read-out as a chance, with each model's own base rate and usual shift."""
    points: dict[str, Any] = {}
    for point in POINTS:
        there = [walk for walk in walks if point in walk.readings]
        if not there:
            continue
        models = np.array([walk.model for walk in there])
        shifts = np.array([walk.readings[point]["forecast"] for walk in there])
        failed = np.array([walk.failed for walk in there])
        expected, base = chances(shifts, failed, models)
        parts = np.array_split(np.argsort(expected, kind="stable"), min(TENTHS, len(expected)))
        means = [(len(part), float(expected[part].mean()), float(failed[part].mean())) for part in parts]
        tenths = [{"runs": runs, "said": round(said, 4), "was": round(was, 4)} for runs, said, was in means]
        error = sum(row["runs"] * abs(row["said"] - row["was"]) for row in tenths) / len(expected)
        points[point] = {
            "runs": len(there),
            "brier": round(float(np.mean((expected - failed) ** 2)), 4),
            "brier_of_base_rate": round(float(np.mean((base - failed) ** 2)), 4),
            "error": round(float(error), 4),
            "tenths": tenths,
        }
    return points


def chances(shifts: Floats, failed: Bools, models: Any) -> tuple[Floats, Floats]:
    """The chance of failing of every run, and its model's base rate."""
    expected, base = np.zeros(len(shifts)), np.zeros(len(shifts))
    for model in np.unique(models):
        rows = models == model
        rate = float(np.clip(failed[rows].mean(), 0.01, 0.99))
        odds = np.log(rate / (1.0 - rate)) + shifts[rows] - shifts[rows].mean()
        expected[rows] = 1.0 / (1.0 + np.exp(-odds))
        base[rows] = failed[rows].mean()
    return expected, base
