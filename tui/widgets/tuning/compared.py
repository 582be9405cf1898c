"""Actual against what-if, as far as it is known: the value that flows down to the panels of the bench."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from core.percept import AXES
from core.timeline.firings import Difference
from core.timeline.marks import Mark
from core.timeline.rerun import FELT, Rerun
from core.timeline.timeline import Timeline
from core.timeline.track import CODES, NAMES, Track

_UNSEEN = ("at", "threshold.", "baseline.")
_SERIES = tuple(name for name in NAMES if name not in CODES and not name.startswith(_UNSEEN))
_LEAST = 1e-4
"""Smaller differences are no difference to the eye."""


class Compared(NamedTuple):
    """One what-if over one recording."""

    edits: Mapping[str, Any]
    felt: Rerun | None
    """Axes and signals: soon there. None where the edits cannot touch them."""
    whole: Rerun | None
    """Everything."""
    difference: Difference
    done: int
    """Events the difference covers."""
    total: int
    complete: bool
    """Every mechanism was run over every event."""
    share: float
    """Of the work done so far, from 0 to 1."""

    @property
    def settled(self) -> bool:
        """What the difference says of signals will not change any more."""
        return self.done >= self.total

    def track(self, agent: str, series: str = "axis.flow") -> tuple[Track | None, int]:
        """The what-if's readings of an agent and the events they cover, from the run that is further."""
        runs = [self.whole]
        if series in FELT:
            runs.insert(0, self.felt)
        found = [(run.tracks.get(agent), run.done) for run in runs if run is not None]
        return max(found, key=lambda one: one[1], default=(None, 0))

    def changes(self) -> list[tuple[int, str, Mark]]:
        """Every difference by place: `+` gained, `-` lost, `~` moved."""
        found = [(mark.place, "+", mark) for mark in self.difference.gained]
        found += [(mark.place, "-", mark) for mark in self.difference.lost]
        found += [(pair.other.place, "~", pair.other) for pair in self.difference.moved]
        return sorted(found)


def touched(timeline: Timeline, compared: Compared | None, agent: str, named: str, most: int) -> list[str]:
    """Columns worth a curve: those the edits name, then those that came out most differently."""
    chosen: list[str] = []
    edits = compared.edits if compared is not None else {}
    for name in (*edits, named):
        last = name.rpartition(".")[2]
        if last in AXES and f"axis.{last}" not in chosen:
            chosen.append(f"axis.{last}")
    if compared is not None:
        apart = {series: _apart(timeline, compared, agent, series) for series in _SERIES}
        ranked = sorted(apart, key=lambda series: -apart[series])
        chosen += [series for series in ranked if apart[series] > _LEAST and series not in chosen]
    return (chosen or ["axis.frustration"])[: max(1, most)]


def filled(chosen: list[str], wanted: int) -> list[str]:
    """Further axes where there is room for them."""
    others = [f"axis.{axis}" for axis in AXES if f"axis.{axis}" not in chosen]
    return [*chosen, *others[: max(0, wanted - len(chosen))]]


def _apart(timeline: Timeline, compared: Compared, agent: str, series: str) -> float:
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
