"""The path tree: where the work is, which files are read and which rewritten, and how it felt there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import ClassVar, Literal

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Input

from core.engine.percept import AgentState
from core.engine.receptor.readings import HeatmapReading, NodeReading
from core.report.formatting import age, count, plain
from tui.draw.line import Line, fit, meter, path_end
from tui.feed.messages import EditFile, Failed, ShowTranscript
from tui.feed.view import View
from tui.keys import bind
from tui.widgets.common.panel import CursorPanel, Panel

PathOrder = Literal["heat", "recency", "edits"]
ORDERS: tuple[PathOrder, ...] = ("heat", "recency", "edits")

# What the agent was like when it was last there.
STATE_GLYPHS: dict[AgentState, str] = {"idle": "·", "delegating": "◇", "stuck": "▲", "deep_work": "◆", "exploring": "○"}


_INKS: dict[AgentState, str] = {"stuck": "frustration", "deep_work": "flow", "exploring": "seeking"}


class PathRow:
    """A row of the tree: a node with the totals of its visible leaves."""

    __slots__ = (
        "below", "changed", "folded", "guide", "heat", "hottest", "modified", "name", "opened", "path", "state",
        "visited", "visits",
    )  # fmt: skip

    def __init__(self, node: NodeReading, sought: str) -> None:
        name = node.name
        while node.leaf is None and len(node.children) == 1:
            node = node.children[0]
            name = f"{name.rstrip('/')}/{node.name}"
        self.path, self.name, self.visits, self.heat = node.path, name, node.count, node.heat
        self.guide = ""  # Lines that lead to it.
        self.folded = False
        self.opened = self.modified = 0
        self.hottest = 0.0  # Heat of the hottest leaf at or below it.
        self.visited = float("-inf")  # Epoch seconds of the latest visit.
        self.state: AgentState = "idle"  # At the latest visit.
        self.changed = False  # Something there changed on disk since.
        self.below = _sought_rows(node.children, sought)
        leaf = node.leaf
        if leaf is not None and sought in node.path.casefold():
            self._take(leaf.opened, leaf.modified, leaf.heat, leaf.last_access, leaf.last_state)
            self.changed = leaf.last_modified is not None and leaf.last_modified > leaf.last_access
        for row in self.below:
            self._take(row.opened, row.modified, row.hottest, row.visited, row.state)
            self.changed = self.changed or row.changed

    @property
    def folder(self) -> bool:
        """There is something below it."""
        return bool(self.below)

    def _take(self, opened: int, modified: int, heat: float, visited: float, state: AgentState) -> None:
        self.opened += opened
        self.modified += modified
        self.hottest = max(self.hottest, heat)
        if visited > self.visited:
            self.visited, self.state = visited, state

    def rank(self, order: PathOrder) -> tuple[float, float, str]:
        first = {"heat": self.heat, "recency": self.visited, "edits": self.modified}[order]
        return (-first, -self.heat, self.name)


def _sought_rows(nodes: Sequence[NodeReading], sought: str) -> list[PathRow]:
    rows = (PathRow(node, sought) for node in nodes)
    return [row for row in rows if row.visited > float("-inf")]


def path_rows(
    tree: Sequence[NodeReading], order: PathOrder = "heat", folded: Collection[str] = (), sought: str = ""
) -> list[PathRow]:
    """The rows from top to bottom; a search opens every fold."""
    words = sought.casefold()
    return list(_rows(_sought_rows(tree, words), order, () if words else folded, "", top=True))


def _rows(
    rows: list[PathRow], order: PathOrder, folded: Collection[str], indent: str, *, top: bool = False
) -> Iterator[PathRow]:
    rows.sort(key=lambda row: row.rank(order))
    for row in rows:
        last = row is rows[-1]
        row.guide = "" if top else indent + ("└ " if last else "├ ")
        row.folded = row.folder and row.path in folded
        yield row
        if not row.folded:
            deeper = "" if top else indent + ("  " if last else "│ ")
            yield from _rows(row.below, order, folded, deeper)


def parent_folders(path: str) -> Iterator[str]:
    """The folders of a path, nearest first."""
    while "/" in path.rstrip("/"):
        path = path.rstrip("/").rpartition("/")[0]
        if path:
            yield path
    if path == "":
        yield "/"


_WORDS = 74  # From this width on states are written out.
_AGES = 40
_WIDE = 110


class PathColumns:
    """How much room each column of the tree has."""

    def __init__(self, rows: list[PathRow], width: int) -> None:
        self.words = width >= _WORDS
        self.ages = width >= _AGES
        self.read = 2 + len(str(max(row.opened for row in rows))) if width >= 28 else 0
        self.wrote = 2 + len(str(max(row.modified for row in rows))) if self.read else 0
        self.state = 13 if self.words else 2
        self.age = 5 if self.ages else 0
        self.bar = 24 if width >= _WIDE else 12 if self.words else 8 if self.ages else 4
        self.whole = max(8, width - self.bar - 1)  # Room of a name with no figures beside it.
        self.name = max(8, self.whole - self.read - self.wrote - self.state - self.age)

    def freshness(self, row: PathRow, at: float) -> Line:
        """How the agent was when it was last there, and how long ago that is."""
        word = f" {STATE_GLYPHS[row.state]} {row.state.replace('_', ' ')}"
        ago = age(at - row.visited) if self.age else ""
        ink = _INKS.get(row.state, "quiet")
        if row.changed and self.age:
            return [(word.ljust(self.state)[: self.state], ink), (f"*{ago}".rjust(self.age), "strong")]
        return [(word.ljust(self.state)[: self.state], ink), (ago.rjust(self.age), "quiet")]

    def titles(self) -> Line:
        """Return the heading of each column."""
        parts = (
            fit("path (visits)", self.name),
            _title(("read", "rd", "r"), self.read),
            _title(("edited", "edit", "ed", "w"), self.wrote) if self.read else "",
        )
        state = fit(" last state" if self.words else "", self.state)
        return [("".join(parts), "quiet"), (state + ("ago".rjust(self.age)) + " heat", "quiet")]


def _title(words: tuple[str, ...], width: int) -> str:
    """The longest of the words that leaves a blank before it."""
    return next((word.rjust(width) for word in words if len(word) < width), " " * width)


def add_scrollbar(lines: list[Line], top: int, total: int) -> None:
    """Show on the right edge which part of the rows is seen."""
    room = len(lines)
    size = max(1, round(room * room / total))
    start = round((room - size) * top / max(1, total - room))
    for number, line in enumerate(lines):
        thumb = start <= number < start + size
        line.append(("▐" if thumb else " ", "quiet"))


class PathTree(CursorPanel):
    """The heatmap as a tree that keeps its place while it changes."""

    TITLE: ClassVar[str] = "Paths"
    LOOK = ("order", "sought", "folded", "cursor")
    WHEEL = 2
    EMPTY: ClassVar[str] = "no path touched yet"
    DEFAULT_CSS = """
    PathTree {
        & > Input {
            display: none; dock: bottom; height: 1; border: none; padding: 0;
            background: $panel; color: $foreground;
            &:focus { border: none; }
        }
        &.-filtering > Input { display: block; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("row.up", "move(-1)", "", "The path above"),
        bind("row.down", "move(1)", "", "The path below"),
        bind("page.up", "page(-1)", "", "A page up"),
        bind("page.down", "page(1)", "", "A page down"),
        bind("open", "events", "transcript", "The transcript of this path", show=True),
        bind("view", "sort", "sort", "Sort by heat, by recency or by edits", show=True),
        bind("fold", "fold", "", "Expand or collapse this folder", show=True),
        bind("search", "filter", "filter", "Only paths that contain these letters", show=True),
        bind("alone", "zoom", show=True),
        bind("edit", "edit", "", "Open this file in your editor"),
        bind("back", "unfilter", "all", "Show all paths again"),
    ]

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.order: PathOrder = "heat"
        self.sought = ""
        self.folded: set[str] = set()
        self.cursor = ""  # The path the person is at; empty until they move.
        self._rows: list[PathRow] = []
        self._arranged: HeatmapReading | None = None  # What the rows were made of.
        self._top = 0
        self._line = 0  # Line of the cursor below the top.

    def compose(self) -> ComposeResult:
        yield Input(placeholder="part of a path", select_on_focus=False, id="path-filter")

    @property
    def rows(self) -> tuple[PathRow, ...]:
        """Return the rows that can be scrolled to, from top to bottom."""
        return tuple(self._rows)

    @property
    def chosen(self) -> str:
        """The path under the bar: the person's, or the first in sight until they move."""
        return self.cursor or (self._rows[min(self._top, len(self._rows) - 1)].path if self._rows else "")

    def subtitle(self, view: View) -> str:
        listed_count = len(view.frame.receptor.heatmap.top)
        leaves = view.frame.receptor.heatmap.leaves
        many = count(leaves, "path") if listed_count == leaves else f"{listed_count} of {count(leaves, 'path')}"
        return f"by {self.order} · {many}" if leaves else ""

    def take_look(self, other: Panel) -> None:
        super().take_look(other)
        with self.prevent(Input.Changed):
            self.query_one(Input).value = self.sought
        self.set_class(bool(self.sought), "-filtering")
        self._show_again()

    def watch_view(self, view: View | None) -> None:
        if view is not None and view.frame.receptor.heatmap is not self._arranged:
            self._arrange(view)
        super().watch_view(view)

    def _arrange(self, view: View) -> None:
        """Make the rows again, and keep the cursor's path on its line."""
        before = self._place()
        self._arranged = view.frame.receptor.heatmap
        self._rows = path_rows(self._arranged.tree, self.order, self.folded, self.sought)
        if not self.cursor:
            return
        paths = {row.path: number for number, row in enumerate(self._rows)}
        if self.cursor not in paths:
            target = next((path for path in parent_folders(self.cursor) if path in paths), "")
            if not target and self._rows:
                target = self._rows[min(before, len(self._rows) - 1)].path
            self.cursor = target
        if self.cursor:
            self._top = max(0, paths[self.cursor] - self._line)

    def _place(self) -> int:
        return next((number for number, row in enumerate(self._rows) if row.path == self.cursor), 0)

    def _show_again(self) -> None:
        if self.view is not None:
            self._arrange(self.view)
        self.redraw()

    def lines(self, view: View, width: int, height: int) -> list[Line]:
        room = max(1, height - self.has_class("-filtering") - self.detailed)
        if not self._rows:
            words = f"no path contains “{plain(self.sought)}”" if self.sought else self.EMPTY
            return [[(words, "quiet")]]
        self._scroll(room)
        visible = self._rows[self._top : self._top + room]
        overflow = len(self._rows) > room
        columns = PathColumns(self._rows, width - overflow)
        hot = max(row.hottest for row in self._rows)
        full = max(row.heat for row in self._rows)
        lines = []
        for row in visible:
            near, share = row.hottest / hot if hot else 0, row.heat / full if full else 0
            lines.append(self._row(row, columns, view.at, near, share))
        if overflow:
            add_scrollbar(lines, self._top, len(self._rows))
        return [columns.titles(), *lines] if self.detailed else lines

    def _scroll(self, room: int) -> None:
        """Keep the cursor in sight."""
        if self.cursor:
            place = self._place()
            self._top = min(max(self._top, place - room + 1), place)
        self._top = max(0, min(self._top, len(self._rows) - room))
        self._line = max(0, self._place() - self._top)

    def _row(self, row: PathRow, columns: PathColumns, at: float, near: float, share: float) -> Line:
        here = self.has_focus and row.path == self.chosen
        heat = f"heat-{min(4, 1 + int(near * 4))}"
        sign = ("▸ " if row.folded else "▾ ") if row.folder else ""
        bare = row.folder and not row.folded
        tail = f" ({row.visits})" if row.folder or columns.ages or not (row.opened or row.modified) else ""
        room = (columns.whole if bare else columns.name) - len(row.guide) - len(sign)
        name = path_end(plain(row.name), max(3, room - len(tail)))
        label = fit(f"{name}{tail}", max(1, room))
        line: Line = [(row.guide, "baseline"), (sign, "quiet")]
        if here:
            line.append((label, "cursor"))
        else:
            line += [(label[: len(name)], "plain" if near >= 0.25 else "quiet"), (label[len(name) :], "quiet")]
        if not bare:
            if columns.read:
                read = f" r{row.opened}" if row.opened else ""
                wrote = f" w{row.modified}" if row.modified else ""
                line += [(read.rjust(columns.read), "quiet"), (wrote.rjust(columns.wrote), "strong")]
            line += columns.freshness(row, at)
        return [*line, (" ", "plain"), *meter(share, columns.bar, heat)]

    def action_edit(self) -> None:
        if self.chosen:
            self.post_message(EditFile(self.chosen))

    def action_move(self, by: int) -> None:
        if self._rows:
            place = (self._place() if self.cursor else self._top) + by
            self.cursor = self._rows[max(0, min(place, len(self._rows) - 1))].path
            self.redraw()

    def action_page(self, by: int) -> None:
        self.action_move(by * max(1, self.size.height - 1))

    def action_sort(self) -> None:
        self.order = ORDERS[(ORDERS.index(self.order) + 1) % len(ORDERS)]
        self._show_again()

    def action_fold(self) -> None:
        """Expand or collapse the folder under the cursor, or the one its file is in."""
        folders = {row.path for row in self._rows if row.folder}
        folder = next((path for path in (self.chosen, *parent_folders(self.chosen)) if path in folders), None)
        if folder is None:
            self.post_message(Failed("no folder to expand or collapse here"))
        else:
            self.folded = self.folded ^ {folder}
            self.cursor = folder
            self._show_again()

    def action_filter(self) -> None:
        self.add_class("-filtering")
        self._show_again()
        self.query_one(Input).focus()

    def action_unfilter(self) -> None:
        self.query_one(Input).value = self.sought = ""
        self.remove_class("-filtering")
        self._show_again()
        self.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave escape to the screen unless something is filtered."""
        if action == "unfilter":
            return bool(self.sought) or self.has_class("-filtering")
        return super().check_action(action, parameters)

    def action_events(self) -> None:
        self.post_message(ShowTranscript(self.chosen))

    @on(Input.Changed)
    def _sift(self, event: Input.Changed) -> None:
        event.stop()
        self.sought = event.value.strip()
        self._show_again()

    @on(Input.Submitted)
    def _keep(self, event: Input.Submitted) -> None:
        event.stop()
        self.set_class(bool(self.sought), "-filtering")
        self.focus()

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        line = self._top + at.y - self.detailed if at is not None else -1
        if at is None or not 0 <= line < len(self._rows):
            return
        row = self._rows[line]
        self.cursor = row.path
        self.redraw()
        if row.folder and at.x < len(row.guide) + 2:
            self.action_fold()
        elif event.chain == 2:
            self.action_events()
