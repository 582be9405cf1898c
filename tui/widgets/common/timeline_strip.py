"""The whole session in one strip: a reading, the agent's states, the marks, and the playhead."""

from __future__ import annotations

from collections.abc import Container
from typing import ClassVar, NamedTuple, get_args

from textual import events
from textual.binding import BindingType
from textual.reactive import reactive

from core.engine.percept import AXES
from core.report.formatting import clock
from core.settings.program import Series
from core.store.bookmarks import Bookmark
from core.timeline.timeline import Timeline
from tui.draw.line import Line, joined_cells, overlaid
from tui.feed.messages import Seek
from tui.feed.view import View
from tui.keys import bind
from tui.widgets.common import timeline_cells as strip
from tui.widgets.common.panel import Panel

SERIES: tuple[Series, ...] = get_args(Series)
_LABEL = 8
_ROOMY = 90  # Width from which the rows are named.
_CLOSEST = 16  # Events a strip shows at least.


class _Ground(NamedTuple):
    """The part of the strip that does not move with the playhead."""

    window: strip.EventWindow
    rows: list[Line]


class TimelineStrip(Panel):
    """Click or drag to seek; the wheel and the keys + and - zoom."""

    TITLE: ClassVar[str] = "Timeline"
    LOOK = ("series", "zoom", "_start")
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("row.up", "series(-1)", "other reading", "Show the previous reading", show=True),
        bind("row.down", "series(1)", "", "Show the next reading"),
    ]

    series: reactive[Series] = reactive("activity")
    zoom: reactive[int] = reactive(0)  # How often the stretch shown was halved.
    bookmarks: reactive[tuple[Bookmark, ...]] = reactive(())  # In order of place.

    def __init__(self, gap: float = 600.0, series: Series = "activity", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.set_reactive(TimelineStrip.series, series)
        self._gap = gap
        self._calls = strip.CallPlaces()
        self._ground: _Ground | None = None
        self._ground_for: tuple[object, ...] = ()
        self._glyphs: frozenset[str] = frozenset()  # Of the marks that are drawn.
        self._start = 0
        self._label = 0
        self._dragging = False

    def lines(self, view: View, width: int, height: int) -> list[Line]:
        timeline = self.recording
        self._label = _LABEL if width >= _ROOMY else 0
        room = max(8, width - self._label)
        if timeline is None or not len(timeline):
            return [[("nothing recorded yet", "quiet")]]
        window = self._window(view, len(timeline), room)
        ground = self._draw_ground(timeline, view, window, max(2, height))
        names = [*_names(self.series, len(ground.rows) - 2), "state", "marks"]
        head = window.cell(view.index)
        over = ("▐", "live") if view.mode == "live" and window.stop >= len(timeline) else ("┃", "strong")
        return [
            [(name.rjust(self._label - 1)[: self._label].ljust(self._label), "quiet"), *overlaid(row, head, over)]
            for name, row in zip(names, ground.rows, strict=True)
        ]

    def subtitle(self, view: View) -> str:
        if not view.total:
            return ""
        place = view.at - view.start
        length = max(place, view.end - view.start)
        zoomed = f"  zoom {2**self.zoom}x" if self.zoom else ""
        return f"{clock(place)} / {clock(length)}  event {view.index:,} of {view.total:,}{zoomed}"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """It has no details to zoom into."""
        return action != "zoom" and super().check_action(action, parameters)

    def action_series(self, by: int) -> None:
        """Draw another reading."""
        self.series = SERIES[(SERIES.index(self.series) + by) % len(SERIES)]

    def zoom_by(self, steps: int) -> bool:
        """Show half as much, or twice as much; return whether that changes anything."""
        total = self.view.total if self.view else 0
        level = max(0, self.zoom + steps)
        while level and total >> level < _CLOSEST:
            level -= 1
        before, self.zoom = self.zoom, level
        return level != before

    def watch_series(self) -> None:
        self._retitle()
        self.watch_recording()

    def _retitle(self) -> None:
        """Put the reading and the legend of the marks on the upper edge."""
        name = f"0 {self.TITLE} · {self.series}"
        title = f"{name}   {legend(self._glyphs, self.outer_size.width - len(name) - 7)}".rstrip()
        if title != self.border_title:
            self.border_title = title

    def on_resize(self) -> None:
        self._retitle()

    def watch_recording(self) -> None:
        """Draw the still part anew."""
        self._ground = None
        self.redraw()

    watch_zoom = watch_bookmarks = watch_recording

    def _window(self, view: View, total: int, width: int) -> strip.EventWindow:
        """All of it, or the zoomed stretch, moved only when the playhead would leave it."""
        if not self.zoom:
            return strip.EventWindow(0, total, width)
        length = max(min(_CLOSEST, total), total >> self.zoom)
        margin = length // 8
        if not self._start + margin <= view.index <= self._start + length - margin:
            self._start = view.index - length // 2
        self._start = max(0, min(self._start, total - length))
        return strip.EventWindow(self._start, self._start + length, width)

    def _draw_ground(self, timeline: Timeline, view: View, window: strip.EventWindow, height: int) -> _Ground:
        """Draw the still part, again only if it would differ by a cell or no more events come."""
        key = (timeline, view.agent, self.series, window.start, window.width, height)
        stale = self._ground is None or key != self._ground_for
        if self._ground is not None and not stale:
            last = self._ground.window
            grown = window.stop - last.stop
            whole = view.mode == "replay" and view.loading is None
            stale = bool(grown) if whole else grown * window.width > last.stop - last.start
        if stale or self._ground is None:
            track = timeline.tracks.get(view.agent)
            shaded = strip.silenced(track, window)
            curve = max(1, height - 2)
            if self.series == "activity":
                counts = self._calls.counts(timeline.events, view.agent, window)
                rows = strip.activity_rows(counts, strip.heights(track, "context", window), curve)
            else:
                values = [float(value) for value in strip.heights(track, self.series, window)]
                eighths = [round(value * 8 * curve) for value in values]
                rows = strip.bar_cells(eighths, curve, self.series if self.series in AXES else "plain", "▁")
            rows.append([strip.BANDS[state] for state in strip.band(track, window)])
            marks = _marks(timeline, window, self._gap, [mark.place for mark in self.bookmarks])
            rows.append(marks)
            shades = [strip.shade(row, shaded) for row in rows]
            joined = [joined_cells([one[0] for one in row], [one[1] for one in row]) for row in shades]
            self._ground = _Ground(window, joined)
            self._glyphs = frozenset(glyph for glyph, _ in marks)
            self._ground_for = key
            self.call_later(self._retitle)  # While it is drawn, its edge would not be painted again.
        return self._ground

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Begin to seek, unless it is the frame that was pressed."""
        inside = self.gutter.top <= event.y < self.outer_size.height - self.gutter.bottom
        if inside and event.button == 1 and self.view is not None and self._ground is not None:
            self._dragging = True
            self.capture_mouse()
            self._seek(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._dragging:
            self._seek(event)

    def on_mouse_up(self) -> None:
        if self._dragging:
            self._dragging = False
            self.release_mouse()

    def on_mouse_scroll_up(self) -> None:
        self.zoom_by(1)

    def on_mouse_scroll_down(self) -> None:
        self.zoom_by(-1)

    def _seek(self, event: events.MouseEvent) -> None:
        if self._ground is not None:
            cell = event.get_content_offset_capture(self).x - self._label
            self.post_message(Seek(self._ground.window.place(cell)))


def legend(glyphs: Container[str], width: int) -> str:
    """Return the meaning of the marks, as many as fit, the most important first."""
    words = ""
    for glyph, meaning in strip.LEGEND.items():
        if glyph not in glyphs:
            continue
        if len(words) + len(meaning) + 4 > width:
            break
        words += f"{glyph} {meaning}  "
    return words.rstrip()


def _names(series: str, curve: int) -> list[str]:
    """Return the names in front of the curve's rows."""
    if series == "activity":
        return strip.activity_names(curve)
    return ["1", *([""] * (curve - 2)), "0"][-curve:]


def _marks(timeline: Timeline, window: strip.EventWindow, gap: float, bookmarks: list[int]) -> list[tuple[str, str]]:
    cells = [(" ", "quiet")] * window.width
    for cell in strip.gaps(timeline, window, gap):
        cells[cell] = ("╎", "quiet")
    for cell, mark in strip.mark_cells(timeline.marks.between(window.start, window.stop), window).items():
        cells[cell] = mark
    for cell in strip.bookmarked(bookmarks, window):
        cells[cell] = ("⚑", "live")
    return cells
