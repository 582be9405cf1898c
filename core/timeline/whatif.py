"""What-ifs and sweeps: a recording run again with other settings, and how its readings and firings differ."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from core.agents.registry import make_kit
from core.engine.percept import AGENT_STATES, AXES, SIGNALS, Axis
from core.engine.response.rules import CUE_OF, NOTHING_LEARNED, Cue, Method, built_in, cue_deltas
from core.errors import NooscopeError, UsageError
from core.events import Event
from core.extension.hooks import BranchRun
from core.extension.registry import program_registry
from core.logs.session import LogSession, read_session
from core.settings import Settings
from core.settings.group import Tunable
from core.settings.layers import Given, Layer, resolve, tunables, value_of
from core.store.bookmarks import Label, Labels, Score, score
from core.timeline.initial_state import PLAIN, InitialState
from core.timeline.marks import Mark
from core.timeline.opening import seed_of
from core.timeline.rerun import FELT, Difference, Rerun, compare, key_of, rerun_with, with_edits
from core.timeline.run import CODES, NAMES, Track
from core.timeline.timeline import SettingsChange, Timeline, without_collector

Column = NDArray[np.float32]
BY_FLOW = "muted by flow"
BY_COOLDOWN = "muted by cooldown"

_SAME = 1e-6
_FLOW = 1 << SIGNALS.index("flow_active")
_SIGNAL_OF: dict[Axis, str] = {
    "frustration": "frustration_spike",
    "seeking": "seeking_spike",
    "uncertainty": "uncertainty_spike",
    "confidence": "confidence_sustained",
    "fatigue": "fatigue_rising",
}


def silenced_by_flow(tracks: Mapping[str, Track], events: Sequence[Event]) -> list[Mark]:
    """Each rise of an axis to its threshold while the flow gate let nothing else be sent."""
    marks: list[Mark] = []
    for agent, track in tracks.items():
        flows = np.bitwise_and(track.columns.column("signals").astype(np.int64), _FLOW) != 0
        if not flows.any():
            continue
        for axis, signal in _SIGNAL_OF.items():
            above = track.columns.column(f"axis.{axis}") - track.columns.column(f"threshold.{axis}")
            crossed = flows & (above >= 0.0)
            rises = np.flatnonzero(crossed & ~np.concatenate(([False], crossed[:-1])))
            for row in rises.tolist():
                place = track.indexes[row]
                marks.append(Mark(place, events[place].at, agent, "signal", f"{signal} {BY_FLOW}", float(above[row])))
    return sorted(marks)


def silenced_by_cooldown(
    tracks: Mapping[str, Track], marks: Sequence[Mark], settings: Settings, initial: InitialState
) -> list[Mark]:
    """Return each fresh signal that a method would have answered without its cooldown."""
    rules = initial.rules or built_in()
    scoring = settings.response.scoring
    deltas = cue_deltas(initial.learned or NOTHING_LEARNED, settings.response.learning)
    listening: dict[Cue, list[Method]] = {}
    for method in rules.methods:
        for cue in method.trigger.signals if method.enabled else ():
            listening.setdefault(cue, []).append(method)
    last: dict[tuple[str, str], float] = {}
    fired = {(mark.place, mark.name) for mark in marks if mark.kind in ("method", "background")}
    silenced: list[Mark] = []
    for mark in marks:
        if mark.kind in ("method", "background"):
            last[mark.agent, mark.name] = mark.at
        elif mark.kind == "signal" and mark.name in CUE_OF:
            cue = CUE_OF[mark.name]
            scale = 1.0 + deltas.get(cue, 0.0)
            state = _state(tracks.get(mark.agent), mark.place)
            for method in listening.get(cue, ()):
                trigger = method.trigger
                before = last.get((mark.agent, method.id))
                if before is None or (mark.place, method.id) in fired:
                    continue
                rests = mark.at - before < getattr(scoring, trigger.frequency)
                match = 1.0 if state in trigger.states else scoring.mismatch
                score = match * mark.weight * trigger.sensitivity * scale
                least = scoring.threshold if trigger.threshold is None else trigger.threshold
                if rests and score > least:
                    name = f"{method.id} {BY_COOLDOWN}"
                    silenced.append(Mark(mark.place, mark.at, mark.agent, "signal", name, score))
    return silenced


def _state(track: Track | None, place: int) -> str:
    if track is None:
        return "idle"
    code = track.columns.column("state", track.row(place), track.row(place) + 1)
    return AGENT_STATES[int(code[0])] if len(code) else "idle"


def why_unchanged(
    edits: Sequence[str], tracks: Mapping[str, Track], silenced: Sequence[Mark], agent: str, lowest: float = 0.0
) -> list[str]:
    """Sentences that say why edits of an axis changed nothing that fired.

    `lowest` is the threshold below which no setting of an offset can bring an axis.
    """
    sentences: list[str] = []
    for axis in dict.fromkeys(name.rpartition(".")[2] for name in edits):
        if axis not in AXES or agent not in tracks:
            continue
        by_flow = [mark for mark in silenced if mark.name.endswith(BY_FLOW) and mark.agent == agent]
        mine = [mark for mark in by_flow if mark.name.startswith(axis)]
        if mine:
            rises = "1 crossing" if len(mine) == 1 else f"{len(mine)} crossings"
            sentences.append(
                f"nothing changed, because flow muted {rises} of {axis}: nothing else fires while the agent is in flow"
            )
            continue
        columns = tracks[agent].columns
        values, thresholds = columns.column(f"axis.{axis}"), columns.column(f"threshold.{axis}")
        if len(values):
            sentences.append(f"nothing changed, because {_unmoved(axis, values, thresholds, lowest)}")
    return sentences


def _unmoved(axis: str, values: Column, thresholds: Column, lowest: float) -> str:
    """Why a threshold that was moved is crossed no otherwise."""
    nearest = int((values - thresholds).argmax())
    if values[nearest] >= thresholds[nearest]:
        return (
            f"{axis} crosses its threshold at the same places; the threshold is between "
            f"{float(thresholds.min()):.2f} and {float(thresholds.max()):.2f}"
        )
    sentence = f"{axis} never reaches its threshold: at most {values[nearest]:.2f} of {thresholds[nearest]:.2f}"
    if thresholds[nearest] <= lowest + _SAME:
        sentence += f", and receptor.ambient.low keeps thresholds at or above {lowest:.2f}"
    return sentence


_UNSEEN = ("at", "threshold.", "baseline.")
_SERIES = tuple(name for name in NAMES if name not in CODES and not name.startswith(_UNSEEN))
_BATCH = 48  # Events between two looks at whether the result is still wanted.
_FIRST = 0.012  # Seconds until the first partial result.
_EVERY = 0.4  # Seconds between two partial results.
_BREATH = 0.002  # Seconds between two batches of background work, so that a key press is answered first.
_LEAST = 1e-4  # Smaller differences cannot be seen.


class TextChange(NamedTuple):
    """A method's text, and its text under the edits at the same event."""

    mark: Mark
    before: str
    after: str


