"""The few messages of OTLP, read from protobuf's wire format without a library."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from core.errors import Malformed

_DEEPEST = 16
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of one message: its number, and a whole number (varint, fixed) or bytes."""
    place, end = 0, len(data)
    while place < end:
        key, place = _varint(data, place)
        number, kind = key >> 3, key & 7
        value: Any
        if number == 0:
            raise Malformed("a field without a number")
        if kind == _VARINT:
            value, place = _varint(data, place)
        elif kind == _BYTES:
            length, place = _varint(data, place)
            value, place = data[place : place + length], place + length
        elif kind in (_FIXED64, _FIXED32):
            size = 8 if kind == _FIXED64 else 4
            value, place = int.from_bytes(data[place : place + size], "little"), place + size
        else:
            raise Malformed(f"wire type {kind}")
        if place > end:
            raise Malformed("cut short")
        yield number, value


def _varint(data: bytes, place: int) -> tuple[int, int]:
    number = shift = 0
    while shift < 70:
        if place >= len(data):
            raise Malformed("cut short")
        byte = data[place]
        place += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number & 0xFFFF_FFFF_FFFF_FFFF, place
        shift += 7
    raise Malformed("a number without end")


def message(value: Any) -> bytes:
    """The bytes of an inner message."""
    if not isinstance(value, bytes):
        raise Malformed("a number where a message should be")
    return value


def string_field(value: Any) -> str:
    """A string field."""
    return message(value).decode("utf-8", "replace")


def number(value: Any) -> int:
    """A whole-number field."""
    if not isinstance(value, int):
        raise Malformed("bytes where a number should be")
    return value


def attributes(pairs: list[bytes]) -> dict[str, Any]:
    """The values of `KeyValue` messages by their keys."""
    found: dict[str, Any] = {}
    for pair in pairs:
        key, value = _pair(pair, 0)
        found[key] = value
    return found


def any_value(data: bytes, depth: int = 0) -> Any:
    """An `AnyValue` as a plain value."""
    if depth > _DEEPEST:
        raise Malformed("values nested too deep")
    value: Any = None
    for field, raw in fields(data):
        if field == 1:
            value = string_field(raw)
        elif field == 2:
            value = bool(raw)
        elif field == 3:
            whole = number(raw)
            value = whole - (1 << 64) if whole >= 1 << 63 else whole
        elif field == 4:
            value = struct.unpack("<d", number(raw).to_bytes(8, "little"))[0]
        elif field == 5:
            value = [any_value(message(item), depth + 1) for name, item in fields(message(raw)) if name == 1]
        elif field == 6:
            pairs = [_pair(message(item), depth + 1) for name, item in fields(message(raw)) if name == 1]
            value = dict(pairs)
        elif field == 7:
            value = message(raw).hex()
    return value


def _pair(data: bytes, depth: int) -> tuple[str, Any]:
    key, value = "", None
    for field, raw in fields(data):
        if field == 1:
            key = string_field(raw)
        elif field == 2:
            value = any_value(message(raw), depth + 1)
    return key, value
