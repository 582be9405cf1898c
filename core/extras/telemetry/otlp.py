"""Spans as OTLP in JSON, the bytes a collector takes on `/v1/traces`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from core import __version__
from core.extras.telemetry.spans import Attribute, Span
from core.safe_text import safe_json_bytes

_INTERNAL, _CLIENT = 1, 3
_OK, _ERROR = 1, 2


def encoded(spans: Sequence[Span], resource: Mapping[str, Attribute]) -> bytes:
    """One request that holds these spans."""
    scope = {"name": "nooscope", "version": __version__}
    body = {
        "resourceSpans": [
            {
                "resource": {"attributes": _attributes(resource)},
                "scopeSpans": [{"scope": scope, "spans": [_span(span) for span in spans]}],
            }
        ]
    }
    try:
        return safe_json_bytes(msgspec.json.encode(body))
    except UnicodeEncodeError:
        return safe_json_bytes(msgspec.json.encode(_sound(body)))


def _span(span: Span) -> dict[str, Any]:
    made: dict[str, Any] = {
        "traceId": span.trace,
        "spanId": span.id,
        "name": span.name,
        "kind": _CLIENT if span.client else _INTERNAL,
        "startTimeUnixNano": _nanoseconds(span.start),
        "endTimeUnixNano": _nanoseconds(span.end),
        "attributes": _attributes(
            span.attributes | {"error.type": span.error} if span.error else span.attributes
        ),
        "status": {"code": _ERROR, "message": span.error} if span.error else {"code": _OK},
    }
    if span.parent:
        made["parentSpanId"] = span.parent
    if span.events:
        made["events"] = [
            {"timeUnixNano": _nanoseconds(at), "name": name, "attributes": _attributes(attributes)}
            for at, name, attributes in span.events
        ]
    return made


def _nanoseconds(at: float) -> str:
    return str(max(0, round(at * 1_000_000)) * 1000)


def _attributes(given: Mapping[str, Attribute]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in given.items()]


def _value(value: Attribute) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, tuple):
        return {"arrayValue": {"values": [{"stringValue": each} for each in value]}}
    return {"stringValue": value}


def _sound(value: Any) -> Any:
    """The same without halves of characters, as file names in other encodings have them."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {key: _sound(item) for key, item in value.items()}
    return [_sound(item) for item in value] if isinstance(value, list) else value
