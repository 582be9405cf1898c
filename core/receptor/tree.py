"""Paths as a tree, by their components."""

from __future__ import annotations

from collections.abc import Sequence

from core.receptor.readings import NodeReading, PathReading


class _Node:
    __slots__ = ("children", "count", "heat", "leaf", "name", "path", "shown")

    def __init__(self, name: str, path: str) -> None:
        self.name = name
        self.path = path
        self.count = 0
        self.heat = 0.0
        self.leaf: PathReading | None = None
        self.shown = False
        self.children: dict[str, _Node] = {}

    def read(self) -> NodeReading:
        shown = [child for child in self.children.values() if child.shown]
        shown.sort(key=lambda child: (-child.heat, child.name))
        return NodeReading(
            name=self.name,
            path=self.path,
            count=self.count,
            heat=self.heat,
            leaf=self.leaf,
            children=tuple(child.read() for child in shown),
        )


def components(path: str) -> list[str]:
    """Split a path; that of the root is `/`."""
    parts = [part for part in path.split("/") if part]
    return ["/", *parts] if path.startswith("/") else parts or [path]


def grow(leaves: Sequence[PathReading], shown: int) -> tuple[NodeReading, ...]:
    """The tree of the first `shown` leaves, hottest branches first, with the sums of all leaves."""
    root = _Node("", "")
    for number, leaf in enumerate(leaves):
        node = root
        for name in components(leaf.path):
            child = node.children.get(name)
            if child is None:
                path = f"{node.path.rstrip('/')}/{name}" if node.path else name
                child = node.children[name] = _Node(name, path)
            node = child
            node.count += leaf.count
            node.heat += leaf.heat
            if number < shown:
                node.shown = True
        node.leaf = leaf
    return root.read().children
