"""Sleep and context: how full the context is, how high the sleep pressure, and what both lead to."""

from __future__ import annotations

from bisect import bisect_left
from typing import ClassVar

import numpy as np

from core.engine.mind.readings import SleepReading
from core.report.compaction import lines as preserved_lines
from core.report.formatting import count, short, span
from core.report.plan_limits import SIZE, plan_share
from core.timeline.run import Track
from tui.draw.line import Line, area, first_fit, fit, joined_cells, meter
from tui.feed.view import View
from tui.widgets.common.header import dream_words
from tui.widgets.common.panel import Panel
from tui.widgets.common.timeline_cells import GLYPHS, MarkFilter

NEAR = 0.85  # Share of the way to compaction from which on it is near.
_LABEL = 8
_TALLEST = 8
_HALF = 0.5
_SHOWN = 60.0  # Seconds for which the panel itself tells what stood when the context was cut.


class ContextPanel(Panel):
    """How full the context is, when it is compacted, and how near the model is to its next dream."""

    TITLE: ClassVar[str] = "Sleep and context"
    CLICKS_ZOOM = True

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._cuts = MarkFilter("compaction")

    def lines(self, view: View, width: int, height: int) -> list[Line]:
        sleep = view.frame.mind.sleep
        ranked: list[tuple[int, Line]] = [
            *enumerate(sleep_lines(sleep, width)),
            (0, context_bar(view, width)),
            (1, context_line(sleep, width)),
            *([(3, window)] if (window := window_line(view, width)) else []),
            (2, advice_line(view, width)),
        ]
        preserved = view.preserved
        if preserved is not None and view.at - preserved.at <= _SHOWN:
            ranked += enumerate(([(fit(line, width), "plain")] for line in preserved_lines(preserved)), 3)
        chart = self._chart(view, width, height - len(ranked) - 1) if height > 4 else []
        ranked += [(6 if number < len(chart) - 1 else 5, line) for number, line in enumerate(chart)]
        ranked.append((4, self._past_cuts(view, width)))
        keep = sorted(range(len(ranked)), key=lambda number: ranked[number][0])[: max(1, height)]
        return [ranked[number][1] for number in sorted(keep)]

    def details(self, view: View, width: int, height: int) -> list[Line]:
        preserved = view.preserved
        if preserved is None:
            return self.lines(view, width, height)
        cut_lines: list[Line] = [[("when the context was last cut", "strong")]]
        cut_lines += [[(fit(line, width), "plain")] for line in preserved_lines(preserved)]
        top_lines = self.lines(view, width, max(6, height - len(cut_lines) - 1))
        return [*top_lines, [], *cut_lines][: max(1, height)]

    def _chart(self, view: View, width: int, room: int) -> list[Line]:
        """The context over all events; under it the compactions."""
        track = None if self.recording is None else self.recording.tracks.get(view.agent)
        if track is None or width < 8:
            return []
        rows = track.row(view.index - 1) + 1
        lines: list[Line] = []
        tall = min(_TALLEST, room - 2)
        if tall >= 2 and rows:
            lines.append([("context so far", "quiet")])
            _, tops = track.columns.envelope("context", 0, rows, width)
            points = tops[np.arange(width) * len(tops) // width].tolist()
            lines += [[(text, "uncertainty-dim")] for text in area(points, tall)]
        return [*lines, self._cut_strip(view, track, rows, width)]

    def _cut_strip(self, view: View, track: Track, rows: int, width: int) -> Line:
        """When the context was cut."""
        cells, inks = ["─"] * width, ["track"] * width
        if self.recording is None or not rows:
            return joined_cells(cells, inks)
        stop = self._cuts.until(self.recording.marks, view.index, view.agent)
        number = 0
        while number < stop:
            cell = min(width - 1, max(0, track.row(self._cuts.places[number])) * width // rows)
            cells[cell], inks[cell] = GLYPHS["compaction"]
            after = -(-(cell + 1) * rows // width)
            if after >= rows:
                break
            number = bisect_left(self._cuts.places, track.indexes[after], number + 1)
        return joined_cells(cells, inks)

    def _past_cuts(self, view: View, width: int) -> Line:
        """How often it was cut, and how long ago."""
        cuts = view.frame.mind.sleep.compactions
        tries = [f"▽ {count(cuts, 'compaction')}", f"▽ {cuts}"]
        if self.recording is not None:
            stop = self._cuts.until(self.recording.marks, view.index, view.agent)
            for mark in self._cuts.kept[stop - 1 : stop] if stop else ():
                tries.insert(0, f"{tries[0]}, the last {span(max(0.0, view.at - mark.at))} ago")
        return [(first_fit(tries, width), "quiet")]


def advice_line(view: View, width: int) -> Line:
    """Say what a person may do, and what holds if their plan has the usual window."""
    sleep = view.frame.mind.sleep
    window = view.hooks.figures.window if view.hooks is not None else 0
    smaller = plan_share(view.subject.tool, sleep, window)
    if smaller is None or smaller < _HALF:
        text = advice(view)
        tries = [text, text.partition(": ")[2] or text]
        return [(first_fit(tries, width), "alert" if sleep.context >= NEAR else "plain")]
    if smaller < NEAR:
        tries = [f"plenty of room, unless its window is {SIZE}", f"room left, unless its window is {SIZE}"]
        return [(first_fit(tries, width), "plain")]
    tries = [
        f"if its window is {SIZE} it compacts now: have it write down what matters",
        f"with a window of {SIZE} it compacts now",
        f"compacts now if its window is {SIZE}",
    ]
    return [(first_fit(tries, width), "alert")]


def advice(view: View) -> str:
    """Say what a person may do about the context."""
    sleep = view.frame.mind.sleep
    if not sleep.context_tokens:
        if sleep.compactions:
            return "check that it still knows what was open"
        return "this log has no token counts" if "tokens" in view.subject.untold else "no token counts yet"
    if sleep.context >= NEAR:
        return "compaction is near: have it write down what matters"
    if sleep.context >= _HALF:
        return "compact after the next commit"
    return "plenty of room"


def window_line(view: View, width: int) -> Line:
    """Show the true window and its use, if the agent's status line reported them."""
    if view.hooks is None or not view.hooks.figures.window:
        return []
    figures = view.hooks.figures
    used = "" if figures.context is None else f", {100 * figures.context:.0f}% of it used"
    size = f"window of {short(figures.window)} tokens{used}"
    return [(first_fit([f"{size}, as its status line says", size, f"window {short(figures.window)}"], width), "quiet")]


def sleep_lines(sleep: SleepReading, width: int) -> list[Line]:
    """The sleep pressure and how soon it leads to a dream, beside it or below it."""
    due = dream_words(sleep)
    share = f" {sleep.pressure:>4.0%}"
    room = width - _LABEL - len(share)
    beside = f" · {due}" if due and room - len(due) - 3 >= 6 else ""
    bar = meter(sleep.pressure, max(1, room - len(beside)), "fatigue")
    gauge: Line = [(fit("sleep", _LABEL), "plain"), *bar, (share, "plain"), (beside, "quiet")]
    below = first_fit([f"{' ' * _LABEL}{each}" for each in (due, dream_words(sleep, True))], width)
    return [gauge] if beside or not due else [gauge, [(below, "quiet")]]


def context_bar(view: View, width: int) -> Line:
    """The context against the compaction point."""
    sleep = view.frame.mind.sleep
    near = sleep.context >= NEAR
    if not sleep.context_tokens:
        unknown = "not in this log" if "tokens" in view.subject.untold else "size not reported yet"
        words = "just compacted" if sleep.compactions else unknown
        return [(fit("context", _LABEL), "quiet"), (fit(words, width - _LABEL), "quiet")]
    label: Line = [("context", "alert-tag"), (" ", "plain")] if near else [(fit("context", _LABEL), "plain")]
    bar = meter(sleep.context, max(1, width - _LABEL - 5), "alert" if near else "uncertainty")
    return [*label, *bar, (f" {sleep.context:>4.0%}", "alert" if near else "plain")]


def context_line(sleep: SleepReading, width: int) -> Line:
    """Tokens against the compaction point, and the turns left."""
    tokens, point = short(sleep.context_tokens), short(sleep.compaction_point)
    if not sleep.context_tokens:
        return [(fit(f"compaction would be at {point}", width), "quiet")]
    left = sleep.turns_to_compaction
    if sleep.context_tokens >= sleep.compaction_point:
        past = f"{tokens} of {point} tokens, past the compaction point", f"{tokens}/{point}, past it"
        return [(first_fit(past, width), "alert")]
    tries = [f"{tokens} of {point} tokens", f"{tokens}/{point}"]
    if left is not None:
        whole, brief = tries
        due, turns = f"compaction in ~{count(left, 'turn')}", f"~{count(left, 'turn')}"
        tries = [f"{whole} · {due}", f"{brief} · {due}", f"{brief} · {turns} left", f"{brief} · {turns}", *tries]
    return [(first_fit(tries, width), "alert" if sleep.context >= NEAR else "quiet")]
