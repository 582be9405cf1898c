"""Actual against what-if over the whole session: curves with their thresholds, and what fired otherwise."""

from __future__ import annotations

from math import ceil
from typing import ClassVar

from textual import events
from textual.reactive import reactive

from core.engine.percept import AXES
from core.report.formatting import fraction
from core.store.labels import Label, Verdict
from core.timeline.firings import FIRINGS
from core.timeline.run import Track
from core.timeline.timeline import Timeline
from core.timeline.whatif import WhatIfResult, changed_series, filled_series
from tui.draw.gauge import Canvas
from tui.draw.line import Line, fit, wrapped
from tui.feed.messages import Seek
from tui.feed.view import View
from tui.widgets.common import timeline_cells as strip
from tui.widgets.common.panel import Panel
from tui.widgets.common.timeline_cells import SHADE, EventWindow

# Kept, moved, gained, lost: the later wins a cell.
_DIFFERENCE_GLYPHS = {"=": ("·", "quiet"), "~": ("~", "threshold"), "+": ("+", "live"), "-": ("−", "alert")}
VERDICT_GLYPHS: dict[Verdict, tuple[str, str]] = {
    "right": ("✓", "live"),
    "wrong": ("✗", "alert"),
    "missed": ("?", "threshold"),
}
_LEAST = 4  # Rows of the lowest curve, its caption included.
_ROOMY = 8  # Rows a curve may have before another is drawn below it.


