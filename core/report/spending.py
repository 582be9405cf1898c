"""The cost of a session at any place of its recording, and its rate."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from core.events import Event, Turn
from core.report.cost import charge_of
from core.report.sums import added

_STRETCH = 3600.0  # Seconds over which the pace is taken.
_LEAST = 300.0  # Seconds below which there is no rate yet.


class Spent(NamedTuple):
    """US dollars of all agents of a session so far."""

    dollars: float = 0.0
    priced: int = 0  # Turns whose price is known.
    unpriced: int = 0
    rate: float | None = None  # Dollars per hour, recently; None if it is too early.


class Spending:
    """Running sums over a recording's turns; each event is looked at once."""

    __slots__ = ("_dollars", "_events", "_places", "_priced", "_seen", "_times")

    def __init__(self, events: Sequence[Event]) -> None:
        self._events = events
        self._seen = 0
        self._places: list[int] = []
        self._times: list[float] = []
        self._dollars: list[float] = [0.0]
        self._priced: list[int] = [0]

    def at(self, index: int, moment: float, pending: Sequence[Event] = ()) -> Spent:
        """After the first `index` events, at a moment that is not before the last of them.

        `held` is what the log has begun and not ended: a turn among it has its price already.
        """
        self._grow()
        turns = bisect_left(self._places, index)
        pending_charge = added(charge_of(event) for event in pending if isinstance(event, Turn))
        dollars, priced = self._dollars[turns], self._priced[turns]
        return Spent(
            dollars + pending_charge.dollars,
            priced + pending_charge.priced,
            turns - priced + pending_charge.unpriced,
            self._rate(turns, moment),
        )

    def _rate(self, turns: int, moment: float) -> float | None:
        if not turns or not self._priced[turns]:
            return None
        since = max(self._times[0], moment - _STRETCH)
        if moment - since < _LEAST:
            return None
        first = min(turns, bisect_right(self._times, since) - (since == self._times[0]))
        return (self._dollars[turns] - self._dollars[max(0, first)]) * 3600.0 / (moment - since)

    def _grow(self) -> None:
        events = self._events
        for place in range(self._seen, len(events)):
            event = events[place]
            if isinstance(event, Turn) and not event.only_ends:
                self._places.append(place)
                self._times.append(max(event.at, self._times[-1] if self._times else event.at))
                charge = charge_of(event)
                self._dollars.append(self._dollars[-1] + charge.dollars)
                self._priced.append(self._priced[-1] + charge.priced)
        self._seen = len(events)
