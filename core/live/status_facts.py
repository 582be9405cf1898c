"""Gathers what a status needs to know of a session, event by event or from what a recording tells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from core.engine import Step
from core.events import MAIN, AgentEnd, Event, Matter, Prompt, SessionStart, ToolUse, Turn
from core.live.status import AgentTrouble, Open, StatusFacts
from core.report.agents import agent_names, as_sub_agent
from core.report.closing import Close, begins_turn, next_close
from core.society import Society
from core.story import FAILING, told_regime


class StatusTracker:
    """Since when each agent of a session is stuck, quarantined or in flow, and how its last turn closed.

    An event costs a few comparisons; what it remembers is bounded by the agents in trouble.
    """

    __slots__ = (
        "_final",
        "_flow",
        "_quarantined",
        "_stuck",
        "close",
        "closed",
        "events",
        "last",
        "prompted",
        "synthetic",
        "turn",
        "untold",
    )

    def __init__(self, final: Sequence[str]) -> None:
        self._final = frozenset(final)
        self._stuck: dict[str, float] = {}
        self._quarantined: dict[str, float] = {}
        self._flow: float | None = None
        self.events = 0
        self.last = 0.0
        """When the latest event happened."""
        self.close: Close = ""
        self.closed = 0.0
        self.turn = 0.0
        """When the main agent was last set to work."""
        self.prompted = 0.0
        """When the person last prompted it."""
        self.synthetic = False
        self.untold: tuple[Matter, ...] = ()

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
        if step.mood.quarantined:
            self._quarantined.setdefault(agent, at)
        elif self._quarantined:
            self._quarantined.pop(agent, None)
        if agent == MAIN:
            self._main(event, step)
        if type(event) is AgentEnd:
            self._stuck.pop(event.child, None)
            self._quarantined.pop(event.child, None)

    def _main(self, event: Event, step: Step) -> None:
        signals = step.percept.signals
        if not signals or signals[0].name != "flow_active":
            self._flow = None
        elif self._flow is None:
            self._flow = event.at
        if type(event) is Prompt:
            self.prompted = event.at
        close = next_close(event, self.close, self.closed, self._final)
        if close and begins_turn(self.close, close):
            self.turn = event.at
        if close:
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
            said = next_close(event, close, closed, self._final) if type(event) is Turn else ""
            if said and event.agent == MAIN and event.at >= closed:
                close, closed = said, event.at
        return with_minds(
            society,
            StatusFacts(
                events=self.events + begun,
                heard=self.last if heard is None else heard,
                close=close,
                closed=closed,
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
            self._quarantined,
        )


def with_minds(
    society: Society,
    log: StatusFacts,
    stuck: Mapping[str, float],
    quarantined: Mapping[str, float],
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
    halt, fuse = _halt(society)

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
        halt=halt,
        fuse=fuse,
        quarantine=named(_first(quarantined, working, "affect is quarantined")),
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
    return tuple(Open(call.at, call.agent, call.tool, call.action) for call in sorted(calls, key=_time))


def _flows(society: Society) -> bool:
    """Whether flow may be told: nothing stands beside it that says otherwise."""
    main = society.engine(MAIN)
    regime, failing = main.mind.heart.regime, main.receptor.failure_rate
    told = told_regime(regime.regime, regime.candidate, failing, main.receptor.facts.failures_recent)
    return told in ("calm", "progress") and failing < FAILING


def _halt(society: Society) -> tuple[AgentTrouble | None, bool]:
    reading = society.engine(MAIN).governor.read()
    if reading.state != "HALTED":
        return None, False
    return AgentTrouble(reading.episode.halted_at, reading.would_halt), reading.halt == "EXTERNAL"


def _loop(society: Society, working: Sequence[str]) -> AgentTrouble | None:
    for name in working:
        loop = society.engine(name).response.loops.current
        if loop is not None:
            return AgentTrouble(loop.began_at, loop.what, name)
    return None


def _first(since: Mapping[str, float], working: Sequence[str], why: str) -> AgentTrouble | None:
    for name in working:
        if name in since:
            return AgentTrouble(since[name], why, name)
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
