"""The minds of one session at work: each event goes to its agent's, and affect passes between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import inf
from typing import Any, NamedTuple

from blake3 import blake3
from msgspec import convert, to_builtins
from msgspec.structs import replace

from core.engine.affect.affect import Affect
from core.engine.affect.contagion import Channel, Emission, Zone
from core.engine.affect.fields import FIELDS
from core.engine.affect.lineage import NO_PARTNER
from core.engine.affect.policy import BUILT_IN, Policy
from core.engine.affect.reading import Neighbour
from core.engine.response.rules import Learned, RuleSet
from core.engine.society.engine import Engine, Frame, Step
from core.engine.society.reading import AgentReading, SocietyReading, tree
from core.engine.state import KeptField, Stateful, custom, inner, mapped
from core.engine.values import reading_of
from core.events import MAIN, AgentEnd, AgentStart, Event, ToolUse
from core.settings import Settings
from core.settings.affect import ContagionSettings, SocietySettings

_TOUCHED = 4  # Targets of one call that count as touched.


ALONE = (0.0,) * len(FIELDS)  # What one agent by itself adds to the mean of a session: it can draw nobody along.


class Peer(NamedTuple):
    """A running agent's affect, and who started it."""

    affect: Affect
    parent: str


class Commons(Stateful):
    """Remember who touched which file last, and pass affect on between agents that meet."""

    STATE = (
        "rounds",
        mapped("_paths"),
        custom("_pairs", tuple, lambda pairs: dict.fromkeys(map(tuple, pairs))),
        inner("zone"),
    )

    def __init__(self, settings: ContagionSettings) -> None:
        self._limit = settings.paths
        self._paths: dict[str, str] = {}
        self._pairs: dict[tuple[str, str], None] = {}
        self.zone = Zone(settings)
        self.rounds = 0

    def touch(self, agent: str, targets: tuple[str, ...]) -> bool:
        """Record the files an agent reads or edits; return whether it met whoever was there last."""
        paths, is_meeting = self._paths, False
        for path in targets[:_TOUCHED]:
            last = paths.pop(path, agent)
            paths[path] = agent
            if last != agent:
                self._pairs[(last, agent) if last < agent else (agent, last)] = None
                is_meeting = True
        while len(paths) > self._limit:
            del paths[next(iter(paths))]
        return is_meeting

    def round(self, peers: Mapping[str, Peer], caller: str) -> None:
        """Let all running agents show themselves first and receive then; `caller` broadcasts."""
        self.rounds += 1
        pairs, self._pairs = self._pairs, {}
        if len(peers) < 2:
            self.zone.update([ALONE])
            return
        deviations = [peer.affect.deviations for peer in peers.values()]
        self.zone.update(deviations)
        emissions = {}
        for (name, peer), deviation in zip(peers.items(), deviations, strict=True):
            emission = peer.affect.show(deviation)
            if emission is not None:
                emissions[name] = emission
        factors = self.zone.factors
        if emissions:
            for sender, receiver, channel in _meetings(peers, pairs, caller):
                if sender in emissions and receiver in peers:
                    peers[receiver].affect.receive(emissions[sender], channel, sender, factors)


def _meetings(
    peers: Mapping[str, Peer], pairs: Iterable[tuple[str, str]], caller: str
) -> Iterator[tuple[str, str, Channel]]:
    """Return who shows affect to whom: by delegation, by shared files, and from the caller to all others."""
    for name, peer in peers.items():
        if peer.parent:
            yield peer.parent, name, "down"
            yield name, peer.parent, "up"
    for one, other in pairs:
        yield one, other, "tree"
        yield other, one, "tree"
    for name in peers:
        if name != caller:
            yield caller, name, "broadcast"


EngineMaker = Callable[..., Engine]


class SessionAgent(Stateful):
    """One agent and its engine."""

    STATE = (
        "name", "parent", "role", "started", "ended", "outcome", "events", "last", "past_quarantines", inner("engine"),
    )  # fmt: skip

    def __init__(self, name: str, engine: Engine) -> None:
        self.name = name
        self.engine = engine
        self.parent = ""
        self.role = ""
        self.started: float | None = None
        self.ended: float | None = None
        self.outcome = ""
        self.events = 0
        self.last = 0  # Number of its last event in the session.
        self.past_quarantines = 0

    def go_on(self, past: AgentReading) -> None:
        """Resume the agent from its summary."""
        self.parent, self.role = past.parent, past.role
        self.started, self.ended, self.outcome = past.started, past.ended, past.outcome
        self.events, self.past_quarantines = past.events, past.quarantines

    def read(self) -> AgentReading:
        """Return the reading for the screen; the tree sets its depth."""
        affect = self.engine.affect
        return reading_of(
            AgentReading,
            self,
            depth=0,
            quarantined=affect.quarantined,
            quarantines=self.past_quarantines + affect.quarantines,
            deviations=affect.deviations,
            awake=True,
        )


