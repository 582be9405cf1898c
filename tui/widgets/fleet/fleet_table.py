"""The table of all sessions: its cursor stays with a session, whatever the order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NamedTuple, TypeAlias

from rich.cells import cell_len
from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.reactive import reactive

from core.engine.percept import spell_name
from core.live.fleet.row import BUCKETS, STATUS_FILTERS, FleetRow, Fold, Heading, Item, Order, Sorting, census, listed
from core.live.status import Status
from core.report.formatting import age, count, fraction, plain, short
from tui.draw.line import Line, fit, joined_cells
from tui.keys import bind
from tui.widgets.common.header import model_name
from tui.widgets.common.panel import Scroller

_HIGH, _FULL = 0.5, 0.75
_LEVEL_STYLES = ("quiet", "live", "seeking", "alert-tag")
_REST_STYLES = {"done": "confidence", "gave up": "seeking"}
_LOW = 0.2
_MANY, _PART = 3, 0.2  # Failures, and their share of all calls, from which they are marked.
_REASON = 8  # Cells of a reason for which the last columns give way whole: a figure that is cut says something else.
_SPARKS = "▁▂▃▄▅▆▇"  # Never a full cell, so that curves on adjacent lines do not touch.


class CellContext(NamedTuple):
    """The context a cell needs beside its row."""

    now: float
    span: float  # Seconds the small curve shows.


Cell: TypeAlias = Callable[[FleetRow, int, CellContext], Line]  # How a row looks in a column.


class Column(NamedTuple):
    """One column: its title, its width, how a row looks in it, and the order that sorts by it."""

    title: str
    width: int
    cell: Cell
    sorting: Sorting | None = None
    right: bool = False


def level_style(status: Status) -> str:
    """The style of a standing; what is only surmised has no ground of its own."""
    if not status.level:
        return _REST_STYLES.get(status.word, "quiet")
    return "alert" if status.level == 3 and status.word == "may need you" else _LEVEL_STYLES[status.level]


def _word(row: FleetRow, width: int, _: CellContext) -> Line:
    status = row.status
    return [(fit(f"{status.glyph} {status.word}", width), level_style(status))]


def _for(row: FleetRow, width: int, moment: CellContext) -> Line:
    since = row.status.since
    ink = "alert" if row.status.level == 3 else "plain" if row.status.level else "quiet"
    return [("" if since is None else age(moment.now - since), ink)] if width else []


def _text(words: Callable[[FleetRow], str], ink: str = "quiet") -> Cell:
    """A cell with text of its row, quiet while the session is at rest."""
    return lambda row, width, _: [(fit(plain(words(row)), width), ink if row.status.level else "quiet")]


def _curve(row: FleetRow, width: int, moment: CellContext) -> Line:
    points = row.points(moment.now, width, moment.span)
    cells = ["·" if point is None else _SPARKS[min(6, int(point * 7))] for point in points]
    return joined_cells(cells, [_curve_style(point) for point in points])


def _curve_style(point: float | None) -> str:
    if point is None:
        return "track"
    return "quiet" if point < _LOW else "frustration-dim" if point < _HIGH else "frustration"


def _frustration(row: FleetRow, _: int, __: CellContext) -> Line:
    ink = "frustration" if row.frustration >= _HIGH else "plain" if row.status.level else "quiet"
    return [(fraction(row.frustration), ink)]


def _flow_cell(row: FleetRow, _: int, __: CellContext) -> Line:
    ink = "quiet" if not row.status.level else "plain" if row.facts.flow is None else "flow"
    return [(fraction(row.flow), ink)]


def _context_cell(row: FleetRow, _: int, __: CellContext) -> Line:
    if not row.context_tokens:
        return [("-", "quiet")]
    share = row.facts.context
    ink = "alert" if share >= 0.9 else "seeking" if share >= _FULL else "plain"
    return [(f"{100 * share:.0f}%", ink if row.status.level else "quiet")]


def _forecast(row: FleetRow, _: int, __: CellContext) -> Line:
    left = row.facts.turns_left
    if left is None or not row.context_tokens:
        return [("", "quiet")]
    return [(f"~{left}" if left < 1000 else "far", "plain" if left < 20 and row.status.level else "quiet")]


def _state(row: FleetRow, width: int, _: CellContext) -> Line:
    ink = "alert" if row.state == "stuck" and row.status.level else "quiet"
    return [(plain(row.state.replace("_", " "), width), ink)]


def _pattern_cell(row: FleetRow, width: int, _: CellContext) -> Line:
    ink = "frustration" if row.pattern == "trial_error" and row.status.level else "quiet"
    return [(plain(spell_name(row.pattern), width), ink)]


def _governor_cell(row: FleetRow, width: int, _: CellContext) -> Line:
    if row.governor == "HALTED":
        return [(plain(f"■ {row.halt.lower()}", width), "alert" if row.status.level else "quiet")]
    return [(row.governor.lower(), "plain" if row.governor == "RECOVERING" else "quiet")]


def _tokens(row: FleetRow, _: int, __: CellContext) -> Line:
    return [(short(row.burn) if row.burn else "-", "plain" if row.burn else "quiet")]


def _subagents(row: FleetRow, _: int, __: CellContext) -> Line:
    if not row.facts.subagents:
        return [("", "quiet")]
    least = "≥" if row.partial else ""
    return [(f"{row.running}/{least}{row.facts.subagents}", "plain" if row.running else "quiet")]


def _why(row: FleetRow, width: int, _: CellContext) -> Line:
    return [(fit(row.why, width), "plain" if row.status.level >= 2 else "quiet")]


def _last(row: FleetRow, width: int, moment: CellContext) -> Line:
    when = age(moment.now - row.last_at) if row.last_at else ""
    ink = "plain" if row.status.level else "quiet"
    sign = f"{row.last_sign} " if row.last_sign else ""
    return [(f"{when:>4} ", "quiet"), (fit(sign + row.last, width - 5), ink)]


def _reason(row: FleetRow, width: int, moment: CellContext) -> Line:
    """Why it needs somebody, else what it did or said last."""
    if row.status.level == 3 or (row.status.level == 2 and not row.status.word.startswith("done")):
        return _why(row, width, moment)
    sign = f"{row.last_sign} " if row.last_sign else ""
    text = f"{sign}{row.last}" if row.last else row.why
    return [(fit(text, width), "plain" if row.status.level else "quiet")]


def _cost(row: FleetRow, width: int, _: CellContext) -> Line:
    return [(row.cost[:width], "plain" if row.priced and row.status.level else "quiet")]


def _failures(row: FleetRow, _: int, __: CellContext) -> Line:
    if not row.calls:
        return [("", "quiet")]
    high = row.failures >= _MANY and row.failures > _PART * row.calls
    ink = "quiet" if not (row.failures and row.status.level) else "alert" if high else "plain"
    return [(f"{row.failures}/{short(row.calls) if row.calls > 999 else row.calls}", ink)]


class TableLayout(NamedTuple):
    """The room a table of some rows needs."""

    width: int
    project: int
    agent: int
    subagents: bool
    host: int = 0
    axes: bool = False  # What the minds read is shown, not what the sessions are about.


def table_layout(rows: Sequence[FleetRow], width: int, *, axes: bool = False) -> TableLayout:
    """Return the room these rows need, in steps, so that columns do not move."""
    project = max((len(row.name) for row in rows), default=0)
    agent = max((len(row.agent) for row in rows), default=0)
    subagents = any(row.facts.subagents for row in rows)
    host = min(16, -(-max((len(row.host) for row in rows), default=0) // 4) * 4)
    return TableLayout(width, -(-project // 4) * 4, max(5, min(agent, 14)), subagents, host, axes)


@lru_cache(maxsize=16)
def fleet_columns(room: TableLayout) -> tuple[Column, ...]:
    """The columns of a table."""
    return _axis_columns(room) if room.axes else _plain_columns(room)


def _first_columns(room: TableLayout) -> list[Column]:
    width = room.width
    wide, huge = width >= 110, width >= 160
    most = 24 if huge else 20 if wide else 14 if width >= 70 else 10
    return [
        Column("status", 14, _word, "need"),
        Column("for", 4, _for, "recent", right=True),
        *([Column("host", room.host, _text(lambda row: row.host, "plain"))] if room.host else []),
        Column("project", max(8, min(room.project, most)), _text(lambda row: row.name, "strong"), "project"),
    ]


def _plain_columns(room: TableLayout) -> tuple[Column, ...]:
    """Return the columns for each session's subject, activity, need and cost."""
    wide, huge = room.width >= 110, room.width >= 160
    chosen = _first_columns(room)
    if huge:
        chosen.append(Column("agent", room.agent, _text(lambda row: row.agent), "agent"))
    if wide:
        chosen.append(Column("title", 44 if huge else 24, _text(lambda row: row.title, "plain")))
    last = [
        Column("ctx", 4, _context_cell, "context", right=True),
        Column("$", 9 if wide else 8, _cost, "cost", right=True),
        Column("failed", 7 if wide else 6, _failures, "failures", right=True),
    ]
    if huge:
        last.insert(1, Column("turns", 5, _forecast, right=True))
        last += [Column("subs", 5, _subagents, right=True)] if room.subagents else []
        last.append(Column("outcome", 26, _text(lambda row: row.outcome, "plain")))
    rest = room.width - sum(column.width + 1 for column in (*chosen, *last))
    while rest < _REASON and last:
        rest += last.pop().width + 1
    while rest < 0 and len(chosen) > 1:
        rest += chosen.pop().width + 1
    return (*chosen, Column("what is going on", max(0, rest), _reason), *last)


