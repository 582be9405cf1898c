"""Named moments one can return to, each checked before it is restored."""

from __future__ import annotations

import cbor2
from blake3 import blake3
from msgspec import Struct

from core.engine.society import Society
from core.errors import StateError, StoreError
from core.timeline.snapshot import encode
from core.timeline.timeline import Timeline

_MISFITS = (AttributeError, LookupError, TypeError, ValueError)
"""What loading a state of another shape runs into."""


class Checkpoint(Struct, frozen=True):
    """Everyone's state after so many events, under a name."""

    name: str
    created_at: float
    """Epoch seconds, as handed in; no part of the hash."""
    place: int
    """Events before it."""
    content_hash: str
    """blake3 of `state`, in hexadecimal."""
    state: bytes
    """Canonical CBOR of the society's dump."""

    @property
    def sound(self) -> bool:
        """Whether the state still is what was saved."""
        return blake3(self.state).hexdigest() == self.content_hash


def state_hash(society: Society) -> str:
    """By which a society's state is known; equal states have equal ones."""
    return blake3(encode(society.dump())).hexdigest()


def take_checkpoint(timeline: Timeline, name: str, created_at: float, place: int | None = None) -> Checkpoint:
    """A checkpoint of a place in the recording, of its live edge where none is given."""
    after = len(timeline) if place is None else max(0, min(place, len(timeline)))
    return checkpoint_of(timeline.society_at(after), name, created_at, after)


def checkpoint_of(society: Society, name: str, created_at: float, place: int) -> Checkpoint:
    """A checkpoint of minds that have seen so many events."""
    state = encode(society.dump())
    return Checkpoint(name, created_at, place, blake3(state).hexdigest(), state)


def agrees(timeline: Timeline, place: int, content_hash: str) -> bool:
    """Whether a place of the recording still has the state it had when its hash was noted."""
    return 0 <= place <= len(timeline) and state_hash(timeline.society_at(place)) == content_hash


def restored(checkpoint: Checkpoint, timeline: Timeline) -> Society:
    """Minds of one's own as they were at a checkpoint, under the settings that held there."""
    if not checkpoint.sound:
        raise StoreError(f"checkpoint {checkpoint.name!r} is damaged: its content has another hash")
    society = timeline.branch_point(checkpoint.place)
    try:
        society.load(cbor2.loads(checkpoint.state))
    except (StateError, cbor2.CBORDecodeError, *_MISFITS) as error:
        raise StoreError(f"checkpoint {checkpoint.name!r} does not fit this nooscope: {error}") from error
    return society
