"""An append-only chain of every change of affect, each entry bound to the one before by its hash."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from struct import Struct as Layout
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from blake3 import blake3

from core.engine.affect.fields import FIELDS, OBSERVED, FieldName, Vector
from core.engine.state import Stateful, tuple_queue
from core.engine.values import Value
from core.settings.affect import TRIGGERS, Trigger

Cut = Literal["trigger", "authority", "rate", "floor", "ceiling", "swing", "contagion", "spiral"]
# What held a change back: refused trigger or authority, a limit, an envelope's edge, damping.
CUTS: tuple[Cut, ...] = get_args(Cut)
TRIGGER, AUTHORITY, RATE, FLOOR, CEILING, SWING, CONTAGION, SPIRAL = (1 << bit for bit in range(8))

Act = Literal["observed", "inherited", "bequeathed", "returned", "reported", "exposed", "resumed"]
# What an entry records; bequeathed and reported are the giving sides, and change nothing.
ACTS: tuple[Act, ...] = get_args(Act)
OBSERVED_ACT, INHERITED, BEQUEATHED, RETURNED, REPORTED, EXPOSED, RESUMED = range(7)

HASH = 32
NO_PARTNER = bytes(HASH)
# last hash, partner's head, index, at, now, act, observed bits, intensities, before, after, noise, cuts.
_LAYOUT = Layout("<32s32sQddBH6d7d7d7d7B")

Intensities: TypeAlias = Sequence[float]
NO_INTENSITIES = (0.0,) * OBSERVED
NO_NOISE: Vector = (0.0,) * 7


class LineageEntry(NamedTuple):
    """One link as it is stored."""

    payload: bytes
    digest: bytes


class FieldChange(Value, frozen=True):
    """One field's part in an entry."""

    field: FieldName
    before: float
    after: float
    noise: float
    cuts: tuple[Cut, ...]


class LineageReading(Value, frozen=True):
    """One link as a person reads it."""

    index: int
    at: float
    now: float
    act: Act
    source: str  # The other agent, where there is one.
    observations: tuple[tuple[Trigger, float], ...]
    changes: tuple[FieldChange, ...]  # Only fields that moved or were held back.
    before_digest: str
    digest: str
    partner: str  # The other agent's head at that moment; empty where there is none.


class Lineage(Stateful):
    """The chain's head, its length, and its newest entries.

    The head and the count are the state that must never be lost; only the newest entries stay in memory, and
    the hash of the last one dropped lets verification start there. Who wants all of them keeps what `append`
    returns.
    """

    STATE = ("anchor", "head", "count", tuple_queue("_entries", LineageEntry))

    def __init__(self, size: int, genesis: bytes = NO_PARTNER) -> None:
        self._kept = size
        self._entries: deque[LineageEntry] = deque()
        self.begin(genesis)

    def begin(self, genesis: bytes) -> None:
        """Start a new chain from that hash."""
        self._entries.clear()
        self.anchor = genesis
        self.head = genesis
        self.count = 0

    def append(
        self,
        at: float,
        now: float,
        act: int,
        observations: int,
        intensities: Intensities,
        before: Sequence[float],
        after: Sequence[float],
        cuts: Sequence[int],
        noise: Sequence[float] = NO_NOISE,
        source: str = "",
        partner: bytes = NO_PARTNER,
    ) -> LineageEntry:
        """Add one link."""
        payload = _LAYOUT.pack(
            self.head, partner, self.count, at, now, act, observations, *intensities, *before, *after, *noise, *cuts
        )
        if source:
            payload += source.encode("utf-8", "surrogatepass")
        head = self.head = blake3(payload).digest()
        entry: LineageEntry = tuple.__new__(LineageEntry, (payload, head))
        self.count += 1
        entries = self._entries
        entries.append(entry)
        if len(entries) > self._kept:
            self.anchor = entries.popleft().digest
        return entry

    @property
    def entries(self) -> tuple[LineageEntry, ...]:
        """The newest links, oldest first."""
        return tuple(self._entries)

    def verify(self) -> int | None:
        """The index in `entries` of the first altered link, or None."""
        return verify(self.entries, self.anchor, self.head)

    def restored(self) -> None:
        """Keep no more than these settings let it."""
        while len(self._entries) > self._kept:
            self.anchor = self._entries.popleft().digest


def verify(entries: Sequence[LineageEntry], anchor: bytes, head: bytes | None = None) -> int | None:
    """Where a run of links that follows `anchor` (and ends in `head`) was first altered, or None.

    An entry rewritten with its hash is given away by its neighbours, which are whole but name another.
    """
    before = anchor
    for index, entry in enumerate(entries):
        whole = len(entry.payload) >= _LAYOUT.size and blake3(entry.payload).digest() == entry.digest
        if not whole:
            return index
        if entry.payload[:HASH] != before:
            follower = entries[index + 1].payload[:HASH] if index + 1 < len(entries) else head
            alone = follower is None or follower == entry.digest
            return max(0, index - 1) if alone else index
        before = entry.digest
    if head is not None and before != head:
        return max(0, len(entries) - 1)
    return None


def describe_entry(entry: LineageEntry) -> LineageReading:
    """An entry in words and figures."""
    values: tuple[Any, ...] = _LAYOUT.unpack_from(entry.payload)
    before_digest, partner, index, at, now, act, observations = values[:7]
    intensities, before, after, noise, cuts = (values[7:13], values[13:20], values[20:27], values[27:34], values[34:])
    return LineageReading(
        index=index,
        at=at,
        now=now,
        act=ACTS[act],
        source=entry.payload[_LAYOUT.size :].decode("utf-8", "surrogatepass"),
        observations=tuple((TRIGGERS[bit], intensities[bit]) for bit in range(OBSERVED) if observations >> bit & 1),
        changes=tuple(
            FieldChange(
                name,
                before[at_],
                after[at_],
                noise[at_],
                tuple(cut for bit, cut in enumerate(CUTS) if cuts[at_] >> bit & 1),
            )
            for at_, name in enumerate(FIELDS)
            if cuts[at_] or before[at_] != after[at_]
        ),
        before_digest=before_digest.hex(),
        digest=entry.digest.hex(),
        partner="" if partner == NO_PARTNER else partner.hex(),
    )
