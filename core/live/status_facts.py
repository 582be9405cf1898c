"""The facts a status follows from: gathered live, read off a recording, and put into the log's words."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from operator import attrgetter
from pathlib import Path

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from core.agents.words import NOTHING, WordReader
from core.engine.percept import AGENT_STATES, SIGNALS
from core.engine.society import Society
from core.engine.society.engine import FAILING, Step
from core.events import MAIN, AgentEnd, Event, Matter, Prompt, Rollback, SessionEnd, SessionStart, ToolUse, Turn
from core.live.status import QUICK_ACTIONS, AgentTrouble, Limits, Open, Status, StatusFacts, Word, status_of
from core.report.agents import agent_names, as_sub_agent
from core.report.event_words import tool_words
from core.report.now import Now, first_row
from core.report.story import OVER, Close, begins_turn, finishes, last_word, next_close
from core.report.turn_endings import EndingReader, TurnWork, turn_of
from core.timeline.run import Track
from core.timeline.timeline import Timeline

_TURNS = 8


class StatusTracker:
    """Since when each agent of a session is stuck or in flow, and how its last turn closed.

    An event costs a few comparisons; what it remembers is bounded by the agents in trouble.
    """

    def __init__(self, final: Sequence[str]) -> None:
        self._final = frozenset(final)
        self._stuck: dict[str, float] = {}
        self._flow: float | None = None
        self.events = 0
        self.last = 0.0  # When the latest event happened.
        self.close: Close = ""
        self.closed = 0.0
        self.before_end: Close = ""
        self.end = ""  # Why the session is over.
        self.turn = 0.0  # When the main agent was last set to work.
        self.prompted = 0.0  # When the person last prompted it.
        self.turns: deque[Turn] = deque(maxlen=_TURNS)  # Its last answers since then.
        self.work = TurnWork()  # What it did since then.
        self.endings = EndingReader()  # Reads the last words of turns, from the logs that it may read.
        self.synthetic = False
        self.mode = ""  # What it may do without asking.
        self.untold: tuple[Matter, ...] = ()

    def copy(self) -> StatusTracker:
        """Return an independent copy."""
        tracker = copy(self)
        tracker._stuck, tracker.turns = dict(self._stuck), self.turns.copy()
        return tracker

    def update(self, event: Event, step: Step) -> None:
        """Take in one event and what it did."""
        self.events += 1
        agent, at = event.agent, event.at
        if at > self.last:
            self.last = at
        if step.percept.state == "stuck":
            self._stuck.setdefault(agent, at)
        elif self._stuck:
            self._stuck.pop(agent, None)
        if agent == MAIN:
            self._main(event, step)
        if type(event) is AgentEnd:
            self._stuck.pop(event.child, None)

    def _main(self, event: Event, step: Step) -> None:
        signals = step.percept.signals
        if not signals or signals[0].name != "flow_active":
            self._flow = None
        elif self._flow is None:
            self._flow = event.at
        if type(event) is Prompt:
            self.prompted = event.at
        self._work_on(event)
        close = next_close(event, self.close, self.closed, self._final)
        if close and begins_turn(self.close, close):
            self.turn = event.at
        if close:
            if close == "ended" != self.close:
                self.before_end = self.close
            self.close, self.closed = close, event.at
        if type(event) is SessionEnd:
            self.end = event.reason
        if type(event) is SessionStart:
            self.synthetic, self.untold = event.synthetic_time, event.untold

    def _work_on(self, event: Event) -> None:
        if isinstance(event, Prompt | Turn):
            self.mode = event.mode or self.mode
        if type(event) is Rollback or (type(event) is Prompt and not event.interrupt):
            self.turns.clear()
            self.work = TurnWork()
        elif type(event) is Turn:
            self.turns.append(event)
        elif type(event) is ToolUse:
            self.work = self.work.after(event)

    def facts(
        self,
        society: Society,
        pending: Sequence[Event] = (),
        *,
        in_log: int = 0,
        heard: float | None = None,
        lost: str = "",
        read: float = 1.0,
        pause: bool = True,
    ) -> StatusFacts:
        """All that is known now; `pending` are calls without an answer and a turn the log has not closed.

        So many of them are `in_log` and count as events. Words that do not end a turn for sure are judged at a `pause`.
        """
        close, closed = self.close, self.closed
        for event in pending:
            closes = type(event) is Turn or finishes(event)
            next_state = next_close(event, close, closed, self._final) if closes else ""
            if next_state and event.agent == MAIN and event.at >= closed:
                close, closed = next_state, event.at
        turns = [one for one in pending if type(one) is Turn and one.agent == MAIN]
        facts = with_minds(
            society,
            StatusFacts(
                events=self.events + in_log,
                heard=self.last if heard is None else heard,
                close=close,
                closed=closed,
                before_end=self.before_end if close == "ended" else "",
                end=self.end if close == "ended" else "",
                turn=self.turn,
                prompted=self.prompted,
                open=open_calls(pending),
                flow=self._flow,
                synthetic=self.synthetic,
                mode=self.mode,
                untold=self.untold,
                lost=lost,
                read=read,
            ),
            self._stuck,
        )
        if facts.close == "said" and not pause:
            return facts
        return with_ending(facts, self.endings, [*reversed(turns), *reversed(self.turns)], self.work)


def with_ending(facts: StatusFacts, reader: EndingReader, turns: Iterable[Turn], work: TurnWork) -> StatusFacts:
    """The facts with how the last turn ended, judged from its words if the turn is over."""
    if facts.close not in OVER or facts.before_end in ("stopped", "rolled back"):
        return facts
    return replace(facts, ending=reader.judge(turns, work), only_failed=work.only_failed)


def with_minds(
    society: Society, log: StatusFacts, stuck: Mapping[str, float], whole: Society | None = None
) -> StatusFacts:
    """Join the log's facts with the minds' readings; sub-agents are named as in the `whole` session.

    Those that it has forgotten are called as they were here.
    """
    people = society.read()
    gauge = society.engine(MAIN).mind.heart.gauge
    working = [one.name for one in people.agents if one.awake and one.ended is None]
    if log.close == "ended":
        working = [name for name in working if name == MAIN]

    def with_name(trouble: AgentTrouble | None) -> AgentTrouble | None:
        """Trouble of a sub-agent with what the screen calls it."""
        if trouble is None or trouble.agent == MAIN:
            return trouble
        called = agent_names(people.agents)
        if whole is not None:
            called |= agent_names(whole.read().agents)
        return trouble._replace(why=f"{as_sub_agent(called[trouble.agent])}: {trouble.why}")

    return replace(
        log,
        loop=with_name(_loop(society, working)),
        stuck=with_name(_stuck(stuck, society, working)),
        flow=log.flow if _flows(society) else None,
        context=gauge.fill,
        turns_left=gauge.turns_left(),
        running=sum(name != MAIN for name in working),
        subagents=people.finished + people.running - 1,
    )


def open_calls(pending: Iterable[Event]) -> tuple[Open, ...]:
    """Calls without an answer, oldest first."""
    calls = [call for call in pending if isinstance(call, ToolUse) and call.outcome == "pending"]
    return tuple(
        Open(call.at, call.agent, call.tool, call.action, call.purpose) for call in sorted(calls, key=attrgetter("at"))
    )


def _flows(society: Society) -> bool:
    """Whether flow may be shown: regime and failure rate do not contradict it."""
    main = society.engine(MAIN)
    return main.mind.heart.regime.regime in ("calm", "progress") and main.receptor.failure_rate < FAILING


def _loop(society: Society, working: Sequence[str]) -> AgentTrouble | None:
    for name in working:
        loop = society.engine(name).response.loops.current
        if loop is not None:
            return AgentTrouble(loop.began_at, loop.what, name)
    return None


def _stuck(since: Mapping[str, float], society: Society, working: Sequence[str]) -> AgentTrouble | None:
    """A storm of failures; the state alone, which good runs see as well, is not a reason to call a person."""
    for name in working:
        if name in since:
            receptor = society.engine(name).receptor
            if receptor.storm:
                failed = f"{receptor.facts.failures_in_a_row} actions in a row failed"
                return AgentTrouble(since[name], failed, name)
    return None


_STUCK = float(AGENT_STATES.index("stuck"))
_FLOW = 1 << SIGNALS.index("flow_active")
_BLOCK = 512  # Rows looked at together on the way back.


_AT_WORK: frozenset[Word] = frozenset(
    ("looping", "stuck", "working", "idle")
)  # Statuses that nothing has after the end of a saved log.
_MORE = 1.0  # Seconds beyond a limit, which no rounding of times takes back.


class StatusHistory:
    """The facts after any number of a recording's events; each event is looked at once."""

    def __init__(self, timeline: Timeline, final: Sequence[str]) -> None:
        self._timeline = timeline
        self._final = frozenset(final)
        self._seen = 0
        self._calls = array("q")  # Places of calls.
        self._began = array("d")  # When each of them was made.
        self._answered: dict[str, int] = {}  # Place of each agent's last event that is not a call without an answer.
        self._clocks: list[tuple[int, bool]] = []  # Where the log's times begin to be made up, or not to be.
        self._modes: list[tuple[int, str]] = []  # From where on it may do what without asking.
        self._turns = array("q")  # Places at which the main agent was set to work.
        self._prompts = array("q")  # Places of the person's prompts to it.
        self._last_close: Close = ""
        self._last_closed = 0.0
        self.endings = EndingReader()  # Reads the last words of turns, from the logs that it may read.

    def facts(self, index: int, society: Society) -> StatusFacts:
        """After the first `index` events, open calls left out; `society` is as it was there."""
        self._grow()
        left = last_word(self._backwards(index), self._final)
        close = left.close
        clocks = [made_up for place, made_up in self._clocks if place < index]
        modes = [mode for place, mode in self._modes if place < index]
        log = StatusFacts(
            events=index,
            mode=modes[-1] if modes else "",
            heard=self._timeline.time_of(index) if index else 0.0,
            close=close,
            closed=left.at,
            before_end=left.before_end,
            end=left.event.reason if type(left.event) is SessionEnd else "",
            turn=self._time_before(self._turns, index),
            prompted=self._time_before(self._prompts, index),
            flow=self._since(MAIN, index, "signals"),
            synthetic=bool(clocks and clocks[-1]),
        )
        awake = [one.name for one in society.read().agents if one.awake and one.ended is None]
        stuck = {name: at for name in awake if (at := self._since(name, index, "state")) is not None}
        facts = with_minds(society, log, stuck, self._timeline.society)
        return facts if close not in OVER else with_ending(facts, self.endings, *turn_of(self._backwards(index)))

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
        places = sorted((self._began[number], self._calls[number]) for number in numbers)
        calls = [(since, call) for since, place in places if isinstance(call := events[place], ToolUse)]
        return tuple(Open(since, call.agent, call.tool, call.action, call.purpose) for since, call in calls)

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
        """Return the session's status at a place, from the facts there.

        `waiting` are calls the log has not answered; after a saved log's last word (`ended`) nothing comes.
        """
        calls = [*self.open_calls(index, at, limits.asking), *(one for one in waiting if one.at <= at)]
        complete = replace(facts, open=tuple(sorted(calls)))
        now = max(at, complete.heard)
        only_answered = ended and complete.close == "said"
        status = status_of(complete, now + limits.idle + _MORE if only_answered else now, limits)
        if ended and (status.word in _AT_WORK or status.need == "permission"):
            return status_of(complete, now + limits.fleet.left + _MORE, limits)
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
                if isinstance(event, Prompt | Turn) and event.mode not in (
                    "",
                    self._modes[-1][1] if self._modes else "",
                ):
                    self._modes.append((place, event.mode))
                close = next_close(event, self._last_close, self._last_closed, self._final)
                if close and begins_turn(self._last_close, close):
                    self._turns.append(place)
                if close:
                    self._last_close, self._last_closed = close, event.at
        self._seen = len(events)

    def _time_before(self, places: Sequence[int], index: int) -> float:
        """Time of the last of some places before `index`; 0 if there is none."""
        number = bisect_left(places, index) - 1
        return self._timeline.events[places[number]].at if number >= 0 else 0.0

    def _backwards(self, index: int) -> Iterator[Event]:
        """Yield the main agent's events up to there, the newest first."""
        track, events = self._timeline.tracks.get(MAIN), self._timeline.events
        if track is not None:
            yield from (events[track.indexes[row]] for row in range(track.row(index - 1), -1, -1))

    def _since(self, agent: str, index: int, column: str) -> float | None:
        """Since when a column of an agent has been set without a break; None if it is not set."""
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