class WhatIfResult(NamedTuple):
    """One what-if over one recording."""

    edits: Mapping[str, Any]
    felt: Rerun | None  # Axes and signals, available early; None if the edits cannot change them.
    whole: Rerun | None  # Everything.
    difference: Difference
    done: int  # Events the difference covers.
    total: int
    complete: bool  # Every mechanism was run over every event.
    share: float  # Share of the work done so far, from 0 to 1.
    silenced: Difference | None = None  # Crossings that were or would not be heard; None until all is run.
    # Texts of methods that fire in both runs and differ; None until they are known.
    texts: tuple[TextChange, ...] | None = None

    @property
    def settled(self) -> bool:
        """Whether the difference in signals is final."""
        return self.done >= self.total

    def track(self, agent: str, series: str = "axis.flow") -> tuple[Track | None, int]:
        """The what-if's readings of an agent and the events they cover, from the run that is further."""
        runs = [self.whole]
        if series in FELT:
            runs.insert(0, self.felt)
        tracks = [(run.tracks.get(agent), run.done) for run in runs if run is not None]
        return max(tracks, key=lambda one: one[1], default=(None, 0))

    def why_unchanged(self, agent: str) -> list[str]:
        """Return why nothing fires differently; empty if something does, or if the run is not complete."""
        if self.whole is None or self.silenced is None or not self.difference.equal:
            return []
        unheard = [pair.other for pair in self.silenced.kept + self.silenced.moved] + [*self.silenced.gained]
        lowest = self.whole.eras[-1].settings.receptor.ambient.low
        return why_unchanged(tuple(self.edits), self.whole.tracks, unheard, agent, lowest)

    def changes(self) -> list[tuple[int, str, Mark]]:
        """Every difference by place: `+` gained, `-` lost, `~` moved."""
        rows = [(mark.place, "+", mark) for mark in self.difference.gained]
        rows += [(mark.place, "-", mark) for mark in self.difference.lost]
        rows += [(pair.other.place, "~", pair.other) for pair in self.difference.moved]
        return sorted(rows)


