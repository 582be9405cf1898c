"""Times as logs write them, turned into epoch seconds."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

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
