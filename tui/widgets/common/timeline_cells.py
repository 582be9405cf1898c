"""The timeline's cells, and marks in a glyph, a style and plain words."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.engine.governor.machine import HALT_WORDS
from core.engine.percept import AGENT_STATES, AXES, SIGNAL_AXES, SIGNALS, Axis
from core.events import Event, ToolUse
from core.report.event_words import MARKS, SIGNAL_WORDS, cause_words, firing_words
from core.report.formatting import fraction, plain, short
from core.timeline.columns import Numbers
from core.timeline.marks import Mark, MarkKind
from core.timeline.run import Track
from core.timeline.timeline import Timeline

if TYPE_CHECKING:
    from core.timeline.marks import Marks


# How each kind is drawn, the one that wins a cell first: a prompt is never hidden. Changes of state are the band.
GLYPHS: dict[MarkKind, tuple[str, str]] = {
    "prompt": ("│", "live"),
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
}
GOOD = ("△", "confidence")  # How a signal that things go well is drawn.
GOOD_SIGNALS = frozenset(("flow_active", "confidence_sustained"))
# What the marks mean, the most important first.
LEGEND: dict[str, str] = {
    "│": "prompt",
    "▲": "problem",
    "△": "good sign",
    "■": "would halt",
    "▽": "compaction",
    "◆": "advice",
    "⚑": "bookmark",
    "+": "sub-agent",
    "◇": "other files",
    "╎": "pause",
    "◦": "dream",
    "▣": "quarantine",
    "»": "sent",
    "~": "regime",
}
_FLOW = 1 << SIGNALS.index("flow_active")
_RANK = {kind: rank for rank, kind in enumerate(GLYPHS)}


def mark_cell(mark: Mark) -> tuple[str, str]:
    """The glyph and style of a mark; signals that things go well are hollow."""
    if mark.kind == "signal" and mark.name in GOOD_SIGNALS:
        return GOOD
    return GLYPHS[mark.kind]


BANDS: dict[str, tuple[str, str]] = {
    "idle": ("·", "quiet"),
    "exploring": ("─", "seeking"),
    "delegating": ("═", "uncertainty"),
    "deep_work": ("━", "flow"),
    "stuck": ("▄", "frustration"),
}


class EventWindow(NamedTuple):
    """The events a strip covers, and its width."""

    start: int
    stop: int
    width: int

    def cell(self, index: int) -> int:
        """The column of the playhead after the first `index` events."""
        span = max(1, self.stop - self.start)
        return max(0, min(self.width - 1, (index - self.start) * self.width // span))

    def place(self, cell: int) -> int:
        """Return the playhead for a column; the last column is the end."""
        span = self.stop - self.start
        if cell >= self.width - 1:
            return self.stop
        return self.start + max(0, cell) * span // max(1, self.width)

    def edges(self) -> list[int]:
        """The first event of every cell, and the end."""
        span = self.stop - self.start
        return [self.start + cell * span // self.width for cell in range(self.width + 1)]


def heights(track: Track | None, series: str, window: EventWindow) -> Numbers:
    """Return the greatest value of a series in each cell; a cell without events repeats the one before."""
    if track is None or window.stop <= window.start:
        return np.zeros(window.width, np.float32)
    name = f"axis.{series}" if series in AXES else series
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
    levels = np.empty(window.width, np.float32)
    for cell in range(window.width):
        begin, end = edges[cell], edges[cell + 1]
        if end > begin:
            levels[cell] = values[begin:end].max()
            before = float(values[end - 1])
        else:
            levels[cell] = before
    return levels


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
    cells = []
    for begin, end in pairwise(rows):
        inside = flows[begin + 1 : end + 1] if end > begin else flows[max(0, end) : end + 1]
        cells.append(bool(inside.any()))
    return cells


def mark_cells(marks: Sequence[Mark], window: EventWindow) -> dict[int, tuple[str, str]]:
    """Return what to draw in each cell with marks: a prompt first; a mark it hides moves beside it."""
    ranked: dict[int, list[tuple[int, Mark]]] = {}
    for mark in marks:
        rank = _RANK.get(mark.kind)
        if rank is not None:
            good = mark.kind == "signal" and mark.name in GOOD_SIGNALS
            place = 2 * rank + good
            ranked.setdefault(window.cell(mark.place + 1), []).append((place, mark))
    cells: dict[int, tuple[str, str]] = {}
    for cell, best in sorted(ranked.items()):
        first, *others = sorted(best, key=lambda each: each[0])
        cells[cell] = mark_cell(first[1])
        second = next((mark for _, mark in others if mark.kind != "prompt"), None)
        beside = cell + 1
        if first[1].kind == "prompt" and second is not None and beside < window.width and beside not in ranked:
            cells[beside] = mark_cell(second)
    return cells


def gaps(timeline: Timeline, window: EventWindow, least: float) -> set[int]:
    """Cells in which the log was silent for long."""
    edges = window.edges()
    cells = set()
    times = [timeline.time_of(edge) for edge in edges]
    for cell in range(window.width):
        if times[cell + 1] - times[cell] < least:
            continue
        inside = timeline.events[max(0, edges[cell] - 1) : edges[cell + 1]]
        if any(later.at - earlier.at >= least for earlier, later in pairwise(inside)):
            cells.add(cell)
    return cells


def bookmarked(places: Sequence[int], window: EventWindow) -> set[int]:
    """Cells with a bookmark."""
    begin, end = bisect_right(places, window.start - 1), bisect_right(places, window.stop)
    return {window.cell(place) for place in places[begin:end]}


_STEPS = "▁▂▃▄▅▆▇█"
_MOST = 9
SHADE = "░"

Cell = tuple[str, str]
Counts = tuple[NDArray[np.int64], NDArray[np.int64]]


class CallPlaces:
    """The places of an agent's calls and failures, kept as a recording grows."""

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
        return _counts_between(self._calls, edges), _counts_between(self._failures, edges)


