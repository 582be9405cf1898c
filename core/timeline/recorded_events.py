"""A recording's events: the newest as they came, older ones packed until somebody looks."""

from __future__ import annotations

from core.events import Event
from core.timeline.packed_list import PackedList

CHUNK = 64
FRESH = 32
"""Chunks of events that are not packed: all of most sessions, and what is looked at again and again at the
live edge."""


class RecordedEvents(PackedList[Event], kind=Event, chunk=CHUNK, fresh=FRESH, looked_at=64):
    """Events in the order they came."""

    __slots__ = ()
