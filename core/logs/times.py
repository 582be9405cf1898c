"""Times as logs write them, turned into epoch seconds."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

_LATEST = 32_503_680_000.0
"""The year 3000: a larger epoch number counts milliseconds, microseconds or nanoseconds."""
_minutes: dict[str, float] = {}
"""Minutes read before, each with the whole second it begins at: a memo that changes no time."""


def seconds(value: Any) -> float | None:
    """Epoch seconds of an ISO text (UTC where it names no zone) or an epoch number, else None."""
    if type(value) is str:
        if len(value) == 24 and value[23] == "Z" and value[19] == ".":
            start = _minutes.get(value[:17])
            rest = value[17:19] + value[20:23]
            if start is not None and rest.isdigit() and rest.isascii() and rest < "60":
                return start + float(value[17:23])
        return _slowly(value)
    if type(value) is int or type(value) is float:
        return _from_number(float(value)) if abs(value) < 1e300 else None
    return None


def _slowly(text: str) -> float | None:
    text = text.strip()
    try:
        moment = datetime.fromisoformat(text)
        at = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        try:
            return _from_number(float(text))
        except ValueError:
            return None
    if at < 0.0:
        return None
    if len(text) == 24 and text[23] == "Z" and text[10] == "T" and text[16] == ":" and text[19] == ".":
        if len(_minutes) > 4096:
            _minutes.clear()
        _minutes[text[:17]] = at // 60.0 * 60.0
    return at


def _from_number(at: float) -> float | None:
    if not math.isfinite(at) or at < 0.0:
        return None
    for _ in range(3):
        if at <= _LATEST:
            return at
        at /= 1000.0
    return at if at <= _LATEST else None
