"""The conversation as the tree its log says it is, chained by hashes so that a later edit shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from core.errors import StateError
from core.events import Where
from core.logs.links import Link, LinkKind, Rank

BranchKind = Literal["trunk", "sidechain", "rewind", "fork", "orphan"]
"""The first talk; a sub-agent's; the person went back; the log forks; the parent is not in the log."""

_SPOKEN: frozenset[LinkKind] = frozenset(("prompt", "rewind", "summary"))
"""What a second child begins with where the person went back."""


class Node(Struct, frozen=True, gc=False):
    """One record of the log."""

    id: str
    parent: str | None
    kind: LinkKind
    content_hash: bytes
    """SHA-256 of the parent's content hash and this record's digest."""
    at: float
    where: Where
    place: int
    """How many nodes came before it."""
    branch: int
    rank: Rank = "main"
    side: bool = False
    model: str = ""
    tokens: int = 0
    label: str = ""


class ConversationBranch(NamedTuple):
    """One unbroken line of the conversation."""

    number: int
    kind: BranchKind
    base: str | None
    """The node it leaves from; None where it starts the conversation again."""
    start: str
    tip: str
    nodes: int
    current: bool
    """The path to the head leads through it."""


class _Line:
    """A branch as it grows."""

    __slots__ = ("base", "kind", "nodes", "start", "tip")

    def __init__(self, kind: BranchKind, base: str | None, start: str) -> None:
        self.kind = kind
        self.base = base
        self.start = start
        self.tip = start
        self.nodes = 0


class ConversationTree:
    """Nodes by id, each hung under a parent that came before it, so that no cycle can be."""

    def __init__(self, links: Iterable[Link] = ()) -> None:
        self.roots: list[str] = []
        self.orphans = 0
        """Roots whose parent the log names but does not hold."""
        self.repeated = 0
        """Records that bring an id a second time; they get one of their own."""
        self._nodes: dict[str, Node] = {}
        self._files: dict[str, list[str]] = {}
        self._hashes: dict[bytes, str] = {}
        self._lines: list[_Line] = []
        self._continued: set[str] = set()
        self._head: str | None = None
        self._begun = False
        for each in links:
            self.add(each)

    def __len__(self) -> int:
        return len(self._nodes)

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __contains__(self, name: object) -> bool:
        return name in self._nodes

    def __getitem__(self, name: str) -> Node:
        try:
            return self._nodes[name]
        except KeyError:
            raise StateError(f"the conversation has no record {name!r}") from None

    @property
    def head(self) -> Node | None:
        """The newest node of the main conversation, or the one navigated to since."""
        return self._nodes[self._head] if self._head is not None else None

    def add(self, link: Link) -> Node:
        """Hang one more record into the tree."""
        name, place = link.id, len(self._nodes)
        if name in self._nodes:
            self.repeated += 1
            name = f"{name}@{place}"
            while name in self._nodes:
                name += "@"
        parent = self._nodes.get(link.parent) if link.parent is not None else None
        orphan = parent is None and link.parent is not None
        branch = self._branch(link, name, parent, orphan)
        self._begun = self._begun or link.rank != "aside"
        line = self._lines[branch]
        line.tip, line.nodes = name, line.nodes + 1
        node = Node(
            name,
            parent.id if parent else None,
            link.kind,
            chained(parent.content_hash if parent else b"", link.digest),
            link.at,
            link.where,
            place,
            branch,
            link.rank,
            link.side,
            link.model,
            link.tokens,
        )
        if parent is None:
            self.roots.append(name)
            self.orphans += orphan
        elif link.rank == "main" and link.side == parent.side:
            self._continue(parent)
        self._nodes[name] = node
        self._files.setdefault(link.where.file, []).append(name)
        self._hashes.setdefault(node.content_hash, name)
        if link.labels in self._nodes:
            self._nodes[link.labels] = replace(self._nodes[link.labels], label=link.label)
        if self._head is None or (link.rank != "aside" and not link.side):
            self._head = name
        return node

    def _branch(self, link: Link, name: str, parent: Node | None, orphan: bool) -> int:
        """The number of the branch a new node stands on, begun where it begins one."""
        kind: BranchKind
        if link.side and not (parent and parent.side):
            kind = "sidechain"
        elif parent is None:
            kind = "rewind" if link.kind == "rewind" and self._lines else "orphan" if orphan else "trunk"
        elif link.rank == "main" and parent.id in self._continued:
            kind = "rewind" if link.kind in _SPOKEN else "fork"
        else:
            return parent.branch
        if parent is None and not self._begun and self._lines:
            first = self._lines[0]
            first.kind, first.start = kind, name
            return 0
        self._lines.append(_Line(kind, parent.id if parent else None, name))
        return len(self._lines) - 1

    def _continue(self, parent: Node) -> None:
        """Remember that the talk went on from a node, and from the turn it belongs to."""
        node: Node | None = parent
        while node is not None and node.id not in self._continued:
            self._continued.add(node.id)
            node = self._nodes.get(node.parent) if node.rank != "main" and node.parent else None

    def path(self, name: str | None = None) -> list[Node]:
        """From the root to a node; to the head where none is named."""
        if name is None and self._head is None:
            return []
        node: Node | None = self[name if name is not None else self._head or ""]
        found = []
        while node is not None:
            found.append(node)
            node = self._nodes[node.parent] if node.parent is not None else None
        return found[::-1]

    def navigate(self, name: str) -> list[Node]:
        """Make a node the head, and give the path to it."""
        found = self.path(name)
        self._head = name
        return found

    def branches(self) -> list[ConversationBranch]:
        """The branches in the order they were begun."""
        current = {node.branch for node in self.path()}
        return [
            ConversationBranch(
                number, line.kind, line.base, line.start, line.tip, line.nodes, number in current
            )
            for number, line in enumerate(self._lines)
        ]

    def find(self, content_hash: bytes | str) -> Node | None:
        """The node with a hash; of a hexadecimal one, a beginning that only one node has is enough."""
        if isinstance(content_hash, bytes):
            name = self._hashes.get(content_hash)
            return self._nodes[name] if name is not None else None
        wanted = content_hash.lower()
        found = [name for known, name in self._hashes.items() if known.hex().startswith(wanted)]
        return self._nodes[found[0]] if len(found) == 1 and wanted else None

    def verify(self, links: Iterable[Link]) -> Node | None:
        """The first node that its log, read again, does not hold as it was; a grown log is not an edit."""
        seen = dict.fromkeys(self._files, 0)
        for each in links:
            file = each.where.file
            place = seen.get(file, 0)
            known = self._files.get(file, ())
            if place >= len(known):
                continue
            seen[file] = place + 1
            node = self._nodes[known[place]]
            above = self._nodes[node.parent].content_hash if node.parent is not None else b""
            moved = (each.where.offset, each.where.entry) != (node.where.offset, node.where.entry)
            if moved or chained(above, each.digest) != node.content_hash:
                return node
        gone = [
            self._nodes[names[seen[file]]] for file, names in self._files.items() if seen[file] < len(names)
        ]
        return min(gone, key=lambda node: node.place, default=None)


def chained(above: bytes, digest: bytes) -> bytes:
    """A node's content hash from its parent's and its own digest."""
    return sha256(above + digest).digest()
