"""Panels of many rows that draw only those in sight, and a page of text that scrolls."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, TypeAlias

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui.draw.kept_lines import paint_again
from tui.draw.line import Line
from tui.keys import bind
from tui.widgets.common.panel import Panel


class Scroller(Panel, ScrollView, inherit_bindings=False):
    """Rows asked for one by one; a subclass says how many there are and what is in each."""

    DEFAULT_CSS = """
    Scroller {
        overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1;
        scrollbar-background: $background; scrollbar-background-hover: $panel;
        scrollbar-color: $quiet; scrollbar-color-hover: $accent;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("row.up", "move(-1)"),
        bind("row.down", "move(1)"),
        bind("page.up", "page(-1)", "", "A page up"),
        bind("page.down", "page(1)", "", "A page down"),
        bind("play.start", "first", "", "To the first row"),
        bind("play.end", "last", "", "To the last row"),
    ]

    HEAD: ClassVar[int] = 0  # Lines at the top that stay.

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._inks: dict[str, Style] = {}
        self._drawn: dict[int, Line] = {}  # The lines as they were drawn last.

    def count_rows(self) -> int:
        """How many rows there are."""
        raise NotImplementedError

    def row(self, number: int, width: int) -> Line:
        """One row."""
        raise NotImplementedError

    def head(self, number: int, width: int) -> Line:
        """One of the lines at the top that stay."""
        raise NotImplementedError

    def resize_rows(self) -> None:
        """Count the rows again and draw them."""
        size = Size(self.scrollable_content_region.width, self.count_rows() + self.HEAD)
        if size != self.virtual_size:
            self.virtual_size = size
            self.refresh()
        else:
            self.draw_rows()

    @property
    def _is_visible(self) -> bool:
        return bool(self._drawn) and self.display and self.is_attached and self.screen.is_current

    def draw_rows(self) -> None:
        """Draw those rows in sight again that are not as they were; the frame around them stays."""
        if not self._is_visible:
            self.refresh()
            return
        width, height = self.scrollable_content_region.size
        previous = self._drawn
        changed = [Region(0, y, width, 1) for y in range(height) if previous.get(y) != self._line(y, width)]
        if changed:
            paint_again(self, changed)

    def on_resize(self) -> None:
        self.resize_rows()

    def notify_style_update(self) -> None:
        self._inks = {}
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        line = self._drawn[y] = self._line(y, width)
        inks = self._inks or self._fill_styles()
        segments = [Segment(text, inks[ink]) for text, ink in line if text]
        marked = bool(line) and line[-1][1] == "cursor"
        short = width - sum([cell_len(text) for text, _ in line])
        if short < 0:
            return Strip(segments).adjust_cell_length(width)
        if short:
            segments.append(Segment(" " * short, inks["cursor"] if marked else self.rich_style))
        return Strip(segments, width)

    def _line(self, y: int, width: int) -> Line:
        """Return the content of a line of the panel."""
        if y < self.HEAD:
            return self.head(y, width)
        number = self.scroll_offset.y + y - self.HEAD
        if number < self.count_rows():
            return self.row(number, width)
        return [(self.EMPTY, "quiet")] if number == 0 else []

    def _fill_styles(self) -> dict[str, Style]:
        self._inks = self.resolved_styles()
        return self._inks

    @property
    def page(self) -> int:
        """Rows in sight."""
        return max(1, self.scrollable_content_region.height - self.HEAD)

    def action_move(self, by: int) -> None:
        self.scroll_to(y=self.scroll_offset.y + by, animate=False)

    def action_page(self, by: int) -> None:
        self.action_move(by * max(1, self.page - 1))

    def action_first(self) -> None:
        self.scroll_to(y=0, animate=False)

    def action_last(self) -> None:
        self.scroll_to(y=self.count_rows(), animate=False)


class CursorList(Scroller):
    """Rows with a cursor that stays in sight."""

    cursor = 0

    def moved(self) -> None:
        """React to the cursor's move to a row."""

    def reveal(self) -> None:
        """Bring the cursor into sight."""
        if not 0 <= self.cursor - self.scroll_offset.y < self.page:
            self.scroll_to(y=max(0, self.cursor - self.page // 3), animate=False, immediate=True)
        self.draw_rows()
        self.moved()

    def go(self, to: int) -> None:
        """Put the cursor on a row."""
        self.cursor = max(0, min(to, self.count_rows() - 1))
        self.reveal()

    def action_move(self, by: int) -> None:
        self.go(self.cursor + by)

    def action_first(self) -> None:
        self.go(0)

    def action_last(self) -> None:
        self.go(self.count_rows() - 1)


TextLayout: TypeAlias = Callable[[int], list[Line]]  # Lays a text out for a width.


class TextPage(Scroller):
    """A page of text given as something that can lay itself out."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._maker: TextLayout = lambda _: []
        self._laid: list[Line] = []
        self._laid_for = -1

    def show(self, maker: TextLayout, *, top: bool = True) -> None:
        """Lay out another text, from its top or where the reader was."""
        self._maker = maker
        self._laid_for = -1
        self.resize_rows()
        if top:
            self.scroll_to(y=0, animate=False, immediate=True)

    def count_rows(self) -> int:
        width = self.scrollable_content_region.width
        if width != self._laid_for:
            self._laid = self._maker(width) if width > 0 else []
            self._laid_for = width
        return len(self._laid)

    def row(self, number: int, width: int) -> Line:  # noqa: ARG002
        return self._laid[number]
