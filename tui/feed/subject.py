"""Whose session it is, and how fast it spends, at any place of a recording."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from msgspec.structs import replace

from core.events import MAIN, Event, SessionStart, Turn
from tui.feed.view import Subject

_MOST = 4000
"""Events looked back over at most."""


class Subjects:
    """The subject as it was after any event; only its changes are kept."""

    def __init__(self, subject: Subject) -> None:
        self._places = [0]
        self._known = [subject]

    def add(self, count: int, event: Event) -> None:
        """Take in the event that makes the recording `count` long."""
        last = self._known[-1]
        if isinstance(event, Turn) and event.model and event.agent == MAIN:
            found = replace(last, model=event.model)
        elif isinstance(event, SessionStart) and event.agent == MAIN:
            found = replace(
                last,
                session=event.session or last.session,
                tool=event.tool or last.tool,
                project=event.project or last.project,
                model=event.model or last.model,
                synthetic_time=event.synthetic_time,
                untold=event.untold,
            )
        else:
            return
        if found != last:
            self._places.append(count)
            self._known.append(found)

    def at(self, index: int) -> Subject:
        """The subject after the first `index` events; before any, what is known of it now."""
        if index == 0 and len(self._known) > 1:
            return self._known[1]
        return self._known[bisect_right(self._places, index) - 1]


def tokens_a_minute(events: Sequence[Event], index: int, at: float, stretch: float, agent: str) -> float:
    """Tokens an agent newly sent and received in the `stretch` seconds before a moment, a minute."""
    spent = 0
    for place in range(index - 1, max(-1, index - 1 - _MOST), -1):
        event = events[place]
        if event.at < at - stretch:
            break
        if isinstance(event, Turn) and event.agent == agent:
            spent += event.input_tokens + event.cache_write + event.output_tokens
    return spent * 60.0 / stretch