class SessionAgents:
    """Keeps a limited number of agents awake: finished ones are folded up first, then the longest idle."""

    def __init__(self, limits: SocietySettings, make: EngineMaker, seed: int) -> None:
        self._limits = limits
        self._make = make
        self._seed = seed
        self.awake: dict[str, SessionAgent] = {}  # In the order they came.
        self.order: dict[str, None] = {}  # Those awake, the one that was still for longest first.
        self.finished: dict[str, None] = {}  # Those awake that have ended, in the order they did.
        self.summaries: dict[str, AgentReading] = {}
        self.forgotten = 0  # Finished agents whose summary was given up for want of room.

    def join(self, name: str, count: int) -> SessionAgent:
        """Wake an agent that comes with an event of that number, for the first time or again."""
        member = SessionAgent(name, self._engine(name))
        member.last = count
        past = self.summaries.pop(name, None)
        if past is not None:
            member.go_on(past)
        self.awake[name] = member
        self.order[name] = None
        if member.ended is not None:
            self.finished[name] = None
        while len(self.awake) > self._limits.awake:
            self._sum_up(self._sleepiest(name))
        return member

    def finish(self, name: str) -> None:
        """Mark an agent that is awake as finished; only a limited number of those stay awake."""
        self.finished[name] = None
        while len(self.finished) > self._limits.finished:
            self._sum_up(next(iter(self.finished)))

    def finish_unseen(self, parent: str, event: AgentEnd) -> None:
        """A sub-agent reports back that was never seen, or that was summed up before."""
        name = event.child
        past = self.summaries.get(name)
        if name == MAIN or (past and past.ended is not None):
            return
        own = past is not None and past.parent == parent
        if not own and self.descends(parent, name):
            return
        if past is None:
            nothing = (0.0,) * len(FIELDS)
            past = AgentReading(name, parent, "", 0, None, None, "", 0, False, 0, nothing, False)
        above = past.parent or parent
        self.summaries[name] = replace(past, parent=above, ended=event.at, outcome=event.outcome)
        self._trim()

    def descends(self, name: str, ancestor: str) -> bool:
        """Whether an agent is another, or was started by it or by one below it."""
        awake, summaries = self.awake, self.summaries
        while name != ancestor:
            agent = awake.get(name) or summaries.get(name)
            if agent is None or not agent.parent:
                return False
            name = agent.parent
        return True

    def generation(self, name: str, most: int) -> int:
        """How many agents are above one, counted no further than just beyond `most`."""
        generation = 0
        while generation <= most:
            agent = self.awake.get(name) or self.summaries.get(name)
            if agent is None or not agent.parent:
                break
            name = agent.parent
            generation += 1
        return generation

    def read(self) -> dict[str, AgentReading]:
        """Every agent that is known."""
        return self.summaries | {name: member.read() for name, member in self.awake.items()}

    def dump_awake(self) -> tuple[tuple[Any, ...], ...]:
        """Every agent that is awake, dumped."""
        return tuple([member.dump() for member in self.awake.values()])

    def load_awake(self, members: Sequence[Sequence[Any]]) -> None:
        """Wake the agents of a dump, and no others; engines that are there are used again."""
        before, self.awake = self.awake, {}
        for saved in members:
            name = saved[0]
            member = before.get(name) or SessionAgent(name, self._engine(name))
            member.load(saved)
            self.awake[name] = member
        self.order = dict.fromkeys(sorted(self.awake, key=lambda name: self.awake[name].last))

    def dump_summaries(self) -> tuple[Any, ...]:
        """Every summary, as plain values."""
        return tuple([to_builtins(reading) for reading in self.summaries.values()])

    def load_summaries(self, rows: Iterable[Any]) -> None:
        """Take summaries back."""
        readings = [convert(saved, AgentReading) for saved in rows]
        self.summaries = {reading.name: reading for reading in readings}

    def _engine(self, name: str) -> Engine:
        if name == MAIN:
            return self._make(seed=self._seed, agent=name)
        key = f"{self._seed}\n{name}".encode("utf-8", "surrogatepass")
        seed = int.from_bytes(blake3(key).digest(length=7), "big")
        return self._make(seed=seed, agent=name)

    def _sleepiest(self, but: str) -> str:
        """Return the agent to sum up if too many are awake: a finished one, else the longest idle."""
        finished = [name for name in self.finished if name != but]
        if finished:
            return min(finished, key=lambda name: self.awake[name].last)
        return next(name for name in self.order if name != MAIN and name != but)

    def _sum_up(self, name: str) -> None:
        member = self.awake[name]
        self.summaries[name] = replace(member.read(), awake=False, quarantined=False)
        del self.awake[name], self.order[name]
        self.finished.pop(name, None)
        self._trim()

    def _trim(self) -> None:
        while len(self.summaries) > self._limits.summaries:
            oldest = self.summaries.pop(next(iter(self.summaries)))
            if oldest.ended is not None:
                self.forgotten += 1


