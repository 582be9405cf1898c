"""What a mark says, and all of them as a recording keeps them."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

from core.timeline.packed_list import PackedList

MarkKind = Literal[
    "prompt",
    "signal",
    "state",
    "regime",
    "halt",
    "compaction",
    "shift",
    "quarantine",
    "dream",
    "agent",
    "advice",
    "method",
    "background",
]
MARK_KINDS: tuple[MarkKind, ...] = get_args(MarkKind)


class Mark(NamedTuple):
    """Something that happened with one event."""

    place: int
    """The event's place in the recording, from 0."""
    at: float
    agent: str
    kind: MarkKind
    name: str
    weight: float = 0.0
    """How strong it was, where that can be said."""


class RecordedMarks(PackedList[Mark], kind=Mark, chunk=128, fresh=4, looked_at=512):
    """Marks in the order they came."""

    __slots__ = ()
