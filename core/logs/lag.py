"""How far the reading of a growing log is behind what has been written."""

from __future__ import annotations

SAID = 200
"""Events behind from which on it is said; less is what comes between two looks at a busy log."""
UNKNOWN = -1
"""Behind, but nobody can say by how much: the log is not a file of lines."""


def is_late(events: int) -> bool:
    """Whether a person must be told."""
    return events >= SAID or events == UNKNOWN


def events_behind(unread: int | None, read: int, events: int) -> int:
    """About how many events so many unread bytes hold, from those read so far; ask only while behind."""
    if not unread or not read or not events:
        return UNKNOWN
    return max(1, round(unread * events / read))