class NeedReader:
    """Reads the words of a need from the log, once for each need."""

    def __init__(self) -> None:
        self.last_turn: Turn | None = None  # The main agent's last answer.
        self._known: tuple[tuple[str, float | None], str] | None = None

    def words(
        self, status: Status, logs: Sequence[Path], pending: Callable[[], Sequence[Event]], asking: Collection[str]
    ) -> str:
        """Return the words of a need in one redacted line; blank if there is none."""
        if not status.need or status.words:
            return status.words
        key = status.need, status.since
        if self._known is None or self._known[0] != key:
            event = self.last_turn if status.need == "error" else _needing(status, pending(), asking)
            words = NOTHING if event is None else WordReader(logs).words(event)
            self._known = key, first_row(words.said or words.command)
        return self._known[1]


def with_now(status: Status, now: Now) -> Status:
    """A status of a recording with the words of its need, where what is going on there is that need."""
    if status.words:
        return status
    if status.need == "error":
        return replace(status, words=now.said)
    same = bool(status.need) and tool_words(status.tool) == now.tool
    return replace(status, words=first_row(now.doing)) if same else status


def _needing(status: Status, pending: Sequence[Event], asking: Collection[str]) -> ToolUse | None:
    """The oldest call without an answer that needs the person."""
    asks = status.need in ("question", "plan")
    calls = [one for one in pending if isinstance(one, ToolUse) and one.outcome == "pending"]
    fitting = [one for one in calls if (one.tool in asking if asks else one.action in QUICK_ACTIONS)]
    return min(fitting, key=lambda one: one.at, default=None)
