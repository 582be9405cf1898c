"""A place in a recording as a person writes it."""

from __future__ import annotations

from core.errors import UsageError
from core.logs.times import seconds
from core.timeline.timeline import Timeline


def parse_place(timeline: Timeline, spoken: str) -> int:
    """`120`, `-1`, `00:41:12`, `41m`, an ISO time or a place in the file (`@4096`) as a number of events."""
    text = spoken.strip()
    if text.startswith("@"):
        return _in_file(timeline, text[1:])
    if text.lstrip("-").isdecimal():
        number = int(text)
        if number > len(timeline):
            raise _too_late(timeline, spoken)
        return max(0, len(timeline) + 1 + number) if number < 0 else number
    start = timeline.events[0].at
    offset = _offset(text)
    if offset is None:
        moment = seconds(text)
        if moment is None:
            raise UsageError(
                f"{spoken!r} is not a place; write an event's number, 00:41:12, 41m or an ISO time"
            )
        return timeline.index_at(moment)
    if start + offset >= timeline.time_of(len(timeline)) + 1.0:
        raise _too_late(timeline, spoken)
    return timeline.index_at(start + offset)


def _offset(text: str) -> float | None:
    """Seconds from the start, where they are written as 00:41:12 or 41m."""
    parts = text.split(":")
    if 2 <= len(parts) <= 3 and all(part.isdecimal() for part in parts):
        offset = 0
        for number, part in enumerate(parts):
            if number and int(part) >= 60:
                return None
            offset = offset * 60 + int(part)
        return offset
    units = {"s": 1, "m": 60, "h": 3600}
    if text and text[-1] in units and text[:-1].replace(".", "", 1).isdecimal():
        return float(text[:-1]) * units[text[-1]]
    return None


def _too_late(timeline: Timeline, spoken: str) -> UsageError:
    lasted = int(timeline.time_of(len(timeline)) - timeline.events[0].at)
    clock = f"{lasted // 3600:02d}:{lasted % 3600 // 60:02d}:{lasted % 60:02d}"
    return UsageError(f"{spoken!r} is after the end: the session has {len(timeline)} events, up to {clock}")


def _in_file(timeline: Timeline, place: str) -> int:
    """After the event that stands at a byte, or at an entry of a document; the first from there on."""
    for number, event in enumerate(timeline.events, 1):
        where = event.where
        if where is None:
            continue
        if place.isdecimal():
            if where.offset >= int(place):
                return number
        elif where.entry == place or where.entry.startswith(f"{place}/"):
            return number
    raise UsageError(f"no event stands at @{place}")
