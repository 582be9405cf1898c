"""What the timeline draws: a stretch of the recording reduced to one cell a column."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from core.engine.percept import AGENT_STATES, AXES, SIGNALS
from core.timeline.columns import Numbers
from core.timeline.marks import Mark, MarkKind
from core.timeline.run import Track
from core.timeline.timeline import Timeline

GLYPHS: dict[MarkKind, tuple[str, str]] = {
    "halt": ("■", "alert"),
    "quarantine": ("▣", "alert"),
    "signal": ("▲", "strong"),
    "method": ("◆", "strong"),
    "advice": ("»", "live"),
    "compaction": ("▽", "fatigue"),
    "dream": ("◦", "fatigue"),
    "shift": ("◇", "quiet"),
    "agent": ("+", "quiet"),
    "regime": ("~", "quiet"),
    "prompt": ("│", "live"),
}
"""How each kind is drawn, the one that wins a cell first; changes of state are the band."""
_FLOW = 1 << SIGNALS.index("flow_active")
_RANK = {kind: rank for rank, kind in enumerate(GLYPHS)}

BANDS: dict[str, tuple[str, str]] = {
    "idle": ("·", "quiet"),
    "exploring": ("─", "seeking"),
    "delegating": ("═", "uncertainty"),
    "deep_work": ("━", "flow"),
    "stuck": ("▄", "frustration"),
}


class EventWindow(NamedTuple):
    """The events a strip stands for, and its width."""

    start: int
    stop: int
    width: int

    def cell(self, index: int) -> int:
        """The column of the playhead after the first `index` events."""
        span = max(1, self.stop - self.start)
        return max(0, min(self.width - 1, (index - self.start) * self.width // span))

    def place(self, cell: int) -> int:
        """The playhead that stands in a column; the last one is the end."""
        span = self.stop - self.start
        if cell >= self.width - 1:
            return self.stop
        return self.start + max(0, cell) * span // max(1, self.width)

    def edges(self) -> list[int]:
        """The first event of every cell, and the end."""
        span = self.stop - self.start
        return [self.start + cell * span // self.width for cell in range(self.width + 1)]


def column_of(series: str) -> str:
    """The column of a track that holds a series."""
    return f"axis.{series}" if series in AXES else series


def heights(track: Track | None, series: str, window: EventWindow) -> Numbers:
    """The greatest value of a series in each cell; a cell without events goes on with the one before."""
    if track is None or window.stop <= window.start:
        return np.zeros(window.width, np.float32)
    name = column_of(series)
    first, last = track.row(window.start - 1) + 1, track.row(window.stop - 1) + 1
    earlier = track.columns.column(name, max(0, first - 1), first)
    before = float(earlier[0]) if len(earlier) else 0.0
    if last <= first:
        return np.full(window.width, before, np.float32)
    if last - first == window.stop - window.start:
        _, high = track.columns.envelope(name, first, last, window.width)
        if len(high) == window.width:
            return high
        return high[np.arange(window.width) * len(high) // window.width]
    values = track.columns.column(name, first, last)
    edges = [max(0, min(track.row(edge - 1) + 1 - first, len(values))) for edge in window.edges()]
    made = np.empty(window.width, np.float32)
    for cell in range(window.width):
        begin, end = edges[cell], edges[cell + 1]
        if end > begin:
            made[cell] = values[begin:end].max()
            before = float(values[end - 1])
        else:
            made[cell] = before
    return made


def band(track: Track | None, window: EventWindow) -> list[str]:
    """The state of each cell; being stuck wins over all others."""
    if track is None or window.stop <= window.start:
        return ["idle"] * window.width
    first, last = track.row(window.start - 1) + 1, track.row(window.stop - 1) + 1
    codes = track.columns.column("state", max(0, first - 1), last).astype(np.intp)
    if len(codes) == 0:
        return ["idle"] * window.width
    offset = max(0, first - 1)
    stuck = AGENT_STATES.index("stuck")
    edges = window.edges()
    rows = [max(0, min(track.row(edge - 1) - offset, len(codes) - 1)) for edge in edges]
    states: list[str] = []
    for cell in range(window.width):
        begin, end = rows[cell], rows[cell + 1]
        inside = codes[begin + 1 : end + 1]
        code = stuck if (inside == stuck).any() else int(codes[end])
        states.append(AGENT_STATES[code])
    return states


def silenced(track: Track | None, window: EventWindow) -> list[bool]:
    """The cells in which the flow gate keeps all other signals from being sent."""
    if track is None or window.stop <= window.start:
        return [False] * window.width
    edges = window.edges()
    first = track.row(edges[0] - 1)
    codes = track.columns.column("signals", max(0, first), track.row(edges[-1] - 1) + 1).astype(np.int64)
    flows = np.bitwise_and(codes, _FLOW) != 0
    rows = [track.row(edge - 1) - max(0, first) for edge in edges]
    found = []
    for begin, end in pairwise(rows):
        inside = flows[begin + 1 : end + 1] if end > begin else flows[max(0, end) : end + 1]
        found.append(bool(inside.any()))
    return found


def winners(marks: Sequence[Mark], window: EventWindow) -> dict[int, MarkKind]:
    """The mark that is drawn in each cell that has any."""
    found: dict[int, MarkKind] = {}
    for mark in marks:
        rank = _RANK.get(mark.kind)
        if rank is not None:
            cell = window.cell(mark.place + 1)
            if cell not in found or rank < _RANK[found[cell]]:
                found[cell] = mark.kind
    return found


def gaps(timeline: Timeline, window: EventWindow, least: float) -> set[int]:
    """Cells in which the log was silent for long."""
    edges = window.edges()
    found = set()
    times = [timeline.time_of(edge) for edge in edges]
    for cell in range(window.width):
        if times[cell + 1] - times[cell] < least:
            continue
        inside = timeline.events[max(0, edges[cell] - 1) : edges[cell + 1]]
        if any(later.at - earlier.at >= least for earlier, later in pairwise(inside)):
            found.add(cell)
    return found


def bookmarked(places: Sequence[int], window: EventWindow) -> set[int]:
    """Cells with a bookmark."""
    begin, end = bisect_right(places, window.start - 1), bisect_right(places, window.stop)
    return {window.cell(place) for place in places[begin:end]}