def _counts_between(places: array[int], edges: NDArray[np.int64]) -> NDArray[np.int64]:
    if not places:
        return np.zeros(len(edges) - 1, np.int64)
    bounds = np.searchsorted(np.frombuffer(places, np.int64), edges)
    return np.diff(bounds).astype(np.int64)


def activity_names(curve: int) -> list[str]:
    """The label of each row."""
    if curve == 1:
        return ["calls"]
    if curve == 2:
        return ["failed", "calls"]
    return ["failed", "calls", *([""] * (curve - 3)), "context"]


def activity_rows(counts: Counts, context: Numbers, curve: int) -> list[list[Cell]]:
    """Draw failures, calls and context in a number of rows; with only one row, failures go into the bars."""
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
    """Calls against the busiest stretch; one call is always seen."""
    eighths = [max(1, round(8 * height * int(number) / tallest)) if number else 0 for number in calls]
    return bar_cells(eighths, height, "confidence")


def bar_cells(eighths: Sequence[int], height: int, ink: str, ground: str = " ") -> list[list[Cell]]:
    """Draw bars from the bottom in eighths of a cell, the top row first; `ground` fills empty cells."""
    return [
        [
            (_STEPS[min(left, 8) - 1], ink) if (left := number - 8 * row) > 0 else (" " if row else ground, "track")
            for number in eighths
        ]
        for row in range(height - 1, -1, -1)
    ]


def shade(row: Sequence[Cell], silenced: Sequence[bool]) -> list[Cell]:
    """A row with its empty cells shaded where the flow gate silences."""
    cells = zip(row, silenced, strict=True)
    return [(SHADE, "flow-dim") if quiet and cell in _EMPTY else cell for cell, quiet in cells]


_EMPTY = frozenset(((" ", "track"), (" ", "quiet"), ("▁", "track")))


_STATE = ("•", "quiet")
# The axis in whose colour a signal is drawn.
MAIN_AXES: dict[str, Axis] = {name: axes[0] for name, axes in SIGNAL_AXES.items()}
_HALTS = {str(reason): words for reason, words in HALT_WORDS.items()}


def mark_style(mark: Mark) -> str:
    """The style of a mark: a signal has its axis' own."""
    if mark.kind == "signal":
        return MAIN_AXES.get(mark.name, "frustration")
    return GLYPHS.get(mark.kind, _STATE)[1]


def mark_glyph(mark: Mark) -> str:
    """The glyph of a mark; signals that things go well are hollow."""
    return mark_cell(mark)[0] if mark.kind in GLYPHS else _STATE[0]