def changed_series(timeline: Timeline, compared: WhatIfResult | None, agent: str, setting: str, most: int) -> list[str]:
    """Return the columns worth a curve: the edited ones, then the columns that differ most."""
    chosen: list[str] = []
    edits = compared.edits if compared is not None else {}
    for name in (*edits, setting):
        last = name.rpartition(".")[2]
        if last in AXES and f"axis.{last}" not in chosen:
            chosen.append(f"axis.{last}")
    if compared is not None:
        apart = {series: _apart(timeline, compared, agent, series) for series in _SERIES}
        ranked = sorted(apart, key=lambda series: -apart[series])
        chosen += [series for series in ranked if apart[series] > _LEAST and series not in chosen]
    return (chosen or ["axis.frustration"])[: max(1, most)]


def filled_series(chosen: list[str], most: int) -> list[str]:
    """Add further axes up to `most` series."""
    others = [f"axis.{axis}" for axis in AXES if f"axis.{axis}" not in chosen]
    return [*chosen, *others[: max(0, most - len(chosen))]]


def _apart(timeline: Timeline, compared: WhatIfResult, agent: str, series: str) -> float:
    actual = timeline.tracks.get(agent)
    other, _ = compared.track(agent, series)
    if actual is None or other is None or series not in other.columns.names:
        return 0.0
    rows = min(len(actual), len(other))
    apart = _mean_gap(actual, other, series, rows)
    if series.startswith("axis."):
        apart += _mean_gap(actual, other, series.replace("axis", "threshold", 1), rows)
    return apart


def _mean_gap(actual: Track, other: Track, series: str, rows: int) -> float:
    mine, theirs = actual.columns.column(series, 0, rows), other.columns.column(series, 0, rows)
    rows = min(len(mine), len(theirs))
    if not rows:
        return 0.0
    return float(np.abs(mine[:rows] - theirs[:rows]).mean() / max(1.0, float(np.abs(mine[:rows]).max())))


@lru_cache(1)
def _unedited(timeline: Timeline, eras: int) -> Rerun:  # noqa: ARG001 with more of them it is another run
    """Return the unedited re-run of a recording, for texts that a cache did not store; it serves all edits."""
    return rerun_with(timeline, {})


def _unhurried(run: Rerun, cancelled: Callable[[], bool]) -> bool:
    """Run to the end, key presses first; return False if it was cancelled."""
    while run.advance(_BATCH):
        if cancelled():
            return False
        time.sleep(_BREATH)
    return not cancelled()


