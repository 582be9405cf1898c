"""Each agent of a session: its name, work, cost and readings, at any place of a recording."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

from msgspec import Struct, field

from core.engine.affect.lineage import describe_entry
from core.engine.mind.fabric import ThinkingStarted
from core.engine.percept import spell_name
from core.engine.society import AgentReading
from core.engine.society.engine import Frame
from core.events import MAIN, AgentStart, Event, Prompt, ToolUse, Turn
from core.report.cost import charge_of
from core.report.event_words import task_words
from core.report.formatting import count, plain, short
from core.report.sums import Sum


def agent_names(agents: Sequence[AgentReading]) -> dict[str, str]:
    """Return a name for each agent by its role, numbered if several share one."""
    roles = Counter(_role(agent) for agent in agents)
    name_counts: Counter[str] = Counter()
    names = {}
    for agent in sorted(agents, key=lambda one: math.inf if one.started is None else one.started):
        role = _role(agent)
        name_counts[role] += 1
        names[agent.name] = f"{role} {name_counts[role]}" if roles[role] > 1 else role
    return names


def as_sub_agent(name: str) -> str:
    """Return the name of a sub-agent in a sentence about a whole session."""
    return name if name.startswith("sub-agent") else f"sub-agent {name}"


def _role(agent: AgentReading) -> str:
    return MAIN if agent.name == MAIN else plain(agent.role, 24) or "sub-agent"


class AgentOverview(Struct):
    """One agent up to a place; its text is read from the events when it is shown."""

    task: Event | None = None  # Its first prompt, else the event that started it.
    last: ToolUse | None = None
    calls: int = 0
    failures: int = 0
    cost: Sum = field(default_factory=Sum)


class AgentLedger:
    """Caches the summaries of a recording; moving forward reads only new events, moving back starts over."""

    def __init__(self, events: Sequence[Event]) -> None:
        self._events = events
        self._upto = 0
        self._agents: dict[str, AgentOverview] = {}

    def at(self, index: int) -> dict[str, AgentOverview]:
        """Every agent after the first `index` events, by name."""
        if index < self._upto:
            self._upto, self._agents = 0, {}
        for place in range(self._upto, min(index, len(self._events))):
            self._take(self._events[place])
        self._upto = max(self._upto, min(index, len(self._events)))
        return self._agents

    def _take(self, event: Event) -> None:
        if isinstance(event, AgentStart):
            started = self._agents.setdefault(event.child, AgentOverview())
            started.task = started.task or event
        one = self._agents.setdefault(event.agent, AgentOverview())
        if isinstance(event, Prompt) and not event.interrupt:
            if one.task is None or isinstance(one.task, AgentStart):
                one.task = event
        elif isinstance(event, ToolUse):
            if one.last is None or event.at >= one.last.at:  # a call without an answer is told late
                one.last = event
            one.calls += 1
            one.failures += event.outcome == "failure"
        elif isinstance(event, Turn):
            one.cost.add(charge_of(event))


FieldTitle = Literal["intent", "context", "memory", "policy", "mutation", "lineage"]


class AgentField(NamedTuple):
    """One of the six fields."""

    name: FieldTitle
    words: str


def agent_fields(frame: Frame) -> tuple[AgentField, ...]:
    """Purpose, situation, history, constraints, last change and provenance of an agent at a moment."""
    mind, affect, governor = frame.mind, frame.affect, frame.governor
    thinking = next((one for one in reversed(mind.events) if isinstance(one, ThinkingStarted)), None)
    task = ", ".join(task_words(name) for name, _ in mind.episodes.task[:3])
    intent = spell_name(frame.receptor.behaviour.short.pattern) + (f": {task}" if task else "")
    if thinking is not None:
        intent += f", asked {_ago(frame.at - thinking.at)} ago"
    episodes = mind.episodes
    remembered = f", {episodes.remembered} from before" if episodes.remembered else ""
    last = describe_entry(affect.lineage[-1]) if affect.lineage else None
    moved = "none yet"
    if last is not None:
        most = max(last.changes, key=lambda one: abs(one.after - one.before), default=None)
        moved = last.act if most is None else f"{last.act}: {most.field} {most.after - most.before:+.2f}"
    return (
        AgentField("intent", intent),
        AgentField("context", f"{mind.sleep.context:.0%} full, {short(mind.sleep.context_tokens)} tokens"),
        AgentField("memory", f"{count(episodes.kept, 'episode')}{remembered}, {frame.receptor.heatmap.leaves} paths"),
        AgentField("policy", f"{affect.policy}, governor {governor.profile_name}"),
        AgentField("mutation", moved.replace("_", " ")),
        AgentField("lineage", f"{count(affect.changes, 'change')}, the newest with fingerprint {affect.head[:10]}"),
    )


def _ago(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 60 else f"{max(0.0, seconds):.0f} s"