def _axis_columns(room: TableLayout) -> tuple[Column, ...]:
    """Return the columns for each session's axes."""
    width = room.width
    wide, huge = width >= 110, width >= 160
    chosen = _first_columns(room)
    if wide:
        chosen.append(Column("agent", room.agent, _text(lambda row: row.agent), "agent"))
    if huge:
        chosen.append(Column("model", 12, _text(lambda row: model_name(row.model))))
        chosen += [Column("state", 10, _state), Column("pattern", 14, _pattern_cell)]
    chosen.append(Column("frustration", BUCKETS if huge else 11, _curve) if wide else Column("frust", 8, _curve))
    chosen.append(Column("now", 4, _frustration, "frustration", right=True))
    if wide:
        chosen.append(Column("flow", 4, _flow_cell, right=True))
    chosen.append(Column("ctx", 4, _context_cell, "context", right=True))
    if wide:
        chosen.append(Column("turns", 5, _forecast, right=True))
    if huge:
        chosen.append(Column("governor", 12, _governor_cell))
    if wide:
        chosen.append(Column("tok/m", 6, _tokens, "tokens", right=True))
        chosen += [Column("subs", 5, _subagents, right=True)] if room.subagents else []
    rest = width - sum(column.width + 1 for column in chosen)
    while rest < 0 and len(chosen) > 1:
        rest += chosen.pop().width + 1
    if huge and rest >= 48:
        last = min(30, rest // 3 + 2)
        chosen[1] = chosen[1]._replace(sorting=None)
        chosen += [Column("last event", last, _last, "recent"), Column("why", rest - last - 1, _why)]
    else:
        chosen.append(Column("what is going on", max(0, rest), _reason))
    return tuple(chosen)


def title_line(room: TableLayout, sorting: Sorting) -> Line:
    """The line above the rows; the column that sorts is marked."""
    line: Line = []
    for column in fleet_columns(room):
        chosen = column.sorting == sorting
        title = fit(f"{column.title}▾" if chosen else column.title, column.width)
        title = title.strip().rjust(column.width) if column.right else title
        line += [(title, "strong" if chosen else "quiet"), (" ", "quiet")]
    return line


def sorting_at(room: TableLayout, x: int) -> Sorting | None:
    """Return the sort order of the column at a cell of the heading."""
    for column in fleet_columns(room):
        if x < column.width:
            return column.sorting
        x -= column.width + 1
    return None


def session_line(row: FleetRow, room: TableLayout, moment: CellContext, *, marked: bool = False) -> Line:
    """One session, with a flag behind its status if it is marked."""
    line: Line = []
    between = "⚑" if marked else " "
    for column in fleet_columns(room):
        cell = column.cell(row, column.width, moment)
        free = column.width - sum(cell_len(text) for text, _ in cell)
        pad: Line = [(" " * max(0, free), "plain")]
        line += [*pad, *cell] if column.right else [*cell, *pad]
        line.append((between, "plain"))
        between = " "
    return line


def fold_line(item: Fold, now: float, width: int) -> Line:
    """The line for sessions at rest."""
    newest = max((row.facts.heard for row in item.rows), default=0.0)
    dollars = sum(row.dollars for row in item.rows)
    about = f"○ {count(len(item.rows), 'more session')} at rest, the newest {age(now - newest)} ago"
    if dollars:
        about += f", ${dollars:,.2f}"
    return [(fit(f"{about}  (o lists them)", width), "quiet")]


def project_line(item: Heading, width: int) -> Line:
    """The line above a project's sessions."""
    counted = census(item.rows)
    line: Line = [(f"{plain(item.name, 40)} ", "strong" if item.rows else "quiet")]
    if item.rows:
        line.append((count(len(item.rows), "session"), "quiet"))
    if counted.need:
        line.append((f"  ▲ {counted.need} need{'s' if counted.need == 1 else ''} you", "alert"))
    used = sum(len(text) for text, _ in line)
    return [*line, (" " + "─" * max(0, width - used - 2), "track")]


class FleetTable(Scroller):
    """One row a session."""

    EMPTY: ClassVar[str] = "no sessions to show"
    HEAD: ClassVar[int] = 1
    BINDINGS: ClassVar[list[BindingType]] = [bind("open", "open", "", "Open this session", show=True)]

    # Whoever changes the rows or their moment calls `draw_rows` then.
    rows: reactive[tuple[FleetRow, ...]] = reactive((), repaint=False)
    order: reactive[Order] = reactive(Order(), repaint=False)
    now: reactive[float] = reactive(0.0, repaint=False)  # The moment of the rows.

    @dataclass
    class Moved(Message):
        """The cursor is at another session, or its row is another."""

        row: FleetRow | None

    @dataclass
    class Chosen(Message):
        """The person wants to see this session."""

        row: FleetRow

    @dataclass
    class Reordered(Message):
        """The title of a column was clicked, or the line of the sessions at rest."""

        order: Order

    def __init__(self, span: float, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._span = span
        self._items: list[Item] = []
        self._places: list[int] = []  # Where sessions, not headings, stand.
        self._cursor = ""
        self._pinned = False  # The cursor stays with its session; until all were read once it stays at the top.
        self._shape: TableLayout | None = None

    @property
    def chosen(self) -> FleetRow | None:
        """The session under the cursor."""
        place = self._place()
        item = self._items[place] if place >= 0 else None
        return item if isinstance(item, FleetRow) else None

    @property
    def items(self) -> list[Item]:
        """Return the listed rows, headings included."""
        return self._items

    def count_rows(self) -> int:
        return len(self._items)

    def _line(self, y: int, width: int) -> Line:
        sought = self.order.text or list(STATUS_FILTERS)[self.order.status]
        if y != self.HEAD or self._items or sought == "all":
            return super()._line(y, width)
        return [(f"{self.EMPTY}: the filter is “{plain(sought)}” (esc lists all)", "quiet")]

    def watch_rows(self) -> None:
        self._shape = None
        self._arrange_rows()

    def watch_order(self) -> None:
        self._shape = None
        self._arrange_rows()
        self.draw_rows()

    def _arrange_rows(self) -> None:
        before = self._places.index(place) if (place := self._place()) >= 0 else 0
        self._items = listed(self.rows, self.order)
        self._places = [spot for spot, item in enumerate(self._items) if isinstance(item, FleetRow)]
        if not self._pinned and self._places:
            self._cursor = self._key(0)
            self._pinned = all(not row.status.reading for row in self.rows)
        elif self._place() < 0:
            self._cursor = self._key(min(before, len(self._places) - 1)) if self._places else ""
        if len(self._items) + self.HEAD != self.virtual_size.height:
            self.resize_rows()
        self.post_message(self.Moved(self.chosen))

    def _key(self, number: int) -> str:
        item = self._items[self._places[number]]
        return item.key if isinstance(item, FleetRow) else ""

    def _place(self) -> int:
        """Return the cursor's place in the list; -1 if its session is not listed."""
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
                self.post_message(self.Reordered(self.order._replace(sorting=sorting)))
            return
        place = self.scroll_offset.y + at.y - self.HEAD
        if place < len(self._items) and isinstance(self._items[place], Fold):
            self.post_message(self.Reordered(self.order._replace(folded=False)))
        elif place in self._places:
            self.go(self._places.index(place))
            if event.chain == 2:
                self.action_open()

    def head(self, number: int, width: int) -> Line:  # noqa: ARG002
        return title_line(self._room(width), self.order.sorting)

    def _room(self, width: int) -> TableLayout:
        if self._shape is None or self._shape.width != width - 1:
            self._shape = table_layout(self.rows, width - 1, axes=self.order.axes)
        return self._shape

    def row(self, number: int, width: int) -> Line:
        item = self._items[number]
        if isinstance(item, Heading):
            return project_line(item, width)
        if isinstance(item, Fold):
            return fold_line(item, self.now, width)
        marked = item.key in self.order.marked
        line = session_line(item, self._room(width), CellContext(self.now, self._span), marked=marked)
        if item.key != self._cursor:
            return line
        return [(text, ink if ink == "alert-tag" else "cursor") for text, ink in line]
