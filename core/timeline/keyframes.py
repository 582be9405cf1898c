"""Snapshots of a run, far enough apart to be small and near enough to seek from."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from core.errors import StoreError
from core.timeline.snapshot import (
    Segments,
    StateChange,
    apply,
    changed_bytes,
    join,
    pack,
    packed_identity,
    split_state,
    state_changes,
    state_identity,
    unpack,
)

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_LEVEL = 3
_RUN = 16
"""Whole states of which the first stands alone; each other leans on one before it, a power of two away, so
that none is more than four away from the first. Leaning takes off two thirds of the size."""

_SMALL = 1024
"""Bytes of a state that is not worth leaning on."""


class KeyFrame(NamedTuple):
    """One kept state: whole (I), or what changed since the one before (P)."""

    after: int
    """How many events had been run."""
    kind: Literal["I", "P"]
    id: str
    packed: bytes
    leans: int = -1
    """A whole one may be packed against an earlier one, named by its `after`; -1 stands alone."""


class KeyFrames:
    """Frames by the number of events before them."""

    __slots__ = (
        "_frames",
        "_indexes",
        "_last",
        "_last_regime",
        "_number",
        "_path",
        "_since",
        "_spacing",
        "_tip",
        "bytes",
    )

    def __init__(self, *, p_frames: int = 10, i_share: float = 0.3) -> None:
        self._spacing = (p_frames, i_share)
        self._frames: list[KeyFrame] = []
        self._indexes: list[int] = []
        self._last: Segments = {}
        self._last_regime = ""
        self._since = 0
        self._tip = -1
        self._path: list[tuple[int, zstd.ZstdDict]] = []
        """The states the last whole one leans on, and itself."""
        self._number = 0
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._frames)

    def __iter__(self) -> Iterator[KeyFrame]:
        return iter(self._frames)

    def add(self, index: int, state: Mapping[str, Any], regime: str = "", *, whole: bool = False) -> KeyFrame:
        """Keep the state after `index` events; they come in rising order."""
        segments = split_state(state)
        p_frames, share = self._spacing
        full = (
            whole
            or not self._frames
            or self._since >= p_frames
            or regime != self._last_regime
            or changed_bytes(self._last, segments) >= share * sum(map(len, segments.values()))
        )
        payload = pack(segments if full else [list(one) for one in state_changes(self._last, segments)])
        if full:
            packed, leans = self._pack(index, payload)
            frame = KeyFrame(index, "I", packed_identity(payload), packed, leans)
        else:
            frame = KeyFrame(index, "P", state_identity(segments), zstd.compress(payload, _LEVEL))
        self._frames.append(frame)
        self._indexes.append(index)
        self._last, self._last_regime, self._tip = segments, regime, index
        self._since = 0 if full else self._since + 1
        self.bytes += len(frame.packed)
        return frame

    def _pack(self, index: int, payload: bytes) -> tuple[bytes, int]:
        if len(payload) < _SMALL:
            return zstd.compress(payload, _LEVEL), -1
        number = self._number + 1 if self._path else 0
        self._number = number = number % _RUN
        del self._path[number.bit_count() :]
        here = (index, zstd.ZstdDict(payload, is_raw=True))
        if not self._path:
            self._path = [here]
            return zstd.compress(payload, _LEVEL), -1
        after, prefix = self._path[-1]
        self._path.append(here)
        return zstd.compress(payload, _LEVEL, zstd_dict=prefix.as_prefix), after

    def _unpack(self, frame: KeyFrame) -> bytes:
        if frame.leans < 0:
            return zstd.decompress(frame.packed)
        before = self.nearest(frame.leans)
        if before is None or before.after != frame.leans or before.kind != "I" or before.after >= frame.after:
            raise ValueError("the one it leans on is gone")
        prefix = zstd.ZstdDict(self._unpack(before), is_raw=True)
        return zstd.decompress(frame.packed, zstd_dict=prefix.as_prefix)

    def nearest(self, index: int) -> KeyFrame | None:
        """The last frame at or before `index` events."""
        place = bisect_right(self._indexes, index)
        return self._frames[place - 1] if place else None

    def segments(self, frame: KeyFrame) -> Segments:
        """A frame's whole content, checked against its id."""
        if frame.after == self._tip:
            return self._last
        place = bisect_right(self._indexes, frame.after) - 1
        start = place
        while self._frames[start].kind == "P":
            start -= 1
        try:
            found: Segments = unpack(self._unpack(self._frames[start]))
            for later in self._frames[start + 1 : place + 1]:
                rows = unpack(zstd.decompress(later.packed))
                found = apply(found, [StateChange(*row) for row in rows])
        except (zstd.ZstdError, TypeError, ValueError) as error:
            raise StoreError(f"the key frame after {frame.after} events is damaged ({error})") from error
        if state_identity(found) != frame.id:
            raise StoreError(
                f"the key frame after {frame.after} events is damaged: its content has another hash"
            )
        return found

    def restore(self, frame: KeyFrame) -> Any:
        """The state a frame keeps."""
        return join(self.segments(frame))

    def discard(self, frame: KeyFrame) -> None:
        """Give up a damaged frame and those that build on it."""
        place = bisect_right(self._indexes, frame.after) - 1
        stop = place + 1
        while stop < len(self._frames) and self._frames[stop].kind == "P":
            stop += 1
        del self._frames[place:stop], self._indexes[place:stop]
        self._path = []
        self.bytes = sum(len(kept.packed) for kept in self._frames)
        if place == len(self._frames):
            self._since = self._spacing[0]
            self._tip = -1

    def adopt(self, frames: list[KeyFrame]) -> None:
        """Take frames that were kept elsewhere, each checked when it is used."""
        self._frames = list(frames)
        self._path = []
        self._indexes = [frame.after for frame in frames]
        self.bytes = sum(len(frame.packed) for frame in frames)
        self._last, self._tip, self._since = {}, -1, self._spacing[0]
        if frames:
            self._last = self.segments(frames[-1])
            self._tip = frames[-1].after
