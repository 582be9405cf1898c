"""Telemetry requests made by hand, in JSON and in protobuf's wire format."""

from __future__ import annotations

import json
import struct
from typing import Any


def varint(number: int) -> bytes:
    made = bytearray()
    while number > 0x7F:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*made, number])


def field(number: int, value: bytes | str | int) -> bytes:
    """A length-delimited field, or a varint."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value & (1 << 64) - 1)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def fixed(number: int, value: int) -> bytes:
    return varint(number << 3 | 1) + value.to_bytes(8, "little")


def any_value(value: Any) -> bytes:
    if isinstance(value, bool):
        return field(2, int(value))
    if isinstance(value, int):
        return field(3, value)
    if isinstance(value, float):
        return varint(4 << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, list):
        return field(5, b"".join(field(1, any_value(item)) for item in value))
    if isinstance(value, dict):
        return field(6, pairs(1, value))
    return field(1, str(value))


def pairs(number: int, values: dict[str, Any]) -> bytes:
    return b"".join(field(number, field(1, key) + field(2, any_value(item))) for key, item in values.items())


def json_value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [json_value(item) for item in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": json_pairs(value)}}
    return {"stringValue": value}


def json_pairs(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": json_value(item)} for key, item in values.items()]


Log = tuple[float, str, dict[str, Any]]
"""When, its body, its attributes."""


def logs(records: list[Log], binary: bool, resource: dict[str, Any] | None = None) -> bytes:
    about = resource or {}
    if binary:
        made = b"".join(
            field(2, fixed(1, round(at * 1e9)) + field(5, any_value(body)) + pairs(6, told))
            for at, body, told in records
        )
        return field(1, field(1, pairs(1, about)) + field(2, field(1, field(1, "scope")) + made))
    listed = [
        {"timeUnixNano": str(round(at * 1e9)), "body": json_value(body), "attributes": json_pairs(told)}
        for at, body, told in records
    ]
    group = {"resource": {"attributes": json_pairs(about)}, "scopeLogs": [{"logRecords": listed}]}
    return json.dumps({"resourceLogs": [group]}).encode()


Span = tuple[str, str, str, float, float, dict[str, Any], bool]
"""Trace, id, name, start, end, attributes, whether it failed."""


def traces(spans: list[Span], binary: bool, resource: dict[str, Any] | None = None) -> bytes:
    about = resource or {}
    if binary:
        made = b"".join(
            field(
                2,
                field(1, bytes.fromhex(trace))
                + field(2, bytes.fromhex(name))
                + field(5, title)
                + field(6, 1)
                + fixed(7, round(start * 1e9))
                + fixed(8, round(end * 1e9))
                + pairs(9, told)
                + field(15, field(3, 2 if failed else 1)),
            )
            for trace, name, title, start, end, told, failed in spans
        )
        return field(1, field(1, pairs(1, about)) + field(2, made))
    listed = [
        {
            "traceId": trace,
            "spanId": name,
            "name": title,
            "startTimeUnixNano": str(round(start * 1e9)),
            "endTimeUnixNano": str(round(end * 1e9)),
            "attributes": json_pairs(told),
            "status": {"code": 2 if failed else 1},
        }
        for trace, name, title, start, end, told, failed in spans
    ]
    group = {"resource": {"attributes": json_pairs(about)}, "scopeSpans": [{"spans": listed}]}
    return json.dumps({"resourceSpans": [group]}).encode()
