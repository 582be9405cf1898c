"""The heatmap's tree as the rows a person sees: sorted, folded, filtered, chains of folders joined."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Literal, NamedTuple

from core.percept import AgentState
from core.receptor.readings import NodeReading

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


class _Branch:
    """A node with what its shown leaves come to, made before any row is."""

    __slots__ = ("below", "hottest", "modified", "name", "node", "opened", "state", "visited")

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
        self.below = [branch for child in node.children if (branch := _branch(child, sought)) is not None]
        leaf = node.leaf
        if leaf is not None and sought in node.path.casefold():
            self._take(leaf.opened, leaf.modified, leaf.heat, leaf.last_access, leaf.last_state)
        for branch in self.below:
            self._take(branch.opened, branch.modified, branch.hottest, branch.visited, branch.state)

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