class Comparison(Panel):
    """A curve for each reading the edits touch; click to seek."""

    TITLE: ClassVar[str] = "Actual against what-if"
    EMPTY: ClassVar[str] = "waiting for the first event"

    compared: reactive[WhatIfResult | None] = reactive(None)
    named: reactive[str] = reactive("")  # The setting under the cursor.

    labels: reactive[tuple[Label, ...]] = reactive(())

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._window = EventWindow(0, 0, 1)

    def watch_compared(self) -> None:
        self.redraw()
        self.border_subtitle = self._state()

    def watch_labels(self) -> None:
        self.redraw()

    def watch_named(self) -> None:
        if self.compared is None:
            self.redraw()

    def subtitle(self, view: View) -> str:  # noqa: ARG002
        """How far the what-if is."""
        return self._state()

    def _state(self) -> str:
        compared = self.compared
        if compared is None:
            return "nothing changed"
        if compared.complete:
            return "complete"
        return f"running {round(100 * compared.share)}%" + (" · signals complete" if compared.settled else "")

    def lines(self, view: View, width: int, height: int) -> list[Line]:
        timeline = self.recording
        if timeline is None or not len(timeline):
            return [[("nothing recorded yet", "quiet")]]
        self._window = EventWindow(0, len(timeline), width)
        judged = self._judged(width) if self.labels else None
        room = max(_LEAST, height - (2 if judged else 1))
        chosen = changed_series(timeline, self.compared, view.agent, self.named, max(1, room // _LEAST))
        chosen = filled_series(chosen, room // _ROOMY)
        lines: list[Line] = []
        for sentence in self.compared.why_unchanged(view.agent) if self.compared else ():
            lines += [[(line, "strong")] for line in wrapped(sentence, max(8, width))]
        room = max(_LEAST, room - len(lines))
        chosen = chosen[: max(1, room // _LEAST)]
        for number, series in enumerate(chosen):
            tall = room // len(chosen) + (1 if number < room % len(chosen) else 0)
            lines += self._curve(timeline, view, series, width, min(tall, 13))
        return [*lines, self._marks(timeline, view, width), *([judged] if judged else [])]

    def _curve(self, timeline: Timeline, view: View, series: str, width: int, height: int) -> list[Line]:
        ink = series.removeprefix("axis.") if series.removeprefix("axis.") in AXES else "live"
        dim = f"{ink}-dim" if ink in AXES else "quiet"
        actual = timeline.tracks.get(view.agent)
        other, done = self.compared.track(view.agent, series) if self.compared else (None, 0)
        threshold = series.replace("axis", "threshold", 1) if series.startswith("axis.") else ""
        canvas = Canvas(width, height - 1)
        head = self._window.cell(view.index)
        for row in range(height - 1):
            canvas.put(head, row, "│", "quiet")
        total = len(timeline)
        dots = EventWindow(0, total, width * 2)
        lines = [
            (actual, threshold, total, "baseline", 3),
            (other, threshold, done, "threshold", 3),
            (actual, series, total, dim if other is not None else ink, 1),
            (other, series, done, ink, 1),
        ]
        rows = [
            (strip.heights(track, name, dots).tolist(), until, tint, every)
            for track, name, until, tint, every in lines
            if track is not None and len(track) and name and name in track.columns.names
        ]
        top = _top([max(values) for values, _, _, _ in rows])
        for values, until, tint, every in rows:
            _plot(canvas, values[: len(values) * until // max(1, total)], top, tint, every)
        return [self._caption(view, series, threshold, actual, other, width), *canvas.lines()]

    def _caption(
        self, view: View, series: str, threshold: str, actual: Track | None, other: Track | None, width: int
    ) -> Line:
        name = series.removeprefix("axis.").replace(".", " ").replace("_", " ")
        ink = name if name in AXES else "strong"
        pieces: Line = [(fit(name, min(22, max(11, width // 4))), ink)]
        limit = "threshold " if width >= 48 else "limit "
        for label, column in (("", series), (limit, threshold)):
            before = value_at(actual, column, view.index)
            after = value_at(other, column, view.index)
            if before is None:
                continue
            pieces.append((f" {label}{fraction(before)}", "quiet"))
            if after is not None and fraction(after) != fraction(before):
                pieces.append((f" → {fraction(after)}", "strong"))
            pieces.append((" ", "quiet"))
        return pieces

    def _marks(self, timeline: Timeline, view: View, width: int) -> Line:
        """One row of differences under the curves."""
        cells: dict[int, str] = {}
        order = "=~+-"
        compared = self.compared
        if compared is None:
            marks = [(mark.place, "=") for mark in timeline.marks.between(0, len(timeline)) if mark.kind in FIRINGS]
        else:
            marks = [(pair.actual.place, "=") for pair in compared.difference.kept]
            marks += [(place, kind) for place, kind, _ in compared.changes()]
        for place, kind in marks:
            cell = self._window.cell(place + 1)
            if order.index(kind) >= order.index(cells.get(cell, "=")):
                cells[cell] = kind
        head = self._window.cell(view.index)
        run = compared.whole if compared is not None and compared.complete else None
        shaded = strip.silenced((run or timeline).tracks.get(view.agent), self._window)
        line: Line = []
        for cell in range(width):
            empty = (SHADE, "flow-dim") if shaded[cell] else (" ", "plain")
            glyph, ink = _DIFFERENCE_GLYPHS[cells[cell]] if cell in cells else empty
            if cell == head:
                glyph, ink = (glyph, "cursor") if cell in cells else ("│", "strong")
            line.append((glyph, ink))
        return line

    def _judged(self, width: int) -> Line:
        """One row of what a person said."""
        canvas = Canvas(width, 1)
        for label in self.labels:
            glyph, ink = VERDICT_GLYPHS[label.verdict]
            canvas.put(self._window.cell(label.place + 1), 0, glyph, ink)
        return canvas.lines()[0]

    def on_click(self, event: events.Click) -> None:
        place = event.get_content_offset(self)
        if place is not None and self._window.stop:
            self.post_message(Seek(self._window.place(place.x)))


def value_at(track: Track | None, column: str, index: int) -> float | None:
    """A reading after the first `index` events; None where the track does not reach so far."""
    if track is None or not column or column not in track.columns.names:
        return None
    row = track.row(index - 1)
    return track.columns.value(column, row) if 0 <= row < len(track.columns) else None


def _top(highs: list[float]) -> float:
    """Return the value at the upper edge of a curve: the next quarter above all of it."""
    return max(0.25, ceil(max(highs, default=1.0) * 4 - 1e-6) / 4)


def _plot(canvas: Canvas, values: list[float], top: float, ink: str, every: int) -> None:
    """A line of braille dots, two a cell across and four down; with `every` above 1, a dotted one."""
    deep = canvas.height * 4 - 1
    before: int | None = None
    for x, value in enumerate(values):
        y = round((1.0 - min(1.0, max(0.0, value) / top)) * deep)
        if every == 1:
            canvas.stroke((x / 2, (y if before is None else before) / 4), (x / 2, y / 4), ink)
        elif x % every == 0:
            canvas.stroke((x / 2, y / 4), (x / 2, y / 4), ink)
        before = y