class WhatIf:
    """One set of edits over one recording; run it again when the recording went on."""

    def __init__(self, timeline: Timeline, edits: Mapping[str, Any]) -> None:
        self.timeline = timeline
        self.edits = dict(edits)
        self.felt: Rerun | None = None
        self.whole: Rerun | None = None
        self._unedited: Rerun | None = None  # The unedited re-run, for texts that a cache did not store.

    @property
    def behind(self) -> bool:
        """The recording went on, or nothing was run yet."""
        return self.whole is None or self.whole.done < self.whole.total

    def run(self, post: Callable[[WhatIfResult], object], cancelled: Callable[[], bool]) -> None:
        """Run to the end, posting a result now and then; or until it is cancelled."""
        program_registry().call("on_branch", BranchRun(len(self.timeline), tuple(self.edits.items())))
        due = time.monotonic() + _FIRST
        for feels in (True, False):
            rerun = self._rerun(feels)
            more = rerun is not None
            while more and rerun is not None:
                if cancelled():
                    return
                more = rerun.advance(_BATCH)
                if more and time.monotonic() >= due:
                    post(self.result())
                    due = time.monotonic() + _EVERY
            if rerun is not None and not cancelled():
                post(self.result())
        if self._recorded_texts() is None:
            self._unedited = _unedited(self.timeline, len(self.timeline.changes))
            if _unhurried(self._unedited, cancelled):
                post(self.result())

    def _recorded_texts(self) -> Mapping[tuple[int, str], str] | None:
        """Return the texts of methods in the recording; None until they are known."""
        if self.timeline.run.texts_from == 0:
            return self.timeline.run.texts
        unedited = self._unedited
        if unedited is not None and unedited.done >= len(self.timeline):
            return unedited.run.texts
        return None

    def _texts(self) -> tuple[TextChange, ...] | None:
        """Return the texts that differ where a method fires in both runs."""
        whole = self.whole
        if whole is None or whole.done < len(self.timeline):
            return None
        before, after = self._recorded_texts(), whole.run.texts
        if before is None:
            return None
        return tuple(
            TextChange(mark, before[key], after[key])
            for mark in self.timeline.marks
            if mark.kind in ("method", "background")
            and (key := (mark.place, mark.name)) in before
            and before[key] != after.get(key, before[key])
        )

    def _silenced(self) -> Difference | None:
        """Crossings that were not heard in either run."""
        timeline, whole = self.timeline, self.whole
        if whole is None or whole.done < len(timeline):
            return None
        events, initial = timeline.events, timeline.initial
        actual = silenced_by_flow(timeline.tracks, events)
        marks = timeline.marks.between(0, len(timeline))
        actual += silenced_by_cooldown(timeline.tracks, marks, timeline.settings, initial)
        other = silenced_by_flow(whole.tracks, events)
        other += silenced_by_cooldown(whole.tracks, whole.marks(), whole.eras[-1].settings, initial)
        return compare(actual, other, timeline.settings.timeline.branch.near)

    def _rerun(self, feels: bool) -> Rerun | None:
        """Return the run of the receptor alone if the edits concern it, or the run of everything."""
        if not feels:
            self.whole = self.whole or rerun_with(self.timeline, self.edits)
            return self.whole
        if self.felt is None and any(name.startswith("receptor.") for name in self.edits):
            self.felt = rerun_with(self.timeline, self.edits, whole=False)
        return self.felt

    def result(self) -> WhatIfResult:
        """Return the result so far: signals from the run that is further, all else from the whole run."""
        receptor, whole = self.felt, self.whole
        total = min(len(self.timeline), whole.most) if whole else len(self.timeline)
        run, lived = (receptor.done if receptor else 0), (whole.done if whole else 0)
        near = self.timeline.settings.timeline.branch.near
        done = max(run, lived)
        actual = self.timeline.marks.between(0, done)
        other = whole.marks() if whole is not None else []
        if receptor is not None and run > lived:
            actual = [mark for mark in actual if mark.kind == "signal" or mark.place < lived]
            other = [mark for mark in other if mark.kind != "signal"] + receptor.marks()
        weight = 0.15 if receptor is not None else 0.0
        share = (weight * run + (1.0 - weight) * lived) / total if total else 1.0
        difference, covered = compare(actual, other, near), (done, total, lived >= total, share)
        return WhatIfResult(self.edits, receptor, whole, difference, *covered, self._silenced(), self._texts())


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
