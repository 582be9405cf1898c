"""The heatmap's tree as the rows a person sees, and how they share out the width of the panel."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Literal, NamedTuple

from core.percept import AgentState
from core.receptor.readings import NodeReading
from core.report.formatting import age
from tui.draw.line import Line, fit

PathOrder = Literal["heat", "recency", "edits"]
ORDERS: tuple[PathOrder, ...] = ("heat", "recency", "edits")

STATE_GLYPHS: dict[AgentState, str] = {
    "idle": "·",
    "delegating": "◇",
    "stuck": "▲",
    "deep_work": "◆",
    "exploring": "○",
}
"""What the agent was like when it was last there."""


_INKS: dict[AgentState, str] = {"stuck": "frustration", "deep_work": "flow", "exploring": "seeking"}


class PathRow(NamedTuple):
    """One line of the tree."""

    path: str
    name: str
    guide: str
    """Lines that lead to it."""
    folder: bool
    """There is something below it."""
    folded: bool
    visits: int
    heat: float
    hottest: float
    """Heat of the hottest leaf at or below it."""
    opened: int
    modified: int
    state: AgentState
    """At the latest visit."""
    visited: float
    """Epoch seconds of the latest visit."""
    changed: bool
    """Something there changed on disk since."""


class _Branch:
    """A node with what its shown leaves come to, made before any row is."""

    __slots__ = ("below", "changed", "hottest", "modified", "name", "node", "opened", "state", "visited")

    def __init__(self, node: NodeReading, sought: str) -> None:
        name = node.name
        while node.leaf is None and len(node.children) == 1:
            node = node.children[0]
            name = f"{name.rstrip('/')}/{node.name}"
        self.name = name
        self.node = node
        self.opened = self.modified = 0
        self.hottest = 0.0
        self.visited = float("-inf")
        self.state: AgentState = "idle"
        self.changed = False
        self.below = [branch for child in node.children if (branch := _branch(child, sought)) is not None]
        leaf = node.leaf
        if leaf is not None and sought in node.path.casefold():
            self._take(leaf.opened, leaf.modified, leaf.heat, leaf.last_access, leaf.last_state)
            self.changed = leaf.last_modified is not None and leaf.last_modified > leaf.last_access
        for branch in self.below:
            self._take(branch.opened, branch.modified, branch.hottest, branch.visited, branch.state)
            self.changed = self.changed or branch.changed

    def _take(self, opened: int, modified: int, heat: float, visited: float, state: AgentState) -> None:
        self.opened += opened
        self.modified += modified
        self.hottest = max(self.hottest, heat)
        if visited > self.visited:
            self.visited, self.state = visited, state

    def rank(self, order: PathOrder) -> tuple[float, float, str]:
        first = {"heat": self.node.heat, "recency": self.visited, "edits": self.modified}[order]
        return (-first, -self.node.heat, self.name)


def _branch(node: NodeReading, sought: str) -> _Branch | None:
    branch = _Branch(node, sought)
    return branch if branch.visited > float("-inf") else None


def path_rows(
    tree: Sequence[NodeReading], order: PathOrder = "heat", folded: Collection[str] = (), sought: str = ""
) -> list[PathRow]:
    """The rows from top to bottom; a search opens every fold."""
    words = sought.casefold()
    roots = [branch for node in tree if (branch := _branch(node, words)) is not None]
    return list(_rows(roots, order, () if words else folded, "", top=True))


def _rows(
    branches: list[_Branch], order: PathOrder, folded: Collection[str], indent: str, *, top: bool = False
) -> Iterator[PathRow]:
    branches.sort(key=lambda branch: branch.rank(order))
    for number, branch in enumerate(branches):
        last = number == len(branches) - 1
        node = branch.node
        shut = bool(branch.below) and node.path in folded
        yield PathRow(
            path=node.path,
            name=branch.name,
            guide="" if top else indent + ("└ " if last else "├ "),
            folder=bool(branch.below),
            folded=shut,
            visits=node.count,
            heat=node.heat,
            hottest=branch.hottest,
            opened=branch.opened,
            modified=branch.modified,
            state=branch.state,
            visited=branch.visited,
            changed=branch.changed,
        )
        if branch.below and not shut:
            deeper = "" if top else indent + ("  " if last else "│ ")
            yield from _rows(branch.below, order, folded, deeper)


def parent_folders(path: str) -> Iterator[str]:
    """The folders of a path, nearest first."""
    while "/" in path.rstrip("/"):
        path = path.rstrip("/").rpartition("/")[0]
        if path:
            yield path
    if path == "":
        yield "/"


_WORDS = 74
"""From this width on states are written out."""
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
        self.whole = max(8, width - self.bar - 1)
        """Room of a name with no figures beside it."""
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
        """What each column is."""
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
        held = start <= number < start + size
        line.append(("▐" if held else " ", "quiet"))
