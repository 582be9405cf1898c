"""About how many events a log holds, from what stands in it once an event."""

from __future__ import annotations

import re

from core.logs.agent import Location

EXACT = 4 * 1024 * 1024
"""Logs of at most so many bytes may be looked through whole."""
_COLON = re.compile(rb'"\s*:\s*')
_COMMA = re.compile(rb'",\s+"')
_HEAD = 4_096


def counted(location: Location, parts: list[bytes], share: float) -> int:
    """The events in some parts of a log that make up a share of it; the beginning is one more."""
    if not any(parts):
        return 0
    found = sum(_count(location, part) for part in parts)
    return 1 + round(found / max(share, 1e-9))


def _count(location: Location, data: bytes) -> int:
    if _loose(data[:_HEAD]):
        data = _COMMA.sub(b'","', _COLON.sub(b'":', data))
    if location.aside and location.aside in data:
        data = b"\n".join(line for line in data.split(b"\n") if location.aside not in line[:_HEAD])
    found = sum(map(data.count, location.marks))
    return found + sum(len(set(pattern.findall(data))) for pattern in location.once)


def _loose(head: bytes) -> bool:
    """Whether a log writes blanks after its colons."""
    return head.count(b'": ') > head.count(b'":') // 2
