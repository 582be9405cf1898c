"""A panel as tall as what it has to say, for boards that scroll."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.geometry import Size

from tui.draw.gauge import TRACK, Mark, meter, sparkline
from tui.draw.line import Line, clipped, fit, wrapped
from tui.feed.view import View
from tui.keys import bind
from tui.widgets.common.curves import curves
from tui.widgets.common.panel import Panel

_TALL = 500


class Card(Panel):
    """Makes its lines once for a view and a width, and takes the room they need; alone it scrolls."""

    DEFAULT_CSS = "Card { height: auto; min-height: 3; &.-maximized { height: 1fr; } }"
    EMPTY: ClassVar[str] = "waiting for the first event"
    CLICKS_ZOOM = True
    TALL: ClassVar[tuple[int, int]] = (8, 12)
    """Lines it usually takes, and where there is room for all it has; by these columns are filled."""
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("row.up", "scroll_by(-1)"),
        bind("row.down", "scroll_by(1)"),
    ]

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._lines: list[Line] = []
        self._lines_for: tuple[View | None, int, bool] = (None, -1, False)
        self._top = 0

    def said(self, view: View, width: int) -> list[Line]:
        """What the card says at a width."""
        raise NotImplementedError

    def more(self, view: View, width: int) -> list[Line]:
        """What it says when it has the screen for itself."""
        return self.said(view, width)

    def lines(self, view: View, width: int, height: int) -> list[Line]:  # noqa: ARG002
        return self._lay(view, width)

    def details(self, view: View, width: int, height: int) -> list[Line]:
        laid = self._lay(view, width)
        self._top = max(0, min(self._top, len(laid) - height))
        return laid[self._top : self._top + height]

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
        rich = self.rich
        wanted = (view, width, rich)
        known = self._lines_for
        if known[0] is not view or known[1:] != wanted[1:]:
            made = self.more(view, width) if rich else self.said(view, width)
            self._lines = [clipped(line, width) for line in made]
            self._lines_for = wanted
        return self._lines

    @property
    def rich(self) -> bool:
        """There is room for all it has to say."""
        return self.detailed or self.screen.has_class("-vast")

    def past(self, view: View, name: str, width: int, *, low: float = 0.0, label: str = "") -> list[Line]:
        """A reading over the session up to the playhead, in one line; none where nothing is recorded."""
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


_WIDE = 54
"""From this width on values stand near their names, not at the right edge."""


def _columns(width: int) -> tuple[int, int]:
    """Room of a name and of the bar beside it."""
    at = 13 if width >= 34 else 10
    return at, max(4, width - at - 7)


def pair(label: str, value: str, width: int, *, ink: str = "plain", at: int = 0) -> Line:
    """A name and its value; the value begins at a column, or stands at the right edge."""
    at = at or (_WIDE // 2 if width >= _WIDE else 0)
    if at and len(label) < at:
        return [(fit(label, at), "quiet"), (fit(value, max(1, width - at)), ink)]
    room = max(1, width - len(value) - 1)
    return [(fit(label, room) + " ", "quiet"), (value, ink)]


def gauge(
    label: str, value: float, width: int, said: str, *, ink: str = "heat-2", marks: list[Mark] | None = None
) -> Line:
    """A name, a bar with marks, and the value in figures."""
    at, room = _columns(width)
    return [
        (fit(label, at - 1) + " ", "quiet"),
        *meter(value, room, ink, marks or []),
        (f" {said:>6}", "plain"),
    ]


def signed(
    label: str, value: float, width: int, said: str, *, reach: float = 1.0, worse_above: bool = False
) -> Line:
    """A name, a bar that grows from the middle to either side, and the value in figures."""
    low, high = ("confidence", "frustration") if worse_above else ("fatigue", "confidence")
    at, room = _columns(width)
    left = (room - 1) // 2
    right = room - 1 - left
    share = min(1.0, abs(value) / reach) if reach else 0.0
    below = round(share * left) if value < 0 else 0
    above = round(share * right) if value > 0 else 0
    return [
        (fit(label, at - 1) + " ", "quiet"),
        (TRACK * (left - below), "track"),
        ("▄" * below, low),
        ("│", "threshold"),
        ("▄" * above, high),
        (TRACK * (right - above), "track"),
        (f" {said:>6}", "plain"),
    ]


def sentence_lines(text: str, width: int, ink: str = "quiet") -> list[Line]:
    """Our own words over as many lines as they need."""
    return [[(line, ink)] for line in wrapped(text, max(8, width))]


def heading(text: str) -> Line:
    """A heading."""
    return [(text, "strong")]
