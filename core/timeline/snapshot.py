"""A whole state as named segments of plain values, known by the hash of its content."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import cbor2
import msgspec
from blake3 import blake3

Segments = Mapping[str, bytes]

_LARGE = 64
"""A table with more rows than this is cut into segments of its own."""
_SHARES = 32


_WIDE = b"\xc1"
"""What no MessagePack begins with, before a segment that is CBOR."""
_packer = msgspec.msgpack.Encoder(order="deterministic")
_unpacker = msgspec.msgpack.Decoder()


def encode(value: Any) -> bytes:
    """Equal values give equal bytes."""
    return cbor2.dumps(value, canonical=True)


def pack(value: Any) -> bytes:
    """The same in a fortieth of the time; integers of more than 64 bits have no such form and stay CBOR."""
    try:
        return _packer.encode(value)
    except (OverflowError, TypeError):
        return _WIDE + encode(value)


def unpack(content: bytes) -> Any:
    """What `pack` wrote; raises `ValueError` where it did not."""
    try:
        return cbor2.loads(content[1:]) if content[:1] == _WIDE else _unpacker.decode(content)
    except (msgspec.DecodeError, cbor2.CBORDecodeError, UnicodeDecodeError) as error:
        raise ValueError(str(error)) from error


def split_state(state: Mapping[str, Any]) -> dict[str, bytes]:
    """Cut a state into segments, so that what did not change need not be kept again."""
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
    """The groups a segment lies in, and its own name."""
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
    """What `pack_segments` wrote; raises `TypeError` or `ValueError` where it did not."""
    names, contents = unpack(packed)
    return dict(zip(names, contents, strict=True))


def state_identity(segments: Segments) -> str:
    """The blake3 hash of the whole content."""
    return packed_identity(pack_segments(segments))


def packed_identity(packed: bytes) -> str:
    """The same of segments that are packed already."""
    return blake3(packed).hexdigest()


class StateChange(NamedTuple):
    """One segment that differs."""

    name: str
    kind: str
    """added, modified or removed."""
    content: bytes


def state_changes(before: Segments, after: Segments) -> list[StateChange]:
    """What turns one into the other, by name."""
    found = [StateChange(name, "removed", b"") for name in before if name not in after]
    for name, content in after.items():
        if name not in before:
            found.append(StateChange(name, "added", content))
        elif before[name] != content:
            found.append(StateChange(name, "modified", content))
    return sorted(found)


def changed_bytes(before: Segments, after: Segments) -> int:
    """How much differs: of a modified segment the larger side, so that a rewrite is no nothing."""
    total = sum([len(content) for name, content in before.items() if name not in after])
    for name, content in after.items():
        old = before.get(name, b"")
        if old != content:
            total += max(len(old), len(content))
    return total


def apply(before: Segments, found: list[StateChange]) -> dict[str, bytes]:
    """The segments after the changes."""
    after = dict(before)
    for change in found:
        if change.kind == "removed":
            after.pop(change.name, None)
        else:
            after[change.name] = change.content
    return after
