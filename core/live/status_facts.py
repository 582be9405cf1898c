"""Gathers what a status needs to know of a session, event by event or from what a recording tells."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from copy import copy

from msgspec.structs import replace

from core.engine.engine import Step
from core.engine.society import Society
from core.engine.story import FAILING
from core.events import MAIN, AgentEnd, Event, Matter, Prompt, SessionStart, ToolUse, Turn
from core.live.status import AgentTrouble, Open, StatusFacts
from core.report.agents import agent_names, as_sub_agent
from core.report.closing import Close, begins_turn, finishes, next_close
from core.report.turn_endings import EndingReader, TurnWork

OVER = ("done", "said", "ended")
"""What the last event leaves behind when a turn is over."""
_TURNS = 8


class StatusTracker:
    """Since when each agent of a session is stuck or in flow, and how its last turn closed.

    An event costs a few comparisons; what it remembers is bounded by the agents in trouble.
    """

    __slots__ = (
        "_final",
        "_flow",
        "_stuck",
        "before_end",
        "close",
        "closed",
        "endings",
        "events",
        "last",
        "prompted",
        "synthetic",
        "turn",
        "turns",
        "untold",
        "work",
    )

    def __init__(self, final: Sequence[str]) -> None:
        self._final = frozenset(final)
        self._stuck: dict[str, float] = {}
        self._flow: float | None = None
        self.events = 0
        self.last = 0.0
        """When the latest event happened."""
        self.close: Close = ""
        self.closed = 0.0
        self.before_end: Close = ""
        self.turn = 0.0
        """When the main agent was last set to work."""
        self.prompted = 0.0
        """When the person last prompted it."""
        self.turns: deque[Turn] = deque(maxlen=_TURNS)
        """Its last answers since then."""
        self.work = TurnWork()
        """What it did since then."""
        self.endings = EndingReader()
        """Reads the last words of turns, from the logs that it may read."""
        self.synthetic = False
        self.untold: tuple[Matter, ...] = ()

    def copy(self) -> StatusTracker:
        """One that goes on from here by itself."""
        made = copy(self)
        made._stuck, made.turns = dict(self._stuck), self.turns.copy()
        return made

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
            if not event.interrupt:
                self.turns.clear()
                self.work = TurnWork()
        elif type(event) is Turn:
            self.turns.append(event)
        elif type(event) is ToolUse:
            self.work = self.work.after(event)
        close = next_close(event, self.close, self.closed, self._final)
        if close and begins_turn(self.close, close):
            self.turn = event.at
        if close:
            if close == "ended" != self.close:
                self.before_end = self.close
            self.close, self.closed = close, event.at
        if type(event) is SessionStart:
            self.synthetic, self.untold = event.synthetic_time, event.untold

    def facts(
        self,
        society: Society,
        held: Sequence[Event] = (),
        *,
        begun: int = 0,
        heard: float | None = None,
        lost: str = "",
        read: float = 1.0,
    ) -> StatusFacts:
        """All that is known now; `held` are calls without an answer and a turn the log has not closed.

        So many of them are `begun` in the log and count as events.
        """
        close, closed = self.close, self.closed
        for event in held:
            closes = type(event) is Turn or finishes(event)
            said = next_close(event, close, closed, self._final) if closes else ""
            if said and event.agent == MAIN and event.at >= closed:
                close, closed = said, event.at
        turns = [one for one in held if type(one) is Turn and one.agent == MAIN]
        facts = with_minds(
            society,
            StatusFacts(
                events=self.events + begun,
                heard=self.last if heard is None else heard,
                close=close,
                closed=closed,
                before_end=self.before_end if close == "ended" else "",
                turn=self.turn,
                prompted=self.prompted,
                open=open_calls(held),
                flow=self._flow,
                synthetic=self.synthetic,
                untold=self.untold,
                lost=lost,
                read=read,
            ),
            self._stuck,
        )
        return with_ending(facts, self.endings, [*reversed(turns), *reversed(self.turns)], self.work)


def with_ending(
    facts: StatusFacts, reader: EndingReader, turns: Iterable[Turn], work: TurnWork
) -> StatusFacts:
    """The facts with how the last turn ended, judged from its words if the turn is over."""
    if facts.close not in OVER or facts.before_end == "stopped":
        return facts
    return replace(facts, ending=reader.judge(turns, work), only_failed=work.only_failed)


def with_minds(
    society: Society,
    log: StatusFacts,
    stuck: Mapping[str, float],
    whole: Society | None = None,
) -> StatusFacts:
    """What the log tells together with what the minds do; sub-agents are called as in the `whole` session.

    Those that it has forgotten are called as they were here.
    """
    people = society.read()
    gauge = society.engine(MAIN).mind.heart.gauge
    working = [one.name for one in people.agents if one.awake and one.ended is None]
    if log.close == "ended":
        working = [name for name in working if name == MAIN]

    def named(trouble: AgentTrouble | None) -> AgentTrouble | None:
        """Trouble of a sub-agent with what the screen calls it."""
        if trouble is None or trouble.agent == MAIN:
            return trouble
        called = agent_names(people.agents)
        if whole is not None:
            called |= agent_names(whole.read().agents)
        return trouble._replace(why=f"{as_sub_agent(called[trouble.agent])}: {trouble.why}")

    return replace(
        log,
        loop=named(_loop(society, working)),
        stuck=named(_stuck(stuck, society, working)),
        flow=log.flow if _flows(society) else None,
        context=gauge.fill,
        turns_left=gauge.turns_left(),
        running=sum(name != MAIN for name in working),
        subagents=people.finished + people.running - 1,
    )


def open_calls(held: Iterable[Event]) -> tuple[Open, ...]:
    """Calls without an answer, oldest first."""
    calls = [call for call in held if isinstance(call, ToolUse) and call.outcome == "pending"]
    return tuple(
        Open(call.at, call.agent, call.tool, call.action, call.purpose) for call in sorted(calls, key=_time)
    )


def _flows(society: Society) -> bool:
    """Whether flow may be told: nothing stands beside it that says otherwise."""
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


def _time(event: Event) -> float:
    return event.at
