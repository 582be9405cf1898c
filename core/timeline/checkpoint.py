"""Named moments one can return to, each checked before it is restored."""

from __future__ import annotations

from collections.abc import Iterator

import cbor2
from blake3 import blake3
from msgspec import Struct

from core.errors import StateError, StoreError
from core.society import Society
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
    state = encode(timeline.society_at(after).dump())
    return Checkpoint(name, created_at, after, blake3(state).hexdigest(), state)


def agrees(timeline: Timeline, place: int, content_hash: str) -> bool:
    """Whether a place of the recording still has the state it had when its hash was noted."""
    return 0 <= place <= len(timeline) and state_hash(timeline.society_at(place)) == content_hash


class CheckpointRegistry:
    """The checkpoints kept; one of the same name is replaced where it stands, the first saved go first."""

    __slots__ = ("_kept", "_saved")

    def __init__(self, kept: int = 16) -> None:
        self._kept = max(1, kept)
        self._saved: dict[str, Checkpoint] = {}

    def __len__(self) -> int:
        return len(self._saved)

    def __iter__(self) -> Iterator[Checkpoint]:
        return iter(self._saved.values())

    def __contains__(self, name: object) -> bool:
        return name in self._saved

    def save(self, checkpoint: Checkpoint) -> list[Checkpoint]:
        """Keep a checkpoint; those given up for it are handed back."""
        self._saved[checkpoint.name] = checkpoint
        gone = []
        while len(self._saved) > self._kept:
            gone.append(self._saved.pop(next(iter(self._saved))))
        return gone

    def remove(self, name: str) -> Checkpoint | None:
        """Give a checkpoint up."""
        return self._saved.pop(name, None)

    def get(self, name: str) -> Checkpoint:
        """A checkpoint by its name; a damaged one is refused."""
        checkpoint = self._saved.get(name)
        if checkpoint is None:
            raise StoreError(f"there is no checkpoint {name!r}")
        if not checkpoint.sound:
            raise StoreError(f"checkpoint {name!r} is damaged: its content has another hash")
        return checkpoint

    def restore(self, timeline: Timeline, name: str) -> Society:
        """Minds of one's own as they were at a checkpoint, under the settings that held there."""
        checkpoint = self.get(name)
        society = timeline.branch_point(checkpoint.place)
        try:
            society.load(cbor2.loads(checkpoint.state))
        except (StateError, cbor2.CBORDecodeError, *_MISFITS) as error:
            raise StoreError(f"checkpoint {name!r} does not fit this nooscope: {error}") from error
        return society
