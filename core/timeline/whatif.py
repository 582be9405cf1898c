"""The what-if: a recording run again with other settings, and how its readings and firings differ."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.engine.percept import AGENT_STATES, AXES, SIGNALS, Axis
from core.engine.response.learned import NOTHING_LEARNED, cue_deltas
from core.engine.response.rules import CUE_OF, Cue, Method, built_in
from core.events import Event
from core.extension.hooks import BranchRun
from core.extension.use import program_registry
from core.settings import Settings
from core.timeline.initial_state import InitialState
from core.timeline.marks import Mark
from core.timeline.rerun import FELT, Difference, Rerun, compare, rerun_with
from core.timeline.run import CODES, NAMES, Track
from core.timeline.timeline import Timeline

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
        mine = [mark for mark in silenced if mark.name.startswith(axis) and mark.agent == agent]
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
