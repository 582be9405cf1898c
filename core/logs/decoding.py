"""JSON and times of logs, decoded without trusting them."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any, TypeVar, overload

import msgspec

T = TypeVar("T")

FAULTS = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)  # Errors of decoding the content of a log.
OBJECT = dict[str, msgspec.Raw]  # An object whose values are left as they are.


@overload
def decoded(data: bytes | str | msgspec.Raw) -> Any: ...


@overload
def decoded(data: bytes | str | msgspec.Raw, kind: type[T]) -> T | None: ...


def decoded(data: bytes | str | msgspec.Raw, kind: Any = Any) -> Any:
    """Return the JSON value in some bytes; None if there is none of this kind."""
    try:
        return msgspec.json.decode(data, type=kind)
    except FAULTS:
        return None


_LATEST = 32_503_680_000.0  # The year 3000: a larger epoch number counts milliseconds, microseconds or nanoseconds.
_parsed = datetime.fromisoformat


def seconds(value: Any) -> float | None:
    """Return the epoch seconds of an ISO text (UTC by default) or an epoch number, else None."""
    if type(value) is str:
        return _from_text(value.strip())
    if type(value) is int or type(value) is float:
        return _from_number(float(value)) if abs(value) < 1e300 else None
    return None


def _from_text(text: str) -> float | None:
    try:
        moment = _parsed(text)
        at = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        try:
            return _from_number(float(text))
        except ValueError:
            return None
    return at if at >= 0.0 else None


def _from_number(at: float) -> float | None:
    if not math.isfinite(at) or at < 0.0:
        return None
    for _ in range(3):
        if at <= _LATEST:
            return at
        at /= 1000.0
    return at if at <= _LATEST else None