def mark_text(mark: Mark, names: Mapping[str, str] = MappingProxyType({})) -> str:
    """Say what happened, in words; `names` holds the agents' names."""
    name = plain(mark.name)
    if mark.kind == "agent":
        agent, _, what = mark.name.rpartition(" ")
        return f"{names.get(agent) or plain(agent)} {what}"
    if mark.kind in ("signal", "method"):
        return firing_words(name)
    if mark.kind == "halt":
        return f"would halt: {_HALTS.get(name, name.lower())}"
    if mark.kind == "quarantine":
        return f"affect {name} quarantine"
    if mark.kind == "compaction":
        return "compaction" if name == "compaction" else f"compaction, {name}"
    if mark.kind == "dream":
        return "dream after compaction" if name == "compaction" else "dream, sleep pressure was high"
    if mark.kind == "prompt":
        return {"interrupt": "you interrupted", "rollback": "you rolled back prompts"}.get(name, "your prompt")
    if mark.kind == "state":
        return f"now {name.replace('_', ' ')}"
    if mark.kind == "regime":
        return f"regime {name}"
    return name.replace("_", " ")


def _advice(kind: str, name: str) -> str:
    words: str = MARKS[kind].get(name, {}).get("advice", "")
    return words


def mark_reason(mark: Mark, timeline: Timeline) -> str:
    """Say in one line what caused a mark and what to do."""
    if mark.kind == "method":
        return _trigger(mark, timeline)
    advice = _advice("signal", mark.name) if mark.kind == "signal" else _advice("kind", mark.kind)
    axis = MAIN_AXES.get(mark.name) if mark.kind == "signal" else None
    parts = [cause_words(mark.causes), advice]
    track = timeline.tracks.get(mark.agent)
    row = -1 if track is None else track.row(mark.place)
    if axis is not None and track is not None and 0 <= row < len(track.columns):
        value, limit = (track.columns.value(f"{name}.{axis}", row) for name in ("axis", "threshold"))
        parts.append(f"{axis} {fraction(value)}, fires at {fraction(limit)}")
    return " · ".join(part for part in parts if part)


def _trigger(mark: Mark, timeline: Timeline) -> str:
    """Return a method's subject and answer, and where its words are."""
    here = timeline.marks.between(mark.place, mark.place + 1)
    inputs = [firing_words(one.name) for one in here if one.kind == "signal" and one.agent == mark.agent]
    because = f"answers {' and '.join(dict.fromkeys(inputs))}" if inputs else ""
    advice = _advice("method", mark.name)
    text = "" if "m 4 " in advice else "m 4 shows its text"
    return " · ".join(part for part in (advice, because, text) if part)


def mark_amount(mark: Mark) -> str:
    """Say how strong or how much, if that is known."""
    if mark.kind in ("signal", "method") and mark.weight:
        return f"+{fraction(mark.weight)}"
    if mark.kind in ("compaction", "prompt") and mark.weight:
        return f"{short(mark.weight)}{'' if mark.kind == 'compaction' else 'c'}"
    if mark.kind == "halt":
        return f"step {mark.weight:.0f}"
    return ""


assert set(SIGNAL_WORDS) == set(SIGNALS)  # noqa: S101


class MarkFilter:
    """Chosen marks of one recording, of one agent or of all."""

    __slots__ = ("_agent", "_kinds", "_marks", "_seen", "kept", "places")

    def __init__(self, *kinds: MarkKind) -> None:
        self._kinds = frozenset(kinds)
        self._agent: str | None = None
        self._marks: Marks | None = None
        self._seen = 0
        self.kept: list[Mark] = []
        self.places: list[int] = []  # Of the kept ones, in the same order.

    def until(self, marks: Marks, index: int, agent: str | None = None) -> int:
        """How many of `kept` happened within the first `index` events."""
        if marks is not self._marks or agent != self._agent or len(marks) < self._seen:
            self._marks, self._agent, self._seen = marks, agent, 0
            self.kept, self.places = [], []
        for number in range(self._seen, len(marks)):
            mark = marks[number]
            if mark.kind in self._kinds and (agent is None or mark.agent == agent):
                self.kept.append(mark)
                self.places.append(mark.place)
            self._seen = number + 1
        return bisect_left(self.places, index)
