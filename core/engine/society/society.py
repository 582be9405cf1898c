"""The minds of one session at work: each event goes to its agent's, and affect passes between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from math import inf
from typing import Any

from core.engine.affect import BUILT_IN, Commons, Emission, Neighbour, Peer, Policy
from core.engine.affect.lineage import NO_PARTNER
from core.engine.engine import Engine, Frame, Step
from core.engine.response import Learned, RuleSet
from core.engine.society.readings import SocietyReading, tree
from core.engine.society.session_agents import EngineMaker, SessionAgent, SessionAgents
from core.engine.state import KeptField, Stateful, inner, mapped
from core.events import MAIN, AgentEnd, AgentStart, Event, ToolUse
from core.settings import Settings

_NEIGHBOURS = 16
"""Other sessions in the same folder whose last report is remembered."""


def _of_agents(
    name: str, save: Callable[[SessionAgents], Any], load: Callable[[SessionAgents, Any], None]
) -> KeptField:
    return KeptField(
        name,
        "save_{name}(self._agents)",
        "load_{name}(self._agents, {value})",
        ((f"save_{name}", save), (f"load_{name}", load)),
    )


class Society(Stateful):
    """Route each event to its agent's engine, and let affect pass along delegation, files and broadcast.

    An event costs one engine's step; what concerns all agents happens in rounds, every so many events.
    """

    __slots__ = ("_agents", "_commons", "_count", "_every", "_heard", "_inherited", "settings")
    VERSION = 2
    NAMED = True
    STATE = (
        "_count",
        KeptField("forgotten", "self._agents.forgotten", "self._agents.forgotten = {value}"),
        mapped("_heard"),
        _of_agents("members", SessionAgents.dump_awake, SessionAgents.load_awake),
        KeptField(
            "finished", "tuple(self._agents.finished)", "self._agents.finished = dict.fromkeys({value})"
        ),
        _of_agents("summaries", SessionAgents.dump_summaries, SessionAgents.load_summaries),
        inner("_commons"),
    )

    def __init__(
        self,
        settings: Settings,
        *,
        policy: Policy | None = None,
        seed: int = 0,
        make_engine: EngineMaker = Engine,
        rules: RuleSet | None = None,
        learned: Learned | None = None,
    ) -> None:
        self.settings = settings
        affect = (policy or BUILT_IN).over(settings.affect)
        given = {"rules": rules, "learned": learned}
        inputs = {one: value for one, value in given.items() if value is not None}
        make = partial(make_engine, settings, policy=policy, **inputs)
        self._agents = SessionAgents(affect.society, make, seed)
        self._every = affect.contagion.every
        self._inherited = affect.inheritance.depth
        self._commons = Commons(affect.contagion)
        self._heard: dict[str, float] = {}
        """Other sessions in the same folder, and when each last reported."""
        self._count = 0
        self._agents.join(MAIN, 0)

    @property
    def agents(self) -> tuple[str, ...]:
        """Every agent that is awake, in the order they came."""
        return tuple(self._agents.awake)

    def engine(self, agent: str = MAIN) -> Engine:
        """The engine of an agent that is awake; once that one is summed up, it serves another."""
        return self._agents.awake[agent].engine

    def step(self, event: Event) -> Step:
        """Let one agent take in one event."""
        agent = event.agent
        agents = self._agents
        member = agents.awake.get(agent) or agents.join(agent, self._count)
        self._count += 1
        member.events += 1
        member.last = self._count
        order = agents.order
        del order[agent]
        order[agent] = None
        step = member.engine.step(event)
        kind = type(event)
        if kind is ToolUse:
            if event.targets and event.action in ("file_edit", "file_read"):  # type: ignore[union-attr]
                self._commons.touch(agent, event.targets)  # type: ignore[union-attr]
        elif kind is AgentStart:
            self._begin(member, event)  # type: ignore[arg-type]
        elif kind is AgentEnd:
            self._end(member, event)  # type: ignore[arg-type]
        if self._count % self._every == 0:
            self._round()
        return step

    @property
    def neighbours(self) -> tuple[tuple[str, float], ...]:
        """Other sessions in the same folder that were heard of, and when each last reported."""
        return tuple(self._heard.items())

    def hear(self, neighbours: Iterable[Neighbour]) -> None:
        """Take in what other sessions in the same folder report, each report once.

        It draws the main agent's attention with its next event, and policy bounds what of it is felt.
        """
        engine = self.engine()
        for one in neighbours:
            if self._heard.get(one.session, -inf) >= one.at:
                continue
            self._heard.pop(one.session, None)
            self._heard[one.session] = one.at
            if len(self._heard) > _NEIGHBOURS:
                del self._heard[next(iter(self._heard))]
            engine.mind.tell("peer")
            shown = Emission(one.deviations, NO_PARTNER)
            engine.affect.receive(shown, "tree", one.session, self._commons.zone.factors)

    def see_changed(self, files: Iterable[tuple[str, float]]) -> None:
        """Take in when files that the main agent worked on last changed on disk."""
        heatmap = self.engine().receptor.heatmap
        for path, at in files:
            heatmap.see_changed(path, at)

    def frame(self, agent: str | None = None, at: float | None = None) -> Frame:
        """The frame of one agent that is awake, of the main one where none is named."""
        return self.engine(MAIN if agent is None else agent).frame(at)

    def read(self) -> SocietyReading:
        """All agents and what they make together."""
        known = self._agents.read()
        running = [member for member in self._agents.awake.values() if member.ended is None]
        moved = [member.engine.affect.deviations for member in running]
        loudest = max(range(len(running)), key=lambda place: max(map(abs, moved[place])))
        over = sum(1 for reading in known.values() if reading.ended is not None)
        forgotten = self._agents.forgotten
        return SocietyReading(
            agents=tuple(tree(known)),
            running=len(running),
            finished=over + forgotten,
            forgotten=forgotten,
            quarantined=tuple(member.name for member in running if member.engine.affect.quarantined),
            mean=tuple(sum(column) / len(moved) for column in zip(*moved, strict=True)),
            loudest=running[loudest].name if any(moved[loudest]) else "",
            zone=self._commons.zone.read(),
            rounds=self._commons.rounds,
            neighbours=self.neighbours,
        )

    def _begin(self, parent: SessionAgent, event: AgentStart) -> None:
        name = event.child
        agents = self._agents
        if name == MAIN or agents.descends(parent.name, name):
            return
        child = agents.awake.get(name) or agents.join(name, self._count)
        if child.parent and child.ended is None:
            return
        agents.finished.pop(name, None)
        child.parent, child.role = parent.name, event.role
        child.started, child.ended, child.outcome = event.at, None, ""
        handed = parent.engine.affect.hand_down(name, agents.generation(name, self._inherited))
        if handed is not None:
            child.engine.affect.receive(handed, "inheritance", parent.name)

    def _end(self, parent: SessionAgent, event: AgentEnd) -> None:
        name = event.child
        agents = self._agents
        child = agents.awake.get(name)
        if child is None:
            agents.finish_unseen(parent.name, event)
            return
        if name == MAIN or child.ended is not None:
            return
        if child.parent != parent.name and agents.descends(parent.name, name):
            return
        child.parent = child.parent or parent.name
        child.ended, child.outcome = event.at, event.outcome
        if child.events:
            last = child.engine.affect.report(parent.name)
            if last is not None:
                parent.engine.affect.receive(last, "return", name)
        agents.finish(name)

    def _round(self) -> None:
        peers = {
            name: Peer(member.engine.affect, member.parent)
            for name, member in self._agents.awake.items()
            if member.ended is None
        }
        self._commons.round(peers, MAIN)
