"""Decodes OTLP requests, in JSON or protobuf, into plain records."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from core.agents.values import items, table, text
from core.errors import Malformed

__all__ = ["LogRecord", "Malformed", "SpanRecord", "logs", "traces"]

_ERROR = 2
_DEEPEST = 16


class LogRecord(NamedTuple):
    """One log record."""

    at: float
    name: str
    attributes: dict[str, Any]
    resource: dict[str, Any]


class SpanRecord(NamedTuple):
    """One span."""

    trace: str
    id: str
    parent: str
    name: str
    start: float
    end: float
    attributes: dict[str, Any]
    resource: dict[str, Any]
    failed: bool


def logs(body: bytes, binary: bool) -> list[LogRecord]:
    """The records of a request to `/v1/logs`; raises only `Malformed`."""
    return _binary_logs(body) if binary else _json_logs(body)


def traces(body: bytes, binary: bool) -> list[SpanRecord]:
    """The spans of a request to `/v1/traces`; raises only `Malformed`."""
    return _binary_spans(body) if binary else _json_spans(body)


def _decoded(body: bytes) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise Malformed("not JSON") from None
    if not isinstance(value, dict):
        raise Malformed("not a JSON object")
    return value


def _json_logs(body: bytes) -> list[LogRecord]:
    records = []
    for group in items(_decoded(body).get("resourceLogs")):
        resource = _attributes(table(table(group).get("resource")).get("attributes"))
        for scope in items(table(group).get("scopeLogs")):
            for record in map(table, items(table(scope).get("logRecords"))):
                at = _seconds(record.get("timeUnixNano")) or _seconds(record.get("observedTimeUnixNano"))
                attributes = _attributes(record.get("attributes"))
                name = text(attributes.get("event.name")) or text(record.get("eventName"))
                records.append(LogRecord(at, name or _any_name(_value(record.get("body"))), attributes, resource))
    return records


def _json_spans(body: bytes) -> list[SpanRecord]:
    spans = []
    for group in items(_decoded(body).get("resourceSpans")):
        resource = _attributes(table(table(group).get("resource")).get("attributes"))
        for scope in items(table(group).get("scopeSpans")):
            for span in map(table, items(table(scope).get("spans"))):
                code = table(span.get("status")).get("code")
                spans.append(
                    SpanRecord(
                        text(span.get("traceId")).lower(),
                        text(span.get("spanId")).lower(),
                        text(span.get("parentSpanId")).lower(),
                        text(span.get("name")),
                        _seconds(span.get("startTimeUnixNano")),
                        _seconds(span.get("endTimeUnixNano")),
                        _attributes(span.get("attributes")),
                        resource,
                        code in (_ERROR, "STATUS_CODE_ERROR"),
                    )
                )
    return spans


def _attributes(value: Any) -> dict[str, Any]:
    pairs = map(table, items(value))
    return {key: _value(pair.get("value")) for pair in pairs if (key := text(pair.get("key")))}


def _value(value: Any, depth: int = 0) -> Any:
    """An `AnyValue` as a plain value."""
    if depth > _DEEPEST:
        raise Malformed("values nested too deep")
    for name, inner in table(value).items():
        if name == "intValue":
            return _whole(inner)
        if name == "arrayValue":
            return [_value(item, depth + 1) for item in items(table(inner).get("values"))]
        if name == "kvlistValue":
            pairs = map(table, items(table(inner).get("values")))
            return {text(pair.get("key")): _value(pair.get("value"), depth + 1) for pair in pairs}
        if name in ("stringValue", "boolValue", "doubleValue", "bytesValue"):
            return inner
    return None


def _whole(value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return 0


def _seconds(value: Any) -> float:
    return max(0, _whole(value)) / 1e9


def _any_name(body: Any) -> str:
    return body if isinstance(body, str) and len(body) < 200 else ""


def _binary_logs(body: bytes) -> list[LogRecord]:
    records = []
    for group in _each(body, 1):
        resource = _resource(group)
        for scope in _each(group, 2):
            records += [_binary_log(record, resource) for record in _each(scope, 2)]
    return records


def _binary_log(data: bytes, resource: dict[str, Any]) -> LogRecord:
    at = observed = 0
    name, body, pairs = "", "", []
    for field, raw in fields(data):
        if field == 1:
            at = number(raw)
        elif field == 11:
            observed = number(raw)
        elif field == 5:
            body = _any_name(any_value(message(raw)))
        elif field == 6:
            pairs.append(message(raw))
        elif field == 12:
            name = string_field(raw)
    pairs_by_key = attributes(pairs)
    return LogRecord(
        (at or observed) / 1e9, text(pairs_by_key.get("event.name")) or name or body, pairs_by_key, resource
    )


def _binary_spans(body: bytes) -> list[SpanRecord]:
    spans = []
    for group in _each(body, 1):
        resource = _resource(group)
        for scope in _each(group, 2):
            spans += [_binary_span(span, resource) for span in _each(scope, 2)]
    return spans


def _binary_span(data: bytes, resource: dict[str, Any]) -> SpanRecord:
    names = {1: "", 2: "", 4: ""}
    times = {7: 0, 8: 0}
    name, code, pairs = "", 0, []
    for field, raw in fields(data):
        if field in names:
            names[field] = message(raw).hex()
        elif field in times:
            times[field] = number(raw)
        elif field == 5:
            name = string_field(raw)
        elif field == 9:
            pairs.append(message(raw))
        elif field == 15:
            code = next((number(v) for f, v in fields(message(raw)) if f == 3), 0)
    return SpanRecord(
        names[1], names[2], names[4], name, times[7] / 1e9, times[8] / 1e9, attributes(pairs), resource, code == _ERROR
    )


def _each(data: bytes, field_number: int) -> list[bytes]:
    return [message(raw) for field, raw in fields(data) if field == field_number]


def _resource(group: bytes) -> dict[str, Any]:
    inner = next(iter(_each(group, 1)), b"")
    return attributes(_each(inner, 1))


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
    raise Malformed("a number that is too long")


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
    values: dict[str, Any] = {}
    for pair in pairs:
        key, value = _pair(pair, 0)
        values[key] = value
    return values


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
