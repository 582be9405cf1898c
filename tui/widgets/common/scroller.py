"""A panel of many rows, of which only those in sight are ever made."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui.draw.line import Line
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
        Binding("up", "move(-1)", "Up", id="rows.up", tooltip="A row up", show=False),
        Binding("down", "move(1)", "Down", id="rows.down", tooltip="A row down", show=False),
        Binding("pageup", "page(-1)", "Page up", id="rows.page_up", tooltip="A page up", show=False),
        Binding("pagedown", "page(1)", "Page down", id="rows.page_down", tooltip="A page down", show=False),
        Binding("home", "first", "First", id="rows.first", tooltip="To the first row", show=False),
        Binding("end", "last", "Last", id="rows.last", tooltip="To the last row", show=False),
    ]

    HEAD: ClassVar[int] = 0
    """Lines at the top that stay."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._inks: dict[str, Style] = {}

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
        wanted = Size(self.scrollable_content_region.width, self.count_rows() + self.HEAD)
        if wanted != self.virtual_size:
            self.virtual_size = wanted
        self.refresh()

    def on_resize(self) -> None:
        self.resize_rows()

    def notify_style_update(self) -> None:
        self._inks = {}
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        number = self.scroll_offset.y + y - self.HEAD
        line: Line = []
        if y < self.HEAD:
            line = self.head(y, width)
        elif number < self.count_rows():
            line = self.row(number, width)
        elif number == 0:
            line = [(self.EMPTY, "quiet")]
        inks = self._inks or self._fill_styles()
        segments = [Segment(text, inks[ink]) for text, ink in line if text]
        marked = bool(line) and line[-1][1] == "cursor"
        return Strip(segments).adjust_cell_length(width, inks["cursor"] if marked else self.rich_style)

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
