"""Paths as a tree, by their components."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache

from core.receptor.readings import NodeReading, PathReading


class _Node:
    __slots__ = ("children", "count", "heat", "leaf", "name", "path")

    def __init__(self, name: str, path: str) -> None:
        self.name = name
        self.path = path
        self.count = 0
        self.heat = 0.0
        self.leaf: PathReading | None = None
        self.children: dict[str, _Node] = {}

    def read(self) -> NodeReading:
        children: Collection[_Node] = self.children.values()
        if len(children) > 1:
            children = sorted(children, key=lambda child: (-child.heat, child.name))
        return NodeReading(
            self.name,
            self.path,
            self.count,
            self.heat,
            self.leaf,
            tuple([child.read() for child in children]),
        )


@lru_cache(4096)
def components(path: str) -> tuple[str, ...]:
    """Split a path; that of the root is `/`."""
    parts = tuple([part for part in path.split("/") if part])
    return ("/", *parts) if path.startswith("/") else parts or (path,)


def grow(
    leaves: Sequence[PathReading], hidden: Iterable[tuple[str, int, float]] = ()
) -> tuple[NodeReading, ...]:
    """The tree of the leaves that are shown, hottest branches first, with the sums of all leaves.

    Of `hidden` ones, path, count and heat are added to the branches that are there anyway.
    """
    root = _Node("", "")
    for leaf in leaves:
        node = root
        for name in components(leaf.path):
            child = node.children.get(name)
            if child is None:
                path = f"{node.path.rstrip('/')}/{name}" if node.path else name
                child = node.children[name] = _Node(name, path)
            node = child
            node.count += leaf.count
            node.heat += leaf.heat
        node.leaf = leaf
    for path, count, heat in hidden:
        children = root.children
        for name in components(path):
            branch = children.get(name)
            if branch is None:
                break
            branch.count += count
            branch.heat += heat
            children = branch.children
    return root.read().children
