"""A panel as tall as what it has to say, for boards that scroll."""

from __future__ import annotations

from typing import ClassVar

from textual.geometry import Size

from tui.view import View
from tui.widgets.gauge import Mark, meter
from tui.widgets.page import wrapped
from tui.widgets.panel import Line, Panel, fit

_TALL = 500


class Card(Panel):
    """Makes its lines once for a view and a width, and takes the room they need."""

    DEFAULT_CSS = "Card { height: auto; min-height: 3; }"
    EMPTY: ClassVar[str] = "waiting for the first event"

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._lines: list[Line] = []
        self._lines_for: tuple[View | None, int, bool] = (None, -1, False)

    def said(self, view: View, width: int) -> list[Line]:
        """What the card says at a width."""
        raise NotImplementedError

    def more(self, view: View, width: int) -> list[Line]:
        """What it says when it has the screen for itself."""
        return self.said(view, width)

    def lines(self, view: View, width: int, height: int) -> list[Line]:  # noqa: ARG002
        return self._lay(view, width)

    def details(self, view: View, width: int, height: int) -> list[Line]:  # noqa: ARG002
        return self._lay(view, width)

    def _lay(self, view: View, width: int) -> list[Line]:
        wanted = (view, width, self.detailed)
        known = self._lines_for
        if known[0] is not view or known[1:] != wanted[1:]:
            self._lines = self.more(view, width) if self.detailed else self.said(view, width)
            self._lines_for = wanted
        return self._lines

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        return 1 if self.view is None else max(1, min(_TALL, len(self._lay(self.view, width))))

    def watch_view(self, view: View | None) -> None:
        before = len(self._lines)
        super().watch_view(view)
        if view is not None and self.size.width and len(self._lay(view, self.size.width)) != before:
            self.refresh(layout=True)

    def watch_detailed(self) -> None:
        super().watch_detailed()
        self.refresh(layout=True)


def pair(label: str, value: str, width: int, *, ink: str = "plain", at: int = 0) -> Line:
    """A name and its value; the value begins at a column, or stands at the right edge."""
    if at:
        return [(fit(label, at), "quiet"), (fit(value, max(1, width - at)), ink)]
    room = max(1, width - len(value) - 1)
    return [(fit(label, room) + " ", "quiet"), (value, ink)]


def gauge(
    label: str, value: float, width: int, said: str, *, ink: str = "heat-2", marks: list[Mark] | None = None
) -> Line:
    """A name, a bar with marks, and the value in figures."""
    at = min(14, max(6, width // 3))
    room = max(4, width - at - 7)
    return [(fit(label, at), "quiet"), *meter(value, room, ink, marks or []), (f" {said:>6}", "plain")]


def signed(label: str, value: float, width: int, said: str, *, reach: float = 1.0) -> Line:
    """A name, a bar that grows from the middle to either side, and the value in figures."""
    at = min(14, max(6, width // 3))
    half = max(2, (width - at - 8) // 2)
    cells = round(min(1.0, abs(value) / reach) * half) if reach else 0
    left, right = (cells, 0) if value < 0 else (0, cells)
    return [
        (fit(label, at), "quiet"),
        ("▄" * (half - left), "track"),
        ("▄" * left, "fatigue"),
        ("│", "threshold"),
        ("▄" * right, "confidence"),
        ("▄" * (half - right), "track"),
        (f" {said:>6}", "plain"),
    ]


def sentence(text: str, width: int, ink: str = "quiet") -> list[Line]:
    """Our own words over as many lines as they need."""
    return [[(line, ink)] for line in wrapped(text, max(8, width))]


def heading(text: str) -> Line:
    """A word over what follows."""
    return [(text, "strong")]
