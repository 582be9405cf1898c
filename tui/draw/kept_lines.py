"""Drawn lines of a widget kept until they change, so that a picture costs only what changed in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from rich.cells import cell_len
from rich.segment import Segment
from textual._styles_cache import StylesCache
from textual.color import Color
from textual.filter import LineFilter
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from core.safe_text import safe

Content = Callable[[int], Iterable[Segment]]  # What stands inside a frame on a line, exactly as wide as there is room.
_Kept = TypeVar("_Kept", bound=Widget)


class _Frame(NamedTuple):
    """The borders left and right of every line of the content, and the filters each line passes."""

    top: int
    bottom: int
    left: list[Segment]
    right: list[Segment]
    filters: Sequence[LineFilter]
    background: Color


class KeptLines(StylesCache):
    """Hands out the same lines until some are called dirty: every picture asks each widget in sight.

    With `content` a dirty line is set into the frame its neighbours have; such a widget has no tint, opacity
    or outline.
    """

    def __init__(self, content: Content | None = None) -> None:
        super().__init__()
        self._content = content
        self._frame: _Frame | None = None
        self._crop = Region()
        self._drawn: list[Strip] | None = None

    def clear(self) -> None:
        self._drawn = self._frame = None
        super().clear()

    def render_widget(self, widget: Widget, crop: Region) -> list[Strip]:
        if self._drawn is None or self._crop != crop:
            self._drawn = self._frame = None
            self._crop, self._drawn = crop, super().render_widget(widget, crop)
            return self._drawn
        x, top, width, height = crop
        dirty = [y for y in self._dirty_lines if top <= y < top + height]
        if dirty:
            self._drawn = self._drawn.copy()
            for y in self._set_into_frame(widget, dirty):
                strips = super().render_widget(widget, Region(x, y, width, 1))
                if self._drawn is None:  # cleared on the way: it became wider or narrower out of sight
                    return self.render_widget(widget, crop)
                self._drawn[y - top : y - top + 1] = strips
        return self._drawn

    def _set_into_frame(self, widget: Widget, dirty: list[int]) -> list[int]:
        """Draw the lines of the content; those of the frame itself are left."""
        if self._content is None or self._drawn is None or self._crop != widget.outer_size.region:
            return dirty
        if self._frame is None:
            self._frame = _frame_of(widget, self._drawn)
        top, bottom, left, right, filters, background = self._frame
        others = []
        for y in dirty:
            if not top <= y < bottom:
                others.append(y)
                continue
            segments = list(self._content(y - top))
            for each in filters:
                segments = each.apply(segments, background)
            self._drawn[y] = Strip([*left, *segments, *right], self._crop.width)
            self._cache.pop(y, None)
            self._dirty_lines.discard(y)
        return others


def _frame_of(widget: Widget, strips: list[Strip]) -> _Frame:
    """The frame as it was drawn around the first line of the content."""
    top, right, bottom, left = widget.gutter
    if top + bottom >= len(strips):
        return _Frame(0, 0, [], [], (), widget.background_colors[1])
    line, width = strips[top], widget.outer_size.width
    edges = list(line.crop(0, left)), list(line.crop(width - right, width))
    return _Frame(top, len(strips) - bottom, *edges, widget.get_line_filters(), widget.background_colors[1])


def with_kept_lines(widget: _Kept, content: Content | None = None) -> _Kept:
    """Return the widget with its drawn lines stored."""
    widget._styles_cache = KeptLines(content)
    return widget


def paint_again(widget: Widget, regions: Sequence[Region]) -> None:
    """Have parts of a widget in sight painted with the next picture, without waking the widget itself."""
    widget._set_dirty(*regions)
    screen = widget.screen
    screen._dirty_widgets.add(widget)
    screen.check_idle()


class SafeLines(LineFilter):
    """Replace what a terminal would obey by as many blanks as it was given cells."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        return [
            segment if segment.control else Segment(safe(segment.text, _cells), segment.style) for segment in segments
        ]


def _cells(char: str) -> str:
    return " " * cell_len(char)


SAFE_LINES = SafeLines()
