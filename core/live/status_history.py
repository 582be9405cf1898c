"""What a status needs to know at any place of a recording, without running it again."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Collection, Sequence

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from core.engine.percept import AGENT_STATES, SIGNALS
from core.engine.society import Society
from core.events import MAIN, Prompt, SessionStart, ToolUse
from core.live.status import Limits, Open, Status, StatusFacts, Word, status_of
from core.live.status_facts import OVER, with_ending, with_minds
from core.report.closing import Close, LastWord, begins_turn, last_word, next_close
from core.report.turn_endings import EndingReader, turn_of
from core.timeline.run import Track
from core.timeline.timeline import Timeline

_STUCK = float(AGENT_STATES.index("stuck"))
_FLOW = 1 << SIGNALS.index("flow_active")
_BLOCK = 512
"""Rows looked at together on the way back."""


_AT_WORK: frozenset[Word] = frozenset(("working", "idle"))
"""Statuses that nothing has after the end of a saved log."""
_MORE = 1.0
"""Seconds beyond a limit, which no rounding of times takes back."""


class StatusHistory:
    """The facts after any number of a recording's events; each event is looked at once."""

    def __init__(self, timeline: Timeline, final: Sequence[str]) -> None:
        self._timeline = timeline
        self._final = frozenset(final)
        self._seen = 0
        self._calls = array("q")
        """Places of calls."""
        self._began = array("d")
        """When each of them was made."""
        self._answered: dict[str, int] = {}
        """Place of each agent's last event that is not a call without an answer."""
        self._clocks: list[tuple[int, bool]] = []
        """Where the log's times begin to be made up, or not to be."""
        self._turns = array("q")
        """Places at which the main agent was set to work."""
        self._prompts = array("q")
        """Places of the person's prompts to it."""
        self._last_close: Close = ""
        self._last_closed = 0.0
        self.endings = EndingReader()
        """Reads the last words of turns, from the logs that it may read."""

    def facts(self, index: int, society: Society) -> StatusFacts:
        """After the first `index` events, open calls left out; `society` is as it was there."""
        self._grow()
        left = self._last_word(index)
        close = left.close
        clocks = [made_up for place, made_up in self._clocks if place < index]
        log = StatusFacts(
            events=index,
            heard=self._timeline.time_of(index) if index else 0.0,
            close=close,
            closed=left.at,
            before_end=left.before_end,
            turn=self._time_before(self._turns, index),
            prompted=self._time_before(self._prompts, index),
            flow=self._since(MAIN, index, "signals"),
            synthetic=bool(clocks and clocks[-1]),
        )
        awake = [one.name for one in society.read().agents if one.awake and one.ended is None]
        stuck = {name: at for name in awake if (at := self._since(name, index, "state")) is not None}
        facts = with_minds(society, log, stuck, self._timeline.society)
        if close not in OVER:
            return facts
        track, events = self._timeline.tracks.get(MAIN), self._timeline.events
        rows = range(track.row(index - 1), -1, -1) if track is not None else ()
        turns, work = turn_of(events[track.indexes[row]] for row in rows if track is not None)
        return with_ending(facts, self.endings, turns, work)

    def open_calls(self, index: int, at: float, asking: Collection[str] = frozenset()) -> tuple[Open, ...]:
        """Calls made by a moment and not answered among the first `index` events, oldest first.

        A question whose answer is the next event counts as well: no place lies nearer to its asking.
        """
        self._grow()
        events = self._timeline.events
        first = bisect_left(self._calls, index)
        began = np.frombuffer(self._began, np.float64)[first:] if self._calls else np.empty(0)
        numbers = [first + int(number) for number in np.flatnonzero(began <= at)]
        coming = events[index] if index < len(events) else None
        if isinstance(coming, ToolUse) and coming.tool in asking and first not in numbers:
            numbers.append(first)
        for number in range(first - 1, -1, -1):
            place = self._calls[number]
            call = events[place]
            if not isinstance(call, ToolUse) or call.outcome != "pending":
                break
            if self._answered.get(call.agent, -1) < place:
                numbers.append(number)
        found = sorted((self._began[number], self._calls[number]) for number in numbers)
        calls = [(since, events[place]) for since, place in found]
        return tuple(
            Open(since, call.agent, call.tool, call.action, call.purpose)
            for since, call in calls
            if isinstance(call, ToolUse)
        )

    def status(
        self,
        facts: StatusFacts,
        index: int,
        at: float,
        limits: Limits,
        *,
        waiting: Sequence[Open] = (),
        ended: bool = False,
    ) -> Status:
        """How the session stood at a place, from the facts there.

        `waiting` are calls the log has not answered; after a saved log's last word (`ended`) nothing comes.
        """
        calls = [*self.open_calls(index, at, limits.asking), *(one for one in waiting if one.at <= at)]
        known = replace(facts, open=tuple(sorted(calls)))
        now = max(at, known.heard)
        said = ended and known.close == "said"
        status = status_of(known, now + limits.idle + _MORE if said else now, limits)
        if ended and status.word in _AT_WORK:
            return status_of(known, now + limits.fleet.left + _MORE, limits)
        return status

    def _grow(self) -> None:
        events = self._timeline.events
        for place in range(self._seen, len(events)):
            event = events[place]
            pending = False
            if isinstance(event, ToolUse):
                pending = event.outcome == "pending"
                self._calls.append(place)
                self._began.append(event.at if pending else event.at - (event.duration or 0.0))
            elif isinstance(event, SessionStart) and event.agent == MAIN:
                self._clocks.append((place, event.synthetic_time))
            if not pending:
                self._answered[event.agent] = place
            if isinstance(event, Prompt) and event.agent == MAIN:
                self._prompts.append(place)
            if event.agent == MAIN:
                close = next_close(event, self._last_close, self._last_closed, self._final)
                if close and begins_turn(self._last_close, close):
                    self._turns.append(place)
                if close:
                    self._last_close, self._last_closed = close, event.at
        self._seen = len(events)

    def _time_before(self, places: Sequence[int], index: int) -> float:
        """When the last of some events was that lie before a place; 0 where there is none."""
        number = bisect_left(places, index) - 1
        return self._timeline.events[places[number]].at if number >= 0 else 0.0

    def _last_word(self, index: int) -> LastWord:
        """Return what the main agent's events up to there leave behind."""
        track, events = self._timeline.tracks.get(MAIN), self._timeline.events
        rows = range(track.row(index - 1), -1, -1) if track is not None else ()
        places = (track.indexes[row] for row in rows if track is not None)
        return last_word((events[place] for place in places), self._final)

    def _since(self, agent: str, index: int, column: str) -> float | None:
        """Since when a column of an agent says without a break what it says now; None where it does not."""
        track = self._timeline.tracks.get(agent)
        row = -1 if track is None else track.row(index - 1)
        if track is None or row < 0 or not _says(track, column, row, row + 1)[0]:
            return None
        while row > 0:
            start = max(0, row - _BLOCK)
            breaks = np.flatnonzero(~_says(track, column, start, row))
            if len(breaks):
                row = start + int(breaks[-1]) + 1
                break
            row = start
        return self._timeline.events[track.indexes[row]].at


def _says(track: Track, column: str, start: int, stop: int) -> NDArray[np.bool_]:
    """In which rows an agent was stuck or in flow."""
    values = track.columns.column(column, start, stop)
    if column == "state":
        return np.equal(values, _STUCK)
    if column == "signals":
        values = np.bitwise_and(values.astype(np.int64), _FLOW).astype(np.float32)
    return np.not_equal(values, 0.0)
