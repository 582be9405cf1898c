"""One setting over its range: how often each thing fires, and how well that agrees with labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from core.agents.registry import make_kit
from core.errors import NooscopeError, UsageError
from core.logs.session import LogSession, read_session
from core.settings import Settings
from core.settings.group import Tunable
from core.settings.layers import Given, Layer, resolve, tunables, value_of
from core.store.bookmarks import Label, Labels, Score, score
from core.timeline.initial_state import PLAIN, InitialState
from core.timeline.marks import Mark
from core.timeline.opening import seed_of
from core.timeline.rerun import Rerun, key_of, rerun_with, with_edits
from core.timeline.timeline import SettingsChange, Timeline, without_collector


class SweepPoint(Struct, frozen=True):
    """Firings at one value of the setting."""

    value: Any
    fired: int
    names: dict[str, int]
    hits: int = 0
    misses: int = 0
    false: int = 0

    @property
    def score(self) -> Score:
        """Agreement with labels."""
        return Score(self.hits, self.misses, self.false)


class Sweep(Struct, frozen=True):
    """A setting, the values tried, and the present one."""

    name: str
    present: Any
    points: tuple[SweepPoint, ...]
    sessions: int = 1
    events: int = 0
    labelled: int = 0  # Labels the sessions have.
    what: str = "firing"  # What was counted: every firing, or signals alone.

    @property
    def moving(self) -> tuple[str, ...]:
        """Names that fire more or less often as the value changes."""
        names = sorted({name for point in self.points for name in point.names})
        return tuple(name for name in names if len({point.names.get(name, 0) for point in self.points}) > 1)


def grid(tunable: Tunable, low: float, high: float, count: int) -> list[float]:
    """Return `count` values from one bound to the other, within the limits of the setting."""
    if tunable.kind not in ("number", "integer"):
        raise UsageError(f"{tunable.name} has no range; it must be {tunable.allowed()}")
    if count < 2 or not low < high:
        raise UsageError(f"{tunable.name}: a sweep needs a lower and a higher value and at least 2 steps")
    if (tunable.low is not None and low < tunable.low) or (tunable.high is not None and high > tunable.high):
        raise UsageError(f"{tunable.name} may be {tunable.allowed()}")
    values = [float(f"{low + (high - low) * step / (count - 1):.10g}") for step in range(count)]
    if tunable.kind == "integer":
        return sorted({round(value) for value in values})
    return values


def usual_grid(tunable: Tunable, present: float, count: int = 21) -> list[float]:
    """Return values over the whole range if it is short, else up to three times the usual value."""
    low, high = tunable.low or 0.0, tunable.high if tunable.high is not None else 1.0
    usual = max(present, float(tunable.default))
    if usual > max(low, 0.0) and high > 4 * usual:
        high = 3 * usual
    return sorted({*grid(tunable, low, high, count), present})


_MOST = 1000  # Values one sweep may try.


def parse_sweep(text: str) -> tuple[str, list[float]]:
    """`NAME=lo:hi:n` as a setting and its values."""
    name, _, span = text.partition("=")
    tunable = tunables().get(name.strip())
    if tunable is None:
        raise UsageError(f"{name.strip()!r} is not a setting; `nooscope settings WORD` finds one")
    try:
        bounds, _, steps = span.rpartition(":")
        low, high = map(float, bounds.split(":"))
        count = int(steps)
    except ValueError:
        raise UsageError(f"--set needs NAME=lo:hi:n, such as {tunable.name}=0:1:21") from None
    if not 1 <= count <= _MOST:
        raise UsageError(f"a sweep takes from 1 to {_MOST} values, not {count}")
    return tunable.name, grid(tunable, low, high, count)


def sweep_session(
    session: LogSession,
    settings: Settings,
    name: str,
    values: Sequence[float],
    labels: Path | None = None,
    initial: InitialState = PLAIN,
    later: Sequence[SettingsChange] = (),
) -> Sweep:
    """Run one saved session at every value, from its own seed."""
    kit = make_kit(settings.ingest)
    events = list(read_session(session, kit, settings.ingest.lines))
    labels_of_session = Labels(session.id, folder=labels).judged()
    start = initial._replace(seed=seed_of(session.id))
    near = settings.timeline.branch.near
    points: list[SweepPoint] = []
    eras = [SettingsChange(0, settings), *later]
    for value in values:
        rerun = Rerun(events, [era._replace(settings=with_edits(era.settings, {name: value})) for era in eras], start)
        with without_collector():
            rerun.advance(len(events))
        points.append(_point(value, rerun.marks(), labels_of_session, near))
    return Sweep(name, value_of(settings, name), tuple(points), 1, len(events), len(labels_of_session))


def sweep_recording(
    timeline: Timeline,
    name: str,
    values: Sequence[float],
    labels: Sequence[Label],
    report: Callable[[Sweep], bool],
    edits: Mapping[str, Any] | None = None,
) -> None:
    """Run a recording at every value, with the other edits.

    `report` receives each step and returns False to stop. Settings of the receptor are tried on signals alone.
    """
    all_edits = dict(edits or {})
    whole = not all(each.startswith("receptor.") for each in (name, *all_edits))
    present = all_edits.get(name, value_of(timeline.settings, name))
    near = timeline.settings.timeline.branch.near
    points: dict[float, SweepPoint] = {}

    def partial_sweep() -> Sweep:
        what = "firing" if whole else "signal"
        ordered = tuple(points[value] for value in sorted(points))
        return Sweep(name, present, ordered, 1, len(timeline), len(labels), what)

    for value in spread(values, present):
        rerun = rerun_with(timeline, {**all_edits, name: value}, whole=whole)
        while rerun.advance(200):
            if not report(partial_sweep()):
                return
        points[value] = _point(value, rerun.marks(), labels, near)
        if not report(partial_sweep()):
            return


def spread(values: Sequence[float], present: float) -> list[float]:
    """Order values so that the whole range shows soon: the present one and the ends first, then halves."""
    ordered = sorted(values)
    chosen = [min(ordered, key=lambda value: abs(value - present)), ordered[0], ordered[-1]]
    size = len(ordered)
    while size > 1:
        size = -(-size // 2)
        chosen += ordered[::size]
    return list(dict.fromkeys(chosen))


def join_sweeps(sweeps: Sequence[Sweep]) -> Sweep:
    """Several sessions at the same values, summed."""
    first = sweeps[0]
    points: list[SweepPoint] = []
    for column in zip(*(sweep.points for sweep in sweeps), strict=True):
        names: Counter[str] = Counter()
        for point in column:
            names.update(point.names)
        fired = sum(point.fired for point in column)
        agreed = [sum(counts) for counts in zip(*(point.score for point in column), strict=True)]
        points.append(SweepPoint(column[0].value, fired, dict(sorted(names.items())), *agreed))
    events, labelled = sum(sweep.events for sweep in sweeps), sum(sweep.labelled for sweep in sweeps)
    return Sweep(first.name, first.present, tuple(points), len(sweeps), events, labelled)


def require_fitting(settings: Settings, name: str, values: Sequence[float]) -> None:
    """Refuse values that do not fit the rest of the settings."""
    for value in (values[0], values[-1]):
        number: Any = int(value) if tunables()[name].kind == "integer" else float(value)
        complaints = resolve([Layer("--set", (Given(name, number),))]).complaints
        if complaints:
            raise NooscopeError(str(complaints[0]))
    if not isinstance(value_of(settings, name), int | float):
        raise NooscopeError(f"{name} has no range")


def _point(value: float, marks: Sequence[Mark], labels: Sequence[Label], near: float) -> SweepPoint:
    names = Counter(key_of(mark) for mark in marks)
    agreed = score(labels, ((mark.at, mark.agent, key_of(mark)) for mark in marks), near)
    return SweepPoint(value, len(marks), dict(sorted(names.items())), agreed.hits, agreed.misses, agreed.false)
