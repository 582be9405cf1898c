"""The timeline's activity: calls, failures above them, the context below, silenced stretches shaded."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.events import Event, ToolUse
from core.timeline.columns import Numbers
from tui.widgets.common.timeline_cells import EventWindow

_STEPS = "▁▂▃▄▅▆▇█"
_MOST = 9
SHADE = "░"

Cell = tuple[str, str]
Counts = tuple[NDArray[np.int64], NDArray[np.int64]]


class CallPlaces:
    """Where an agent's calls and failures stand, kept as a recording grows."""

    __slots__ = ("_agent", "_calls", "_events", "_failures", "_seen")

    def __init__(self) -> None:
        self._events: Sequence[Event] | None = None
        self._agent = ""
        self._seen = 0
        self._calls = array("q")
        self._failures = array("q")

    def counts(self, events: Sequence[Event], agent: str, window: EventWindow) -> Counts:
        """Calls and failures in each cell of a window."""
        if events is not self._events or agent != self._agent or len(events) < self._seen:
            self._events, self._agent, self._seen = events, agent, 0
            self._calls, self._failures = array("q"), array("q")
        for place in range(self._seen, len(events)):
            event = events[place]
            if type(event) is ToolUse and event.agent == agent:
                self._calls.append(place)
                if event.outcome == "failure":
                    self._failures.append(place)
        self._seen = len(events)
        edges = np.asarray(window.edges(), np.int64)
        return _between(self._calls, edges), _between(self._failures, edges)


def _between(places: array[int], edges: NDArray[np.int64]) -> NDArray[np.int64]:
    if not places:
        return np.zeros(len(edges) - 1, np.int64)
    found = np.searchsorted(np.frombuffer(places, np.int64), edges)
    return np.diff(found).astype(np.int64)


def activity_names(curve: int) -> list[str]:
    """What stands before each row."""
    if curve == 1:
        return ["calls"]
    if curve == 2:
        return ["failed", "calls"]
    return ["failed", "calls", *([""] * (curve - 3)), "context"]


def activity_rows(counts: Counts, context: Numbers, curve: int) -> list[list[Cell]]:
    """Failures, calls and context in so many rows; where there is but one, failures stand in the bars."""
    calls, failures = counts
    tallest = max(1, int(calls.max(initial=0)))
    failed = [_failed(int(number)) for number in failures]
    if curve == 1:
        bars = _bars(calls, tallest, 1)[0]
        return [[mark if mark[0] != " " else bar for mark, bar in zip(failed, bars, strict=True)]]
    height = max(1, curve - 2)
    rows = [failed, *_bars(calls, tallest, height)]
    if curve > 2:
        rows.append([_level(float(value)) for value in context])
    return rows


def _failed(number: int) -> Cell:
    if number == 0:
        return " ", "track"
    return ("×" if number == 1 else str(number) if number <= _MOST else "+"), "alert"


def _level(share: float) -> Cell:
    """A point of the context's line; dim where the context is nearly empty."""
    step = max(0, min(7, int(share * 8)))
    return _STEPS[step], "fatigue" if share > 0.0 else "track"


def _bars(calls: NDArray[np.int64], tallest: int, height: int) -> list[list[Cell]]:
    """Calls against the busiest stretch, an eighth of a cell fine; one call is always seen."""
    eighths = [max(1, round(8 * height * int(number) / tallest)) if number else 0 for number in calls]
    rows: list[list[Cell]] = []
    for row in range(height - 1, -1, -1):
        cells: list[Cell] = []
        for number in eighths:
            left = number - 8 * row
            cells.append((_STEPS[min(left, 8) - 1], "confidence") if left > 0 else (" ", "track"))
        rows.append(cells)
    return rows


def shade(row: Sequence[Cell], silenced: Sequence[bool]) -> list[Cell]:
    """A row with its empty cells shaded where the flow gate silences."""
    return [
        (SHADE, "flow-dim") if quiet and cell in _EMPTY else cell
        for cell, quiet in zip(row, silenced, strict=True)
    ]


_EMPTY = frozenset(((" ", "track"), (" ", "quiet"), ("▁", "track")))
