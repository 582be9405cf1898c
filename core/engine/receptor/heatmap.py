"""The path heatmap: where the work is, and when it moves elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from heapq import nsmallest
from math import exp
from typing import Any

from core.engine.percept import AgentState
from core.engine.receptor.readings import HeatmapReading, NodeReading, PathReading
from core.engine.state import KeptField, Stateful, custom, tupled
from core.engine.values import reading_of
from core.events import ToolUse
from core.settings.receptor import HeatmapSettings

_DEEPEST = 64  # Levels of a tree, far below where nested values can no longer be read, compared or written.


class _Node:
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
            self.name, self.path, self.count, self.heat, self.leaf, tuple([child.read() for child in children])
        )


@lru_cache(4096)
def components(path: str) -> tuple[str, ...]:
    """Split a path, the root as `/`; the end of a very deep path stays in one piece."""
    parts = [part for part in path.split("/") if part]
    if len(parts) > _DEEPEST:
        parts[_DEEPEST - 1 :] = ["/".join(parts[_DEEPEST - 1 :])]
    return ("/", *parts) if path.startswith("/") else tuple(parts) or (path,)


def grow(leaves: Sequence[PathReading], hidden: Iterable[tuple[str, int, float]] = ()) -> tuple[NodeReading, ...]:
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


_REBASE = 30.0  # Fading times after which weights are scaled back, far from where floats end.
_KEPT = 0.75  # Share of the leaves that stays when the coldest are forgotten.


_MANY = 8  # Times as many leaves as are wanted, from which on choosing costs less than sorting.


_DIMENSIONS = ("count", "last_access", "last_modified", "last_state", "modified", "opened", "path", "weight")


class Leaf(Stateful):
    """One path and its six dimensions; `weight` is its decayed count, in fixed units."""

    STATE = _DIMENSIONS

    def __init__(self, path: str) -> None:
        self.path = path
        self.count = 0
        self.opened = 0
        self.modified = 0
        self.last_modified: float | None = None
        self.last_access = 0.0
        self.last_state: AgentState = "idle"
        self.weight = 0.0

    def read(self, unit: float) -> PathReading:
        return reading_of(PathReading, self, heat=self.weight / unit)


def _load_leaves(rows: Sequence[Any]) -> dict[str, Leaf]:
    leaves = {}
    for values in rows:
        leaf = Leaf("")
        leaf.load(values)
        leaves[leaf.path] = leaf
    return leaves


def _by_weight(leaf: Leaf) -> tuple[float, str]:
    return -leaf.weight, leaf.path


class Heatmap(Stateful):
    """Count visits that fade with work time, and compare the hottest paths with those of the last shift.

    A visit weighs more the later it comes, instead of every older one less, so that the order of two leaves
    only changes when one is visited. The context is the first few hot paths, and after a shift those then.
    """

    STATE = (
        "_base",
        custom("_leaves", lambda leaves: tuple([leaf.dump() for leaf in leaves.values()]), _load_leaves),
        KeptField(
            "top", "tuple([leaf.path for leaf in self._top])", "self._top = [self._leaves[path] for path in {value}]"
        ),
        tupled("_context"),
        "shifts",
    )

    def __init__(self, settings: HeatmapSettings) -> None:
        self._settings = settings
        self._most = max(settings.leaves, 8 * settings.top)
        self._base = 0.0
        self._leaves: dict[str, Leaf] = {}
        self._top: list[Leaf] = []
        self._context: tuple[str, ...] = ()
        self.shifts = 0
        # The last reading and its time; valid until a leaf changes.
        self._last: tuple[float, HeatmapReading] | None = None

    def restored(self) -> None:
        """Drop the cached reading."""
        self._last = None

    def update(self, event: ToolUse, now: float, state: AgentState) -> bool:
        """Visit the targets of a tool use; return whether the context has shifted."""
        self._last = None
        unit = exp((now - self._base) / self._settings.fade)
        if now - self._base > _REBASE * self._settings.fade:
            self._rebase(now, unit)
            unit = 1.0
        changed = False
        targets = event.targets
        modified_at = event.modified
        succeeded = event.outcome == "success"
        opened = succeeded and event.action == "file_read"
        modified = succeeded and event.action == "file_edit"
        for path in targets if len(targets) <= self._settings.targets else targets[: self._settings.targets]:
            leaf = self._leaves.get(path)
            if leaf is None:
                leaf = self._plant(path)
            leaf.count += 1
            leaf.opened += opened
            leaf.modified += modified
            leaf.last_access = event.at
            leaf.last_state = state
            leaf.weight += unit
            if modified_at is not None:
                leaf.last_modified = modified_at
                modified_at = None
            if leaf not in self._top and self._climb(leaf):
                changed = True
        return changed and self._compare()

    def _plant(self, path: str) -> Leaf:
        if len(self._leaves) >= self._most:
            by_weight = sorted(self._leaves.values(), key=lambda leaf: leaf.weight, reverse=True)
            by_weight[int(self._most * _KEPT) :] = self._top
            self._leaves = {leaf.path: leaf for leaf in by_weight}
        leaf = self._leaves[path] = Leaf(path)
        return leaf

    def _climb(self, leaf: Leaf) -> bool:
        """Insert a leaf among the hottest if it is one of them."""
        top = self._top
        if len(top) < self._settings.top:
            top.append(leaf)
            return True
        coldest = top[0]
        for other in top:
            if other.weight < coldest.weight:
                coldest = other
        if leaf.weight <= coldest.weight:
            return False
        top[top.index(coldest)] = leaf
        return True

    def _compare(self) -> bool:
        """Return whether too many of the hottest paths are new to the context."""
        context = self._context
        if len(context) < self._settings.top:
            self._context = tuple(leaf.path for leaf in self._top)
            return False
        new = sum(leaf.path not in context for leaf in self._top)
        if new / self._settings.top <= self._settings.shift:
            return False
        self._context = tuple(leaf.path for leaf in self._top)
        self.shifts += 1
        return True

    def _rebase(self, now: float, unit: float) -> None:
        for leaf in self._leaves.values():
            leaf.weight /= unit
        self._base = now

    def see_changed(self, path: str, at: float) -> None:
        """Record when a known file last changed on disk."""
        leaf = self._leaves.get(path)
        if leaf is not None and (leaf.last_modified is None or at > leaf.last_modified):
            leaf.last_modified = at
            self._last = None

    def hottest(self, most: int) -> list[Leaf]:
        """Return this many of the hottest leaves."""
        leaves = self._leaves.values()
        if len(leaves) > _MANY * most:
            return nsmallest(most, leaves, key=_by_weight)
        return sorted(leaves, key=_by_weight)[:most]

    @property
    def size(self) -> int:
        """How many leaves are remembered."""
        return len(self._leaves)

    @property
    def leaves(self) -> Iterable[Leaf]:
        """Every path remembered; do not change them."""
        return self._leaves.values()

    def read(self, now: float) -> HeatmapReading:
        """The tree of the hottest leaves; parents sum all leaves, shown or not."""
        if self._last is not None and self._last[0] == now:
            return self._last[1]
        unit = exp((now - self._base) / self._settings.fade)
        hottest = self.hottest(self._settings.shown)
        top = [leaf.read(unit) for leaf in hottest]
        top_paths = {leaf.path for leaf in hottest}
        hidden = [
            (leaf.path, leaf.count, leaf.weight / unit) for leaf in self._leaves.values() if leaf.path not in top_paths
        ]
        reading = HeatmapReading(
            tree=grow(top, hidden), top=tuple(top), leaves=len(self._leaves), context=self._context
        )
        self._last = (now, reading)
        return reading
