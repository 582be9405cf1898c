"""Named moments of a session with the whole state there, saved on disk beside its bookmarks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

import cbor2
import msgspec
from blake3 import blake3
from msgspec import Struct

from core.engine.response.actions import CheckpointRequest
from core.engine.society import Society
from core.errors import StateError, StoreError
from core.extension.registry import program_registry
from core.store import atomic
from core.store.bookmarks import Bookmark, Bookmarks
from core.timeline.keyframes import encode
from core.timeline.timeline import Timeline

_MISFITS = (AttributeError, LookupError, TypeError, ValueError)  # Errors of loading a state of another shape.


class Checkpoint(Struct, frozen=True):
    """Every agent's state after a number of events, with a name."""

    name: str
    created_at: float  # Epoch seconds; not part of the hash.
    place: int  # Events before it.
    content_hash: str  # blake3 of `state`, in hexadecimal.
    state: bytes  # Canonical CBOR of the society's dump.

    @property
    def sound(self) -> bool:
        """Whether the state still is what was saved."""
        return blake3(self.state).hexdigest() == self.content_hash


def state_hash(society: Society) -> str:
    """By which a society's state is known; equal states have equal ones."""
    return blake3(encode(society.dump())).hexdigest()


def take_checkpoint(timeline: Timeline, name: str, created_at: float, place: int | None = None) -> Checkpoint:
    """Return a checkpoint of a place in the recording, by default of its live edge."""
    after = len(timeline) if place is None else max(0, min(place, len(timeline)))
    return checkpoint_of(timeline.society_at(after), name, created_at, after)


def checkpoint_of(society: Society, name: str, created_at: float, place: int) -> Checkpoint:
    """Make a checkpoint of minds after `place` events."""
    state = encode(society.dump())
    return Checkpoint(name, created_at, place, blake3(state).hexdigest(), state)


def has_state(timeline: Timeline, place: int, content_hash: str) -> bool:
    """Whether a place of the recording still has the state with this hash."""
    return 0 <= place <= len(timeline) and state_hash(timeline.society_at(place)) == content_hash


def restore_checkpoint(checkpoint: Checkpoint, timeline: Timeline) -> Society:
    """Return the society of a checkpoint, under the settings in force there."""
    if not checkpoint.sound:
        raise StoreError(f"checkpoint {checkpoint.name!r} is damaged: its content has another hash")
    society = timeline.branch_point(checkpoint.place)
    try:
        society.load(cbor2.loads(checkpoint.state))
    except (StateError, cbor2.CBORDecodeError, *_MISFITS) as error:
        raise StoreError(f"checkpoint {checkpoint.name!r} does not fit this version of nooscope: {error}") from error
    return society


SCHEMA = 1
_FOLDER = "checkpoints"
_SUFFIX = ".checkpoint"

# The recording at a bookmark: the saved state, no saved state, another state, or a shorter recording.
Standing = Literal["same", "unknown", "differs", "gone"]


class _Kept(msgspec.Struct, frozen=True, array_like=True):
    version: int
    number: int  # Its number among the saved ones; the lowest is deleted first.
    checkpoint: Checkpoint
    automatic: bool = False  # A method requested it, not the person.


class Return(NamedTuple):
    """The result of returning to a bookmark."""

    bookmark: Bookmark
    standing: Standing
    saved: Society | None  # The saved society; None if its state is no longer stored.

    @property
    def words(self) -> str:
        """A sentence that compares the state there with the saved one."""
        match self.standing:
            case "same":
                return "the state there is the one saved"
            case "unknown":
                return "no state was saved with it"
            case "gone":
                return "the recording no longer reaches this far"
        saved = "the saved one is available" if self.saved else "the saved one was deleted"
        return f"the state there differs from the saved one (the log or the settings changed); {saved}"