_NEIGHBOURS = 16  # Other sessions in the same folder whose last report is remembered.


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

    An event costs one engine's step; affect passes in rounds: when a sub-agent starts or ends, when two
    agents touch the same file, and every few events.
    """

    VERSION = 3
    NAMED = True
    STATE = (
        "_count", KeptField("forgotten", "self._agents.forgotten", "self._agents.forgotten = {value}"),
        mapped("_last_reports"), _of_agents("members", SessionAgents.dump_awake, SessionAgents.load_awake),
        KeptField("finished", "tuple(self._agents.finished)", "self._agents.finished = dict.fromkeys({value})"),
        _of_agents("summaries", SessionAgents.dump_summaries, SessionAgents.load_summaries), inner("_commons"),
    )  # fmt: skip

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
        options = {"rules": rules, "learned": learned}
        inputs = {one: value for one, value in options.items() if value is not None}
        make = partial(make_engine, settings, policy=policy, **inputs)
        self._agents = SessionAgents(affect.society, make, seed)
        self._every = affect.contagion.every
        self._inherited = affect.inheritance.depth
        self._commons = Commons(affect.contagion)
        self._last_reports: dict[str, float] = {}  # Other sessions in the same folder, and when each last reported.
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
        """Step the engine of the event's agent."""
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
        due = self._count % self._every == 0
        if kind is ToolUse:
            if event.targets and event.action in ("file_edit", "file_read"):  # type: ignore[union-attr]
                due = self._commons.touch(agent, event.targets) or due  # type: ignore[union-attr]
        elif kind is AgentStart:
            self._begin(member, event)  # type: ignore[arg-type]
            due = True
        elif kind is AgentEnd:
            self._round()
            due = False
            self._end(member, event)  # type: ignore[arg-type]
        if due:
            self._round()
        return step

    @property
    def neighbours(self) -> tuple[tuple[str, float], ...]:
        """Other sessions in the same folder that were heard of, and when each last reported."""
        return tuple(self._last_reports.items())

    def receive_reports(self, neighbours: Iterable[Neighbour]) -> None:
        """Take in what other sessions in the same folder report, each report once.

        It draws the main agent's attention with its next event, and policy bounds what of it is felt.
        """
        engine = self.engine()
        for one in neighbours:
            if self._last_reports.get(one.session, -inf) >= one.at:
                continue
            self._last_reports.pop(one.session, None)
            self._last_reports[one.session] = one.at
            if len(self._last_reports) > _NEIGHBOURS:
                del self._last_reports[next(iter(self._last_reports))]
            urgency = 1.0 if one.outcome == "failure" else max(map(abs, one.deviations), default=0.0)
            engine.mind.report("peer", urgency)
            emission = Emission(one.deviations, NO_PARTNER)
            engine.affect.receive(emission, "tree", one.session, self._commons.zone.factors)

    def see_changed(self, files: Iterable[tuple[str, float]]) -> None:
        """Take in when files that the main agent worked on last changed on disk."""
        heatmap = self.engine().receptor.heatmap
        for path, at in files:
            heatmap.see_changed(path, at)

    def frame(self, agent: str | None = None, at: float | None = None) -> Frame:
        """Return the frame of one agent that is awake; of the main agent if none is named."""
        return self.engine(MAIN if agent is None else agent).frame(at)

    def read(self) -> SocietyReading:
        """Return the reading of all agents."""
        readings = self._agents.read()
        running = [member for member in self._agents.awake.values() if member.ended is None]
        moved = [member.engine.affect.deviations for member in running]
        loudest = max(range(len(running)), key=lambda place: max(map(abs, moved[place])))
        over = sum(1 for reading in readings.values() if reading.ended is not None)
        forgotten = self._agents.forgotten
        return SocietyReading(
            agents=tuple(tree(readings)),
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
