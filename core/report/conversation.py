"""The conversation as the log links it, its branches, and runs that start from them."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

from msgspec import DecodeError, Struct, msgpack, structs

from core.engine.percept import AXES
from core.errors import StateError
from core.events import MAIN, Where
from core.logs.links import SPOKEN, Link, LinkKind, Rank
from core.report.event_words import firing_words
from core.report.formatting import clock, count, moment, plain
from core.settings import Settings
from core.settings.layers import changed_values
from core.store.reading_cache import ReadingCache, reading_cache_path
from core.timeline.marks import Mark
from core.timeline.rerun import FIRINGS, Branch, Difference, Progress, pre_steer, sim
from core.timeline.timeline import SettingsChange, Timeline

# The main conversation; a sub-agent's; the person went back; a fork; the parent is not in the log.
BranchKind = Literal["trunk", "sidechain", "rewind", "fork", "orphan"]


class Node(Struct, frozen=True, gc=False):
    """One record of the log."""

    id: str
    parent: str | None
    kind: LinkKind
    content_hash: bytes  # SHA-256 of the parent's content hash and this record's digest.
    at: float
    where: Where
    place: int  # How many nodes came before it.
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
    base: str | None  # The node it leaves from; None where it starts the conversation again.
    start: str
    tip: str
    nodes: int = 0
    current: bool = False  # The path to the head leads through it.


_make = tuple.__new__  # Builds a named tuple without its Python-level constructor: one is made for every record.
_SHORT = 8  # Bytes of a hash that are kept from one reading to the next.
_KEPT = 50_000_000  # Bytes that the hashes of all logs may take.


class RecordChange(NamedTuple):
    """A record that was changed, or is missing, since the log was last read."""

    file: str
    place: int  # How many records of the log came before it.
    node: Node | None  # What is in its place now; None at the end of the log.

    def words(self) -> str:
        """The change in one line."""
        now = "is missing" if self.node is None else f"was changed or removed (now {plain(self.node.id, 40)})"
        log = plain(self.file.rpartition("/")[2], 60)
        return f"record {self.place + 1} of {log} {now} since it was last read"


class LogCheck(NamedTuple):
    """Compare a log with its last reading."""

    compared: int  # Records of the last reading; 0 if there was none, which says nothing about the log.
    change: RecordChange | None  # The first one that is not as it was.

    def words(self) -> str:
        """The result in one line."""
        if self.change is not None:
            return self.change.words()
        return "none changed since it was last read" if self.compared else "no earlier reading to compare it with"


def check_log(tree: ConversationTree, log: Path, cache: ReadingCache | None = None) -> LogCheck:
    """Compare a log with how it was last read; this reading is kept for the next check."""
    cache = cache or ReadingCache(reading_cache_path().with_name("records.db"), _KEPT)
    key = sha256(str(log.resolve()).encode("utf-8", "surrogatepass")).hexdigest()
    check = LogCheck(0, None)
    with suppress(DecodeError):
        last = cache.load([key]).get(key)
        rows = msgpack.decode(last, type=dict[bytes, bytes]) if last else {}
        change = tree.first_change({os.fsdecode(file): hashes for file, hashes in rows.items()})
        check = LogCheck(sum(map(len, rows.values())) // _SHORT, change)
    cache.save({key: msgpack.encode({os.fsencode(file): hashes for file, hashes in tree.hashes().items()})})
    return check


class ConversationTree:
    """Nodes by id, each hung under a parent that came before it, so that no cycle can be."""

    def __init__(self, links: Iterable[Link] = ()) -> None:
        self.roots: list[str] = []
        self.orphans = 0  # Roots whose parent the log names but does not hold.
        self.repeated = 0  # Records that bring an id a second time; they get one of their own.
        self._nodes: dict[str, Node] = {}
        self._files: dict[str, list[str]] = {}
        self._hashes: dict[bytes, str] = {}
        self._branches: list[ConversationBranch] = []
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
        """The newest node of the main conversation."""
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
        number, leaf_kind, base, start, _, nodes, current = self._branches[branch]
        self._branches[branch] = _make(ConversationBranch, (number, leaf_kind, base, start, name, nodes + 1, current))
        parent_id, above = (parent.id, parent.content_hash) if parent else (None, b"")
        content_hash = chained(above, link.digest) if link.digest else b""
        about = link.rank, link.side, link.model, link.tokens
        node = Node(name, parent_id, link.kind, content_hash, link.at, link.where, place, branch, *about)
        if parent is None:
            self.roots.append(name)
            self.orphans += orphan
        elif link.rank == "main" and link.side == parent.side:
            self._continue(parent)
        self._nodes[name] = node
        self._files.setdefault(link.where.file, []).append(name)
        if node.content_hash:
            self._hashes.setdefault(node.content_hash, name)
        if link.labels in self._nodes:
            self._nodes[link.labels] = structs.replace(self._nodes[link.labels], label=link.label)
        if self._head is None or (link.rank != "aside" and not link.side):
            self._head = name
        return node

    def _branch(self, link: Link, name: str, parent: Node | None, orphan: bool) -> int:
        """Return the number of a new node's branch, and begin a branch if needed."""
        kind: BranchKind
        if link.side and not (parent and parent.side):
            kind = "sidechain"
        elif parent is None:
            kind = "rewind" if link.kind == "rewind" and self._branches else "orphan" if orphan else "trunk"
        elif link.rank == "main" and parent.id in self._continued:
            kind = "rewind" if link.kind in SPOKEN else "fork"
        else:
            return parent.branch
        if parent is None and not self._begun and self._branches:
            self._branches[0] = self._branches[0]._replace(kind=kind, start=name)
            return 0
        number = len(self._branches)
        self._branches.append(ConversationBranch(number, kind, parent.id if parent else None, name, name))
        return number

    def _continue(self, parent: Node) -> None:
        """Remember that the talk went on from a node, and from the turn it belongs to."""
        node: Node | None = parent
        while node is not None and node.id not in self._continued:
            self._continued.add(node.id)
            node = self._nodes.get(node.parent) if node.rank != "main" and node.parent else None

    def path(self, name: str | None = None) -> list[Node]:
        """Return the records from the root to a node; to the head if none is named."""
        if name is None and self._head is None:
            return []
        node: Node | None = self[name if name is not None else self._head or ""]
        nodes = []
        while node is not None:
            nodes.append(node)
            node = self._nodes[node.parent] if node.parent is not None else None
        return nodes[::-1]

    def branches(self) -> list[ConversationBranch]:
        """The branches in the order they were begun."""
        current = {node.branch for node in self.path()}
        return [branch._replace(current=branch.number in current) for branch in self._branches]

    def find(self, content_hash: bytes | str) -> Node | None:
        """The node with a hash; of a hexadecimal one, a beginning that only one node has is enough."""
        if isinstance(content_hash, bytes):
            name = self._hashes.get(content_hash)
            return self._nodes[name] if name is not None else None
        prefix = content_hash.lower()
        matches = [name for digest, name in self._hashes.items() if digest.hex().startswith(prefix)]
        return self._nodes[matches[0]] if len(matches) == 1 and prefix else None

    def resolve(self, words: str) -> Node:
        """Return the record with a number, an id or the beginning of a hash; raise if there is none."""
        number = int(words) if words.isascii() and words.isdigit() else 0
        if 0 < number <= len(self._nodes) and words not in self._nodes:
            return next(islice(self._nodes.values(), number - 1, None))
        return self._nodes.get(words) or self.find(words) or self[words]

    def hashes(self) -> dict[str, bytes]:
        """A short hash of every record's content and place, by log and in its order."""
        return {
            file: b"".join([_short_hash(self._nodes[name]) for name in names]) for file, names in self._files.items()
        }

    def first_change(self, earlier: Mapping[str, bytes]) -> RecordChange | None:
        """The first record that is not as an earlier reading found it; a log that grew is not changed."""
        for file, hashes in earlier.items():
            names = self._files.get(file, ())
            for place in range(len(hashes) // _SHORT):
                node = self._nodes[names[place]] if place < len(names) else None
                if node is None or _short_hash(node) != hashes[place * _SHORT : (place + 1) * _SHORT]:
                    return RecordChange(file, place, node)
        return None


def _short_hash(node: Node) -> bytes:
    place = f"{node.where.offset} {node.where.entry}".encode()
    return sha256(node.content_hash + place).digest()[:_SHORT]


def chained(above: bytes, digest: bytes) -> bytes:
    """A node's content hash from its parent's and its own digest."""
    return sha256(above + digest).digest()


_NAMED = 4  # Settings of one change that are named.
_FOUND = 8  # Findings of a dream that are named.
_SHARE = 100.0  # Events that rates are given for.


class Foreseen(NamedTuple):
    """How often something fires in a hundred events: before, as predicted, and since."""

    name: str
    before: float
    foreseen: float
    since: float

    @property
    def right(self) -> bool:
        """Whether the result is nearer to the prediction than to the value before."""
        return abs(self.since - self.foreseen) <= abs(self.since - self.before)


class AppliedChange(NamedTuple):
    """Settings that were applied in a session, and their effect."""

    after: int
    at: float
    settings: tuple[str, ...]
    rows: tuple[Foreseen, ...]
    events: int  # Since then, until the next change or the end.


class DreamFinding(NamedTuple):
    """Something that fires more or less often in a dream than it did."""

    name: str
    dreamt: float
    recorded: float
    strength: float  # Share of the larger rate by which both differ.


def applied_changes(timeline: Timeline, progress: Progress | None = None) -> list[AppliedChange]:
    """Run each change of settings over what was known then, and compare with what came afterwards."""
    changes = [change for change in timeline.changes[1:] if not change.news]
    ends = [*(change.after for change in changes[1:]), len(timeline)][: len(changes)]
    applied = []
    for change, end in zip(changes, ends, strict=True):
        branch = sim(timeline, change.settings, until=change.after)
        if not branch.grow(progress):
            branch.abort("it was interrupted")
            break
        before = _rates(timeline.marks.between(0, change.after), change.after)
        foreseen = _rates(branch.run.marks, change.after)
        since = _rates(timeline.marks.between(change.after, end), end - change.after)
        names = sorted(before.keys() | foreseen.keys())
        changed = [name for name in names if before[name] != foreseen[name]]
        rows = tuple(Foreseen(name, before[name], foreseen[name], since[name]) for name in changed)
        settings = _changed(timeline.settings_at(max(0, change.after - 1)), change)
        applied.append(AppliedChange(change.after, timeline.time_of(change.after), settings, rows, end - change.after))
    return applied


def findings(branch: Branch, acceptance: float) -> tuple[list[DreamFinding], list[DreamFinding]]:
    """Split a dream's findings into those certain enough to be used, and the others."""
    timeline = branch.timeline
    dreamt = _rates((mark for mark in branch.run.marks if mark.place >= branch.after), branch.cost)
    recorded = _rates(timeline.marks.between(0, len(timeline)), len(timeline))
    lines = []
    for name in sorted(dreamt.keys() | recorded.keys()):
        one, other = dreamt[name], recorded[name]
        if one != other:
            lines.append(DreamFinding(name, one, other, abs(one - other) / max(one, other)))
    lines.sort(key=lambda each: (-each.strength, each.name))
    sure = [each for each in lines if each.strength >= acceptance]
    return sure, [each for each in lines if each.strength < acceptance]


def applied_lines(changes: Iterable[AppliedChange], start: float) -> list[str]:
    """Say what settings applied in the session were expected to change, and what changed."""
    lines: list[str] = []
    for change in changes:
        what = ", ".join(change.settings[:_NAMED]) or "other settings"
        more = f" and {len(change.settings) - _NAMED} more" if len(change.settings) > _NAMED else ""
        lines.append(f"{clock(change.at - start)}  {what}{more}; {count(change.events, 'event')} since")
        for row in change.rows:
            verdict = "too early" if not change.events else "as predicted" if row.right else "not as predicted"
            rates = f"{row.before:.1f} per 100 events before, {row.foreseen:.1f} predicted, {row.since:.1f} observed"
            lines.append(f"  {firing_words(row.name)}: {rates}: {verdict}")
        if not change.rows:
            lines.append("  nothing was expected to fire differently")
    return lines or ["no settings were applied in this session; S on the bench applies them"]


def dream_lines(branch: Branch, acceptance: float) -> list[str]:
    """Say what a dream recombined, and what it found."""
    cost = branch.cost
    if not branch.events:
        return ["there is no past work to recombine yet"]
    sure, unsure = findings(branch, acceptance)
    lines = [f"{branch.hypothesis}: {count(cost, 'event')} of past work in another order"]
    lines += [_finding_line(each) for each in sure[:_FOUND]]
    if len(sure) > _FOUND:
        lines.append(f"and {count(len(sure) - _FOUND, 'smaller finding')}")
    if not sure:
        lines.append("nothing would fire differently in that order")
    if unsure:
        few = count(len(unsure), "finding")
        lines.append(f"{few} below the threshold for proposals ({acceptance:.2f})")
    return [*lines, *limit_lines(cost, len(branch.events))]


def steer_lines(branch: Branch) -> list[str]:
    """Say how the person's sentence would have changed the mind, if the agent had worked on as it did."""
    difference = branch.difference()
    start = branch.timeline.events[0].at if len(branch.timeline) else 0.0
    events = count(branch.cost, "event")
    lines = [f"“{plain(branch.hypothesis, 80)}” before event {branch.after + 1}, {events} run"]
    lines += ["nothing would fire differently"] if difference.equal else difference_lines(difference, start)
    return [*lines, *limit_lines(branch.cost, len(branch.events))]


def limit_lines(done: int, events: int) -> list[str]:
    """Say that a run was stopped at the limit of a branch, if it was."""
    return [f"stopped at the limit of {done} events; timeline.branch.most allows more"] if done < events else []


def difference_lines(difference: Difference, start: float) -> list[str]:
    """Each firing that is gained, lost or moved."""
    lines = [f"+ {_mark(mark, start)}" for mark in difference.gained]
    lines += [f"- {_mark(mark, start)}" for mark in difference.lost]
    lines += [f"~ {_mark(pair.actual, start)} -> {clock(pair.other.at - start)}" for pair in difference.moved]
    return lines


def conversation_lines(tree: ConversationTree, check: LogCheck) -> list[str]:
    """The branches of a conversation, where each leaves, and whether the log is as it was last read."""
    head = tree.head
    if head is None:
        return ["the log has no conversation links"]
    digest = head.content_hash.hex()[:16]
    lines = [f"{count(len(tree), 'record')}, {check.words()}; the last one's fingerprint is {digest}"]
    for branch in tree.branches():
        first, last = tree[branch.start], tree[branch.tip]
        base = f", branches off at record {tree[branch.base].place + 1}" if branch.base is not None else ""
        here = " ◀ here" if branch.current else ""
        label = f"  {plain(first.label, 40)}" if first.label else ""
        when = f"{moment(first.at)} to {moment(last.at)}"
        lines.append(f"{_KINDS[branch.kind]}: {count(branch.nodes, 'record')}, {when}{base}{here}{label}")
    return lines


_KINDS: Mapping[str, str] = {
    "trunk": "conversation",
    "sidechain": "side chain of a sub-agent",
    "rewind": "you went back",
    "fork": "fork",
    "orphan": "resumed from elsewhere",
}


def _changed(before: Settings, change: SettingsChange) -> tuple[str, ...]:
    return tuple(f"{name} {value}" for name, value in changed_values(before, change.settings).items())


def _rates(marks: Iterable[Mark], events: int) -> defaultdict[str, float]:
    counts = Counter(mark.name for mark in marks if events and mark.kind in FIRINGS)
    return defaultdict(float, {name: _SHARE * number / events for name, number in counts.items()})


def _finding_line(each: DreamFinding) -> str:
    more = "more" if each.dreamt > each.recorded else "less"
    return f"{firing_words(each.name)} {more} often: {each.dreamt:.1f} per 100 events, recorded: {each.recorded:.1f}"


def _mark(mark: Mark, start: float) -> str:
    agent = "" if mark.agent == MAIN else f"  {plain(mark.agent, 24)}"
    return f"{clock(mark.at - start)}  {firing_words(mark.name)}{agent}"


_MOVED = 0.01  # Least change of an axis that is told.


def steer_preview(timeline: Timeline, words: str) -> tuple[str, ...]:
    """Return what would change at the recording's end if the agent took the sentence as a prompt."""
    if not len(timeline):
        return ()
    branch = pre_steer(timeline, words, len(timeline))
    branch.grow()
    before = timeline.society.engine(MAIN).frame()
    after = branch.run.society.engine(MAIN).frame()
    axes = zip(AXES, before.receptor.axes, after.receptor.axes, strict=True)
    moved = ((name, old.value, new.value) for name, old, new in axes if abs(new.value - old.value) >= _MOVED)
    lines = [f"{name} {old:.2f} → {new:.2f}" for name, old, new in moved]
    if before.story.state != after.story.state:
        lines.append(f"state {before.story.state} → {after.story.state}".replace("_", " "))
    if before.governor.episode.number != after.governor.episode.number:
        lines.append("a new episode of the governor begins")
    if before.governor.state != after.governor.state:
        lines.append(f"governor {before.governor.state.lower()} → {after.governor.state.lower()}")
    fired = [firing_words(mark.name) for mark in branch.difference().gained if mark.kind != "prompt"]
    if fired:
        lines.append(f"would fire: {', '.join(dict.fromkeys(fired))}")
    return tuple(lines)
