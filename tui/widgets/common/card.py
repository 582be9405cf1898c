"""Cards: panels as tall as their content, and the columns they flow into."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np
from textual import events
from textual.binding import BindingType
from textual.geometry import NULL_OFFSET, NULL_SPACING, Region, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.widget import Widget

from core.timeline.run import Track
from tui.draw.line import TRACK, Line, Mark, clipped, fit, meter, sparkline, wrapped
from tui.feed.view import View
from tui.keys import bind
from tui.widgets.common.panel import Panel

_TALL = 500


class Card(Panel):
    """Makes its lines once for a view and a width, and takes the room they need; alone it scrolls."""

    DEFAULT_CSS = "Card { height: auto; min-height: 3; &.-maximized { height: 1fr; } }"
    CLICKS_ZOOM = True
    # Lines it usually takes, and where there is room for all it has; by these columns are filled.
    TALL: ClassVar[tuple[int, int]] = (8, 12)
    BINDINGS: ClassVar[list[BindingType]] = [bind("row.up", "scroll_by(-1)"), bind("row.down", "scroll_by(1)")]

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._lines: list[Line] = []
        self._lines_for: tuple[View | None, int, bool] = (None, -1, False)
        self._top = 0

    def brief(self, view: View, width: int) -> Iterable[Line]:
        """Return the card's content at a width."""
        raise NotImplementedError

    def more(self, view: View, width: int) -> Iterable[Line]:
        """Return the card's content when it has the screen to itself."""
        return self.brief(view, width)

    def lines(self, view: View, width: int, height: int) -> list[Line]:  # noqa: ARG002
        return self._lay(view, width)

    def details(self, view: View, width: int, height: int) -> list[Line]:
        lines = self._lay(view, width)
        self._top = max(0, min(self._top, len(lines) - height))
        return lines[self._top : self._top + height]

    def action_scroll_by(self, by: int) -> None:
        self._top += by
        self.redraw()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the arrows to the board while it shows all cards."""
        return self.detailed if action == "scroll_by" else super().check_action(action, parameters)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        if self.detailed:
            event.stop()
            self.action_scroll_by(2)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        if self.detailed:
            event.stop()
            self.action_scroll_by(-2)

    def _lay(self, view: View, width: int) -> list[Line]:
        rich, before = self.rich, self._lines_for
        if before[0] is not view or before[1:] != (width, rich):
            lines = self.more(view, width) if rich else self.brief(view, width)
            self._lines = [clipped(line, width) for line in lines]
            self._lines_for = (view, width, rich)
        return self._lines

    @property
    def rich(self) -> bool:
        """Whether there is room for the whole content."""
        return self.detailed or self.screen.has_class("-vast")

    def past(self, view: View, name: str, width: int, *, low: float = 0.0, label: str = "") -> list[Line]:
        """Draw a reading over the session up to the playhead in one line; no line if nothing is recorded."""
        track = self.recording.tracks.get(view.frame.agent) if self.recording is not None else None
        at, room = _columns(width)
        if track is None:
            return []
        stop, reach = track.row(view.index - 1) + 1, max(1.0, view.at - track.origin)
        (points,) = curves(track, [name], stop, 0.0, reach, room)
        raised = [None if point is None else (point - low) / (1.0 - low) for point in points]
        return [[(fit(label, at), "quiet"), (sparkline(raised), "baseline")]]

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        return 1 if self.view is None else max(1, min(_TALL, len(self._lay(self.view, width))))

    def watch_view(self, view: View | None) -> None:
        before = len(self._lines)
        super().watch_view(view)
        if view is not None and self.size.width and len(self._lay(view, self.size.width)) != before:
            self.refresh(layout=True)

    def watch_detailed(self) -> None:
        super().watch_detailed()
        self._top = 0
        self.refresh(layout=True)


_WIDE = 54  # From this width on values stand near their names, not at the right edge.


def _columns(width: int) -> tuple[int, int]:
    """Room of a name and of the bar beside it."""
    at = 13 if width >= 34 else 10
    return at, max(4, width - at - 7)


def pair(label: str, value: str, width: int, *, ink: str = "plain", at: int = 0) -> Line:
    """A name and its value; the value begins at a column, or ends at the right edge."""
    at = at or (_WIDE // 2 if width >= _WIDE else 0)
    if at:
        at = max(at, len(label) + 1)
        return [(fit(label, at), "quiet"), (fit(value, max(1, width - at)), ink)]
    room = max(1, width - len(value) - 1)
    return [(fit(label, room) + " ", "quiet"), (value, ink)]


def gauge(
    label: str,
    value: float,
    width: int,
    figure: str,
    *,
    ink: str = "heat-2",
    limit: float | None = None,
    marks: Sequence[Mark] = (),
) -> Line:
    """A name, a bar with its limit and other marks, and the value in figures."""
    at, room = _columns(width)
    every = marks if limit is None else [(limit, "╎", "threshold"), *marks]
    return [(fit(label, at - 1) + " ", "quiet"), *meter(value, room, ink, every), (f" {figure:>6}", "plain")]


def signed(label: str, value: float, width: int, figure: str, *, reach: float = 1.0, worse_above: bool = False) -> Line:
    """A name, a bar that grows from the middle to either side, and the value in figures."""
    low, high = ("confidence", "frustration") if worse_above else ("fatigue", "confidence")
    at, room = _columns(width)
    left = (room - 1) // 2
    right = room - 1 - left
    share = min(1.0, abs(value) / reach) if reach else 0.0
    below = round(share * left) if value < 0 else 0
    above = round(share * right) if value > 0 else 0
    falls: Line = [(TRACK * (left - below), "track"), ("▄" * below, low)]
    rises: Line = [("▄" * above, high), (TRACK * (right - above), "track")]
    return [(fit(label, at - 1) + " ", "quiet"), *falls, ("│", "threshold"), *rises, (f" {figure:>6}", "plain")]


def sentence_lines(text: str, width: int, ink: str = "quiet") -> list[Line]:
    """Our own words over as many lines as they need."""
    indent = text[: len(text) - len(text.lstrip())]
    return [[(indent + line, ink)] for line in wrapped(text.strip(), max(8, width - len(indent)))]


def heading(text: str) -> Line:
    """A heading."""
    return [(text, "strong")]


Points = list[float | None]  # A curve, one value a cell; None where there is none.


def curves(track: Track, names: Sequence[str], stop: int, since: float, until: float, width: int) -> list[Points]:
    """Return columns over a stretch of time in `width` equal steps, each with its greatest value.

    A step without an event repeats the one before; None stands for the time before the first event.
    Times count from the track's origin, rows from `stop` on are not looked at.
    """
    columns = track.columns
    low, high = 0, max(0, min(stop, len(columns)))
    last = high
    while low < high:
        middle = (low + high) // 2
        if columns.value("at", middle) < since:
            low = middle + 1
        else:
            high = middle
    first = max(0, low - 1)
    if first >= last or until <= since:
        return [[None] * max(0, width) for _ in names]
    at = columns.column("at", first, last)
    cells = np.clip((at - since) / (until - since) * width, 0, width - 1).astype(np.intp)
    edges = np.flatnonzero(np.diff(cells, prepend=-1))
    filled = np.searchsorted(edges, np.searchsorted(cells, np.arange(width), "right") - 1, "right") - 1
    sources = filled.tolist()
    points: list[Points] = []
    for name in names:
        tops = np.maximum.reduceat(columns.column(name, first, last), edges).tolist()
        points.append([None if source < 0 else tops[source] for source in sources])
    return points


_LEAST = 36  # Least width of a column.
_GOOD = 60  # Width of a column where there is height to spare.


class CardColumnsLayout(Layout):
    """Puts every card into the column that would end first; the last of each column fills it up.

    Columns are shared out by how tall cards usually are, so that none moves aside while it grows.
    """

    name = "card-columns"

    def arrange(
        self,
        parent: Widget,
        children: list[Widget],
        size: Size,
        greedy: bool = True,  # noqa: ARG002
    ) -> ArrangeResult:
        vast = parent.screen.has_class("-vast")
        columns = max(1, min(size.width // (_GOOD if vast else _LEAST), 4, len(children)))
        edges = [size.width * number // columns for number in range(columns + 1)]
        usual = [0] * columns
        bottoms = [0] * columns
        placed: list[tuple[Widget, int, int, int]] = []
        last: dict[int, int] = {}
        for child in children:
            column = usual.index(min(usual))
            usual[column] += child.TALL[vast] if isinstance(child, Card) else 3
            room = edges[column + 1] - edges[column]
            inner = max(1, room - child.gutter.width)
            height = child.get_content_height(size, parent.app.size, inner) + child.gutter.height
            last[column] = len(placed)
            placed.append((child, column, bottoms[column], max(3, height)))
            bottoms[column] += max(3, height)
        lowest = max(*bottoms, size.height)
        placements = []
        for number, (child, column, top, height) in enumerate(placed):
            tall = lowest - top if last[column] == number else height
            region = Region(edges[column], top, edges[column + 1] - edges[column], tall)
            placements.append(WidgetPlacement(region, NULL_OFFSET, NULL_SPACING, child))
        return placements


class CardColumns(Widget):
    """A container of cards."""

    DEFAULT_CSS = "CardColumns { width: 1fr; height: auto; min-height: 100%; }"

    def __init__(self, *children: Widget, id: str | None = None) -> None:
        super().__init__(*children, id=id)
        self._arrangement = CardColumnsLayout()

    @property
    def layout(self) -> Layout:
        return self._arrangement
