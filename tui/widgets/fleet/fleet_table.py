"""The table of all sessions: its cursor stays with a session, whatever the order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import reactive

from core.live.fleet.order import Fold, Heading, Item, Order, Sorting, listed
from core.live.fleet.row import FleetRow
from tui.draw.line import Line
from tui.widgets.common.scroller import Scroller
from tui.widgets.fleet.fleet_columns import (
    CellContext,
    TableLayout,
    fold_line,
    project_line,
    session_line,
    sorting_at,
    table_layout,
    title_line,
)


class FleetTable(Scroller):
    """One row a session."""

    EMPTY: ClassVar[str] = "no session to show"
    HELP: ClassVar[str] = """\
## Fleet

Every active or recent session of this machine, who needs a person first.
`▲` asks you, `△` may ask for permission, `↻` loops, `■` a governor would halt it, `▣` quarantined, `✗` stuck,
`…` silent amid its work, `!` its log is gone, `▽` context nearly full, `◌` waits for a tool, `✓` done,
`~` done as it seems, `□` over, `‖` stopped by you, `●` works, `◇` delegates, `◆` flows,
`○` left amid its work.
*for* says since when; *ctx* is the share of the way to compaction, *turns* how many are left until then;
*$* is what it cost with its sub-agents (`≥` at least, `?` no price known), *failed* how many of its calls.
`x` shows what their minds read instead: the curve is frustration, a dot is a time in which nothing happened.
Sessions at rest share one line; `h` or a click lists them. A click on a title sorts by it.
"""
    HEAD: ClassVar[int] = 1
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "open", id="fleet.open", tooltip="Open the observatory on this session"),
    ]

    rows: reactive[tuple[FleetRow, ...]] = reactive((), repaint=False)
    order: reactive[Order] = reactive(Order())
    now: reactive[float] = reactive(0.0, repaint=False)
    """The moment of the rows."""

    @dataclass
    class Moved(Message):
        """The cursor is at another session, or its row is another."""

        row: FleetRow | None

    @dataclass
    class Chosen(Message):
        """The person wants to see this session."""

        row: FleetRow

    @dataclass
    class SortedBy(Message):
        """The title of a column was clicked."""

        sorting: Sorting

    @dataclass
    class Unfold(Message):
        """The line of the sessions at rest was clicked."""

    def __init__(self, span: float, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._span = span
        self._items: list[Item] = []
        self._places: list[int] = []
        """Where sessions, not headings, stand."""
        self._cursor = ""
        self._pinned = False
        """The cursor stays with its session; until all were read once it stays at the top."""
        self._shape: TableLayout | None = None

    @property
    def chosen(self) -> FleetRow | None:
        """The session under the cursor."""
        place = self._place()
        item = self._items[place] if place >= 0 else None
        return item if isinstance(item, FleetRow) else None

    @property
    def items(self) -> list[Item]:
        """What is listed, headings included."""
        return self._items

    def count_rows(self) -> int:
        return len(self._items)

    def watch_rows(self) -> None:
        self._shape = None
        self._arrange()

    def watch_now(self) -> None:
        self.draw_rows()

    def watch_order(self) -> None:
        self._shape = None
        self._arrange()

    def _arrange(self) -> None:
        before = self._places.index(place) if (place := self._place()) >= 0 else 0
        self._items = listed(self.rows, self.order)
        self._places = [spot for spot, item in enumerate(self._items) if isinstance(item, FleetRow)]
        if not self._pinned and self._places:
            self._cursor = self._key(0)
            self._pinned = all(row.status.word != "reading" for row in self.rows)
        elif self._place() < 0:
            self._cursor = self._key(min(before, len(self._places) - 1)) if self._places else ""
        self.resize_rows()
        self.post_message(self.Moved(self.chosen))

    def _key(self, number: int) -> str:
        item = self._items[self._places[number]]
        return item.key if isinstance(item, FleetRow) else ""

    def _place(self) -> int:
        """Where the cursor stands in the list; -1 where its session is not listed."""
        for place in self._places:
            item = self._items[place]
            if isinstance(item, FleetRow) and item.key == self._cursor:
                return place
        return -1

    def go(self, number: int) -> None:
        """Put the cursor on a session, counted without headings."""
        if self._places:
            self._pinned = True
            number = max(0, min(number, len(self._places) - 1))
            self._cursor = self._key(number)
            self._show(self._places[number], first=number == 0)
            self.draw_rows()
            self.post_message(self.Moved(self.chosen))

    def _show(self, place: int, *, first: bool) -> None:
        top = self.scroll_offset.y
        if first or place < top:
            self.scroll_to(y=0 if first else place, animate=False, immediate=True)
        elif place >= top + self.page:
            self.scroll_to(y=place - self.page + 1, animate=False, immediate=True)

    def action_move(self, by: int) -> None:
        place = self._place()
        self.go(self._places.index(place) + by if place >= 0 else 0)

    def action_first(self) -> None:
        self.go(0)

    def action_last(self) -> None:
        self.go(len(self._places) - 1)

    def action_open(self) -> None:
        if (row := self.chosen) is not None:
            self.post_message(self.Chosen(row))

    def on_click(self, event: events.Click) -> None:
        """Choose a session, clicked twice open it; sort by a column, or list the sessions at rest."""
        at = event.get_content_offset(self)
        if at is None:
            return
        if at.y < self.HEAD:
            sorting = sorting_at(self._room(self.scrollable_content_region.width), at.x)
            if sorting is not None:
                self.post_message(self.SortedBy(sorting))
            return
        place = self.scroll_offset.y + at.y - self.HEAD
        if place < len(self._items) and isinstance(self._items[place], Fold):
            self.post_message(self.Unfold())
        elif place in self._places:
            self.go(self._places.index(place))
            if event.chain == 2:
                self.action_open()

    def head(self, number: int, width: int) -> Line:  # noqa: ARG002
        return title_line(self._room(width), self.order.sorting)

    def _room(self, width: int) -> TableLayout:
        if self._shape is None or self._shape.width != width - 1:
            self._shape = table_layout(self.rows, width - 1, grouped=self.order.grouped, axes=self.order.axes)
        return self._shape

    def row(self, number: int, width: int) -> Line:
        item = self._items[number]
        if isinstance(item, Heading):
            return project_line(item, width)
        if isinstance(item, Fold):
            return fold_line(item, self.now, width)
        line = session_line(item, self._room(width), CellContext(self.now, self._span))
        if item.key != self._cursor:
            return line
        return [(text, ink if ink == "alert-tag" else "cursor") for text, ink in line]
