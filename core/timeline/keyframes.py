"""Snapshots of a run: content-addressed segments, whole frames, and differences between them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import cbor2
import msgspec
from blake3 import blake3

from core.errors import StoreError
from core.zstd import zstd

Segments = Mapping[str, bytes]

_LARGE = 64  # Tables with more rows are cut into segments of their own.
_SHARES = 32


_WIDE = b"\xc1"  # The byte before a segment in CBOR; no MessagePack begins with it.
_packer = msgspec.msgpack.Encoder(order="deterministic")
_unpacker = msgspec.msgpack.Decoder()


def encode(value: Any) -> bytes:
    """Equal values give equal bytes."""
    return cbor2.dumps(value, canonical=True)


def pack(value: Any) -> bytes:
    """Return deterministic MessagePack; integers of more than 64 bits need CBOR, which takes forty times as long."""
    try:
        return _packer.encode(value)
    except (OverflowError, TypeError):
        return _WIDE + encode(value)


def unpack(content: bytes) -> Any:
    """Return what `pack` wrote; `ValueError` if it is damaged."""
    try:
        return cbor2.loads(content[1:]) if content[:1] == _WIDE else _unpacker.decode(content)
    except (msgspec.DecodeError, cbor2.CBORDecodeError, UnicodeDecodeError) as error:
        raise ValueError(str(error)) from error


def split_state(state: Mapping[str, Any]) -> dict[str, bytes]:
    """Cut a state into segments, so that unchanged ones are stored once."""
    segments: dict[str, bytes] = {}
    _split(state, "", segments)
    return segments


def _split(value: Any, name: str, segments: dict[str, bytes]) -> None:
    if not isinstance(value, dict) or not value:
        segments[name] = pack(value)
    elif len(value) <= _LARGE and all(map(_is_name, value)):
        for key, item in value.items():
            _split(item, f"{name}/{key}", segments)
    else:
        shares: dict[int, list[Any]] = {}
        for key, item in value.items():
            shares.setdefault(blake3(encode(key)).digest(1)[0] % _SHARES, []).append((key, item))
        for share, rows in shares.items():
            segments[f"{name}/#{share}"] = pack(rows)


def _is_name(key: Any) -> bool:
    return isinstance(key, str) and "/" not in key and not key.startswith("#")


def join(segments: Segments) -> Any:
    """The state that `split` cut; tables come back ordered as their keys sort."""
    tree: dict[str, Any] = {}
    for name in sorted(segments):
        value = unpack(segments[name])
        if not name:
            return value
        groups, last = _path(name)
        node = tree
        for group in groups:
            node = node.setdefault(group, {})
        node[last] = value
    return _gather(tree)


@lru_cache(4096)
def _path(name: str) -> tuple[tuple[str, ...], str]:
    """Return the groups of a segment, and its own name."""
    *groups, last = name.split("/")[1:]
    return tuple(groups), last


def _gather(node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    if node and all(key.startswith("#") for key in node):
        rows = [(key, value) for share in node.values() for key, value in share]
        return dict(sorted(rows, key=lambda row: encode(row[0])))
    return {key: _gather(value) for key, value in node.items()}


def pack_segments(segments: Segments) -> bytes:
    """All segments as one, first their names: those are alike in every state and take next to no room."""
    names = sorted(segments)
    return pack((names, [segments[name] for name in names]))


def unpack_segments(packed: bytes) -> dict[str, bytes]:
    """Return what `pack_segments` wrote; `TypeError` or `ValueError` if it is damaged."""
    names, contents = unpack(packed)
    return dict(zip(names, contents, strict=True))


def state_identity(segments: Segments) -> str:
    """The blake3 hash of the whole content."""
    return packed_identity(pack_segments(segments))


def packed_identity(packed: bytes) -> str:
    """Return the blake3 hash of packed segments."""
    return blake3(packed).hexdigest()


class StateChange(NamedTuple):
    """One segment that differs."""

    name: str
    kind: str  # added, modified or removed.
    content: bytes


def state_changes(before: Segments, after: Segments) -> list[StateChange]:
    """Return the changes that turn one state into the other, by name."""
    changes = [StateChange(name, "removed", b"") for name in before if name not in after]
    for name, content in after.items():
        if name not in before:
            changes.append(StateChange(name, "added", content))
        elif before[name] != content:
            changes.append(StateChange(name, "modified", content))
    return sorted(changes)


def changed_bytes(before: Segments, after: Segments) -> int:
    """Return how many bytes differ; of a modified segment the larger side counts."""
    total = sum([len(content) for name, content in before.items() if name not in after])
    for name, content in after.items():
        old = before.get(name, b"")
        if old != content:
            total += max(len(old), len(content))
    return total


def apply(before: Segments, changes: list[StateChange]) -> dict[str, bytes]:
    """The segments after the changes."""
    after = dict(before)
    for change in changes:
        if change.kind == "removed":
            after.pop(change.name, None)
        else:
            after[change.name] = change.content
    return after


_LEVEL = 3
_CHAIN = 12
# Whole states of which only the first is independent. The first of each chain is compressed against the first of an
# earlier chain, a power of two away, every other one against the one before it: at most fourteen must be opened to read
# one, and compression saves three quarters of the size.
_RUN = 8 * _CHAIN
_TABLE = (15, 17)
# Least and most of what packing remembers, as powers of two: places, of which one for every eight bytes of a state is
# enough and few stay in the processor's cache; and how far back it looks, twice a state.
_WINDOW = (19, 27)

_SMALL = 1024  # Bytes of a state that is not worth leaning on.


class KeyFrame(NamedTuple):
    """One stored state: whole (I), or the changes since the frame before (P)."""

    after: int  # Number of events run before it.
    kind: Literal["I", "P"]
    id: str
    packed: bytes
    leans: int = -1  # The `after` of an earlier frame that this whole one is compressed against; -1 if none.


class KeyFrames:
    """Frames by the number of events before them."""

    def __init__(self, *, p_frames: int = 10, i_share: float = 0.3) -> None:
        self._spacing = (p_frames, i_share)
        self._frames: list[KeyFrame] = []
        self._indexes: list[int] = []
        self._last_regime = ""
        self._since = 0
        # The last frame's place and content as one value, as threads read it while another adds.
        self._tip: tuple[int, Segments] = -1, {}
        self._before: tuple[int, bytes] | None = None  # The last whole state, for the next to lean on.
        self._chains: list[int] = []  # First frames of chains that later chains are compressed against.
        self._number = 0
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._frames)

    def __iter__(self) -> Iterator[KeyFrame]:
        return iter(self._frames)

    def add(self, index: int, state: Mapping[str, Any], regime: str = "", *, whole: bool = False) -> KeyFrame:
        """Store the state after `index` events, in rising order."""
        segments = split_state(state)
        p_frames, share = self._spacing
        last = self._tip[1]
        full = (
            whole
            or not self._frames
            or self._since >= p_frames
            or regime != self._last_regime
            or changed_bytes(last, segments) >= share * sum(map(len, segments.values()))
        )
        whole_state = pack_segments(segments)
        if full:
            packed, leans = self._pack(index, whole_state)
            frame = KeyFrame(index, "I", packed_identity(whole_state), packed, leans)
        else:
            changes = pack([list(one) for one in state_changes(last, segments)])
            frame = KeyFrame(index, "P", packed_identity(whole_state), zstd.compress(changes, _LEVEL))
        self._frames.append(frame)
        self._indexes.append(index)
        self._last_regime, self._tip = regime, (index, segments)
        self._since = 0 if full else self._since + 1
        self.bytes += len(frame.packed)
        return frame

    def _pack(self, index: int, payload: bytes) -> tuple[bytes, int]:
        if len(payload) < _SMALL:
            return zstd.compress(payload, _LEVEL), -1
        before, self._before = self._before, (index, payload)
        self._number = (self._number + 1) % _RUN if before else 0
        chain, place = divmod(self._number, _CHAIN)
        if place == 0:
            del self._chains[chain.bit_count() :]
            before = self._opened(self._chains[-1]) if self._chains else None
            self._chains.append(index)
        if before is None:
            return zstd.compress(payload, _LEVEL), -1
        prefix = zstd.ZstdDict(before[1], is_raw=True).as_prefix
        return zstd.compress(payload, options=_fast(len(payload)), zstd_dict=prefix), before[0]

    def _opened(self, after: int) -> tuple[int, bytes] | None:
        """A whole state to lean on, unless it is gone."""
        frame = self.nearest(after)
        return (after, self._unpack(frame)) if frame is not None and frame.after == after else None

    def _unpack(self, frame: KeyFrame) -> bytes:
        if frame.leans < 0:
            return zstd.decompress(frame.packed)
        before = self.nearest(frame.leans)
        if before is None or before.after != frame.leans or before.kind != "I" or before.after >= frame.after:
            raise ValueError("the frame it is compressed against is gone")
        prefix = zstd.ZstdDict(self._unpack(before), is_raw=True)
        return zstd.decompress(frame.packed, zstd_dict=prefix.as_prefix)

    def nearest(self, index: int) -> KeyFrame | None:
        """The last frame at or before `index` events."""
        place = bisect_right(self._indexes, index)
        return self._frames[place - 1] if place else None

    def segments(self, frame: KeyFrame) -> Segments:
        """A frame's whole content, checked against its id."""
        after, last = self._tip
        if frame.after == after:
            return last
        place = bisect_right(self._indexes, frame.after) - 1
        start = place
        while self._frames[start].kind == "P":
            start -= 1
        try:
            payload = self._unpack(self._frames[start])
            segments: Segments = unpack_segments(payload)
            for later in self._frames[start + 1 : place + 1]:
                rows = unpack(zstd.decompress(later.packed))
                segments = apply(segments, [StateChange(*row) for row in rows])
        except (zstd.ZstdError, TypeError, ValueError) as error:
            raise StoreError(f"the key frame after {frame.after} events is damaged ({error})") from error
        if (packed_identity(payload) if start == place else state_identity(segments)) != frame.id:
            raise StoreError(f"the key frame after {frame.after} events is damaged: its content has another hash")
        return segments

    def restore(self, frame: KeyFrame) -> Any:
        """Return the state of a frame."""
        return join(self.segments(frame))

    def discard(self, frame: KeyFrame) -> None:
        """Drop a damaged frame and the frames that build on it."""
        place = bisect_right(self._indexes, frame.after) - 1
        stop = place + 1
        while stop < len(self._frames) and self._frames[stop].kind == "P":
            stop += 1
        del self._frames[place:stop], self._indexes[place:stop]
        self._before, self._chains = None, []
        self.bytes = sum(len(one.packed) for one in self._frames)
        if place == len(self._frames):
            self._since = self._spacing[0]
            self._tip = -1, self._tip[1]

    def adopt(self, frames: list[KeyFrame]) -> None:
        """Use frames from a stored recording, each checked when it is read."""
        self._frames = list(frames)
        self._before, self._chains = None, []
        self._indexes = [frame.after for frame in frames]
        self.bytes = sum(len(frame.packed) for frame in frames)
        self._tip, self._since = (-1, {}), self._spacing[0]
        if frames:
            self._tip = frames[-1].after, self.segments(frames[-1])


def _fast(size: int) -> dict[int, int]:
    """Half the time of the usual level for little more room, where most is found in the state leant on."""
    bits = size.bit_length()
    return {
        zstd.CompressionParameter.strategy: zstd.Strategy.fast,
        zstd.CompressionParameter.hash_log: min(max(bits - 3, _TABLE[0]), _TABLE[1]),
        zstd.CompressionParameter.min_match: 7,
        zstd.CompressionParameter.target_length: 1,
        zstd.CompressionParameter.window_log: min(max(bits + 1, _WINDOW[0]), _WINDOW[1]),
    }
