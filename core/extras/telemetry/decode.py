"""Decodes OTLP requests, in JSON or protobuf, into plain records."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

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
    agent: str = ""  # The agent whose work it is; blank if unknown.
    root: str = ""  # The agent of the outermost span of its trace; blank if that has not come.


def logs(body: bytes, binary: bool) -> list[LogRecord]:
    """The records of a request to `/v1/logs`; raises only `Malformed`."""
    records = []
    for record, resource in _records(_request(body, _LOGS if binary else None), "Logs", "logRecords"):
        at = _seconds(record.get("timeUnixNano")) or _seconds(record.get("observedTimeUnixNano"))
        attributes = _attributes(record.get("attributes"))
        name = text(attributes.get("event.name")) or text(record.get("eventName"))
        records.append(LogRecord(at, name or _any_name(_value(record.get("body"))), attributes, resource))
    return records


def traces(body: bytes, binary: bool) -> list[SpanRecord]:
    """The spans of a request to `/v1/traces`; raises only `Malformed`."""
    return [
        SpanRecord(
            text(span.get("traceId")).lower(),
            text(span.get("spanId")).lower(),
            text(span.get("parentSpanId")).lower(),
            text(span.get("name")),
            _seconds(span.get("startTimeUnixNano")),
            _seconds(span.get("endTimeUnixNano")),
            _attributes(span.get("attributes")),
            resource,
            table(span.get("status")).get("code") in (_ERROR, "STATUS_CODE_ERROR"),
        )
        for span, resource in _records(_request(body, _SPANS if binary else None), "Spans", "spans")
    ]


def _records(request: dict[str, Any], kind: str, name: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each record of a request, with the attributes of its resource."""
    for group in map(table, items(request.get(f"resource{kind}"))):
        resource = _attributes(table(group.get("resource")).get("attributes"))
        for scope in map(table, items(group.get(f"scope{kind}"))):
            for record in items(scope.get(name)):
                yield table(record), resource


def _request(body: bytes, schema: _Schema | None) -> dict[str, Any]:
    """A request in the names of its JSON; with a schema, it is in protobuf."""
    if schema is not None:
        return _read(body, schema)
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise Malformed("not JSON") from None
    if not isinstance(value, dict):
        raise Malformed("not a JSON object")
    return value


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


_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
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


def _message(value: Any) -> bytes:
    if not isinstance(value, bytes):
        raise Malformed("a number where a message should be")
    return value


def _string(value: Any) -> str:
    return _message(value).decode("utf-8", "replace")


def _hex(value: Any) -> str:
    return _message(value).hex()


def _number(value: Any) -> int:
    if not isinstance(value, int):
        raise Malformed("bytes where a number should be")
    return value


def _signed(value: Any) -> int:
    number = _number(value)
    return number - (1 << 64) if number >= 1 << 63 else number


def _double(value: Any) -> float:
    return float(struct.unpack("<d", _number(value).to_bytes(8, "little"))[0])


# The fields of a message by number: the name in JSON, and what reads one, or the schema of the message inside.
_Schema: TypeAlias = dict[int, tuple[str, Any]]
_LISTS = frozenset(
    ("resourceLogs", "scopeLogs", "logRecords", "resourceSpans", "scopeSpans", "spans", "attributes", "values")
)
_VALUE: _Schema = {}
_PAIR: _Schema = {1: ("key", _string), 2: ("value", _VALUE)}
_VALUE |= {
    1: ("stringValue", _string),
    2: ("boolValue", bool),
    3: ("intValue", _signed),
    4: ("doubleValue", _double),
    5: ("arrayValue", {1: ("values", _VALUE)}),
    6: ("kvlistValue", {1: ("values", _PAIR)}),
    7: ("bytesValue", _hex),
}
_LOG: _Schema = {
    1: ("timeUnixNano", _number),
    5: ("body", _VALUE),
    6: ("attributes", _PAIR),
    11: ("observedTimeUnixNano", _number),
    12: ("eventName", _string),
}
_SPAN: _Schema = {
    1: ("traceId", _hex),
    2: ("spanId", _hex),
    4: ("parentSpanId", _hex),
    5: ("name", _string),
    7: ("startTimeUnixNano", _number),
    8: ("endTimeUnixNano", _number),
    9: ("attributes", _PAIR),
    15: ("status", {3: ("code", _number)}),
}
_RESOURCE: _Schema = {1: ("resource", {1: ("attributes", _PAIR)})}
_LOGS: _Schema = {1: ("resourceLogs", {**_RESOURCE, 2: ("scopeLogs", {2: ("logRecords", _LOG)})})}
_SPANS: _Schema = {1: ("resourceSpans", {**_RESOURCE, 2: ("scopeSpans", {2: ("spans", _SPAN)})})}


def _read(data: bytes, schema: _Schema, depth: int = 0) -> dict[str, Any]:
    """A message of protobuf in the names of its JSON."""
    if depth > 4 * _DEEPEST:
        raise Malformed("values nested too deep")
    values: dict[str, Any] = {}
    for field, raw in _fields(data):
        name, inner = schema.get(field, ("", None))
        if inner is None:
            continue
        value = _read(_message(raw), inner, depth + 1) if isinstance(inner, dict) else inner(raw)
        if name in _LISTS:
            values.setdefault(name, []).append(value)
        else:
            values[name] = value
    return values