class Checkpoints:
    """One session's bookmarks, and the states of the newest of them."""

    def __init__(self, bookmarks: Bookmarks, most: int) -> None:
        self.bookmarks = bookmarks
        self._folder = bookmarks.folder / _FOLDER / bookmarks.key
        self._most = max(1, most)

    def make(self, timeline: Timeline, place: int, name: str, note: str = "", *, created: float) -> Bookmark:
        """Save a place under a name with its note, state and hash; one of the same name is replaced."""
        checkpoint = take_checkpoint(timeline, name, created, place)
        at = timeline.time_of(checkpoint.place)
        program_registry().call("on_checkpoint", CheckpointRequest(at, name, "", "", "person"))
        self.save(checkpoint)
        return self._put(checkpoint, at, note)

    def keep_automatic(self, checkpoint: Checkpoint, at: float, note: str = "") -> bool:
        """Save a checkpoint for a method; return False if the person's own take all the room."""
        if not self.save(checkpoint, automatic=True):
            return False
        self._put(checkpoint, at, note)
        return True

    def _put(self, checkpoint: Checkpoint, at: float, note: str) -> Bookmark:
        bookmark = Bookmark(checkpoint.name, checkpoint.place, at, checkpoint.created_at, note, checkpoint.content_hash)
        self.bookmarks.put(bookmark)
        return bookmark

    def save(self, checkpoint: Checkpoint, *, automatic: bool = False) -> bool:
        """Store a state, delete states beyond the limit, and return whether it is stored.

        Automatic ones are deleted first, with their bookmarks, then the person's own; the oldest first.
        """
        stored = list(self._all())
        old_number = next((one.number for one in stored if one.checkpoint.name == checkpoint.name), None)
        number = old_number if old_number is not None else max((one.number for one in stored), default=0) + 1
        new = _Kept(SCHEMA, number, checkpoint, automatic)
        stored = [one for one in stored if one.checkpoint.name != checkpoint.name] + [new]
        stored.sort(key=lambda one: (not one.automatic, one is new, one.number, one.checkpoint.name))
        leaving = stored[: max(0, len(stored) - self._most)]
        if new in leaving:
            return False
        try:
            atomic.replace(self._path(checkpoint.name), msgspec.msgpack.encode(new))
        except OSError as error:
            raise StoreError(f"the checkpoints in {self._folder} cannot be written ({error.strerror})") from error
        for one in leaving:
            if one.automatic:
                self.remove(one.checkpoint.name)
            else:
                self._unlink(one.checkpoint.name)
        return True

    def remove(self, name: str) -> bool:
        """Delete a bookmark and its state; return False if there is none of that name."""
        existed = self.bookmarks.remove(name)
        self._unlink(name)
        return existed

    def _unlink(self, name: str) -> None:
        try:
            self._path(name).unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"{self._path(name)} cannot be removed: {error}") from error

    def saved_names(self) -> tuple[str, ...]:
        """Return the names of the stored states, oldest first."""
        rows = sorted(self._all(), key=lambda one: (one.number, one.checkpoint.name))
        return tuple(one.checkpoint.name for one in rows)

    def back(self, timeline: Timeline, name: str) -> Return:
        """Check the state at a bookmark against the one saved; a damaged checkpoint is refused."""
        bookmark = next((one for one in self.bookmarks.read() if one.name == name), None)
        if bookmark is None:
            raise StoreError(f"no bookmark is named {name!r}")
        if bookmark.place > len(timeline):
            return Return(bookmark, "gone", None)
        if not bookmark.checkpoint:
            return Return(bookmark, "unknown", None)
        checkpoint = self._read(self._path(name))
        if checkpoint is not None and checkpoint.checkpoint.content_hash != bookmark.checkpoint:
            checkpoint = None
        saved = None if checkpoint is None else restore_checkpoint(checkpoint.checkpoint, timeline)
        same = has_state(timeline, bookmark.place, bookmark.checkpoint)
        return Return(bookmark, "same" if same else "differs", saved)

    def _path(self, name: str) -> Path:
        key = blake3(name.encode("utf-8", "surrogatepass")).hexdigest(length=16)
        return self._folder / f"{key}{_SUFFIX}"

    def _all(self) -> Iterator[_Kept]:
        for path in sorted(self._folder.glob(f"*{_SUFFIX}")):
            try:
                stored = self._read(path)
            except StoreError as error:
                self.bookmarks.notices.append(str(error))
                continue
            if stored is not None:
                yield stored

    def _read(self, path: Path) -> _Kept | None:
        try:
            data = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise StoreError(f"{path} cannot be read: {error}") from error
        try:
            stored = msgspec.msgpack.decode(data, type=_Kept)
        except msgspec.DecodeError as error:
            raise StoreError(f"{path} is damaged and was not changed: {error}") from error
        if stored.version > SCHEMA:
            raise StoreError(f"{path} was made by a newer nooscope; update nooscope or move the file away")
        return stored
