"""The minds of one session: the main agent's and its sub-agents', and what passes between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from typing import Any

from blake3 import blake3
from msgspec import Struct, convert, to_builtins
from msgspec.structs import replace

from core.affect import BUILT_IN, FIELDS, Commons, Emission, Neighbour, Peer, Policy, ZoneReading
from core.affect.lineage import NO_PARTNER
from core.engine import Engine, Frame, Step
from core.events import MAIN, AgentEnd, AgentStart, Event, ToolUse
from core.response import Learned, RuleSet
from core.settings import Settings
from core.state import Stateful, inner, made, mapped, through

_SPARE = 2
"""Engines of agents summed up that wait for another agent: one sleeps for each that wakes."""

_NEIGHBOURS = 16
"""Other sessions in the same folder whose last report is remembered."""

EngineMaker = Callable[..., Engine]


class AgentReading(Struct, frozen=True):
    """One agent of a session, running, finished or summed up."""

    name: str
    parent: str
    """Empty for the main agent and for one whose start was not seen."""
    role: str
    depth: int
    started: float | None
    """When its parent started it; None where that was not seen."""
    ended: float | None
    outcome: str
    events: int
    quarantined: bool
    quarantines: int
    deviations: tuple[float, ...]
    """Of its control fields from rest, in the order of FIELDS."""
    awake: bool
    """False once only this summary is left."""


class SocietyReading(Struct, frozen=True):
    """A whole session as a screen shows it."""

    agents: tuple[AgentReading, ...]
    """Parents before their sub-agents, so that depth draws the tree."""
    running: int
    finished: int
    """Finished sub-agents, forgotten ones included."""
    forgotten: int
    """Summaries given up for want of room."""
    quarantined: tuple[str, ...]
    mean: tuple[float, ...]
    """Of the running agents' deviations, in the order of FIELDS."""
    loudest: str
    """The running agent that is furthest from rest in any field."""
    zone: ZoneReading
    rounds: int
    """Rounds of contagion so far."""
    neighbours: tuple[tuple[str, float], ...] = ()
    """Other sessions in the same folder that were heard of, and when each last reported."""


class _Member(Stateful):
    """One agent and its engine."""

    __slots__ = (
        "ended",
        "engine",
        "events",
        "last",
        "name",
        "outcome",
        "parent",
        "past_quarantines",
        "role",
        "started",
    )
    STATE = (
        "name",
        "parent",
        "role",
        "started",
        "ended",
        "outcome",
        "events",
        "last",
        "past_quarantines",
        inner("engine"),
    )

    def __init__(self, name: str, engine: Engine) -> None:
        self.name = name
        self.engine = engine
        self.parent = ""
        self.role = ""
        self.started: float | None = None
        self.ended: float | None = None
        self.outcome = ""
        self.events = 0
        self.last = 0
        self.past_quarantines = 0


def _written(summaries: Mapping[str, AgentReading]) -> tuple[Any, ...]:
    return tuple([to_builtins(reading) for reading in summaries.values()])


def _read(rows: Sequence[Any]) -> dict[str, AgentReading]:
    readings = [convert(saved, AgentReading) for saved in rows]
    return {reading.name: reading for reading in readings}


class Society(Stateful):
    """Route each event to its agent's engine, and let affect pass along delegation, files and broadcast.

    An event costs one engine's step; what concerns all agents happens in rounds, every so many events.
    """

    __slots__ = (
        "_awake",
        "_blank",
        "_commons",
        "_count",
        "_every",
        "_finished",
        "_forgotten",
        "_heard",
        "_inherited",
        "_keep_finished",
        "_keep_summaries",
        "_learned",
        "_make",
        "_members",
        "_order",
        "_policy",
        "_rules",
        "_seed",
        "_spare",
        "_summaries",
        "settings",
    )
    VERSION = 2
    NAMED = True
    STATE = (
        "_count",
        "_forgotten",
        mapped("_heard"),
        through("members", "_take"),
        made("_finished", tuple, dict.fromkeys),
        made("_summaries", _written, _read),
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
        self._policy = policy
        self._seed = seed
        self._make = make_engine
        self._rules = rules
        self._learned = learned
        affect = (policy or BUILT_IN).over(settings.affect)
        self._every = affect.contagion.every
        self._keep_finished = affect.society.finished
        self._awake = affect.society.awake
        self._keep_summaries = affect.society.summaries
        self._inherited = affect.inheritance.depth
        self._commons = Commons(affect.contagion)
        self._members: dict[str, _Member] = {}
        self._order: dict[str, None] = {}
        """Those awake, the one that was still for longest first."""
        self._finished: dict[str, None] = {}
        self._summaries: dict[str, AgentReading] = {}
        self._spare: list[Engine] = []
        self._blank: Mapping[str, Any] | None = None
        """An engine that has seen nothing, dumped."""
        self._forgotten = 0
        self._heard: dict[str, float] = {}
        """Other sessions in the same folder, and when each last reported."""
        self._count = 0
        self._join(MAIN)

    @property
    def agents(self) -> tuple[str, ...]:
        """Every agent that is awake, in the order they came."""
        return tuple(self._members)

    def engine(self, agent: str = MAIN) -> Engine:
        """The engine of an agent that is awake; once that one is summed up, it serves another."""
        return self._members[agent].engine

    def step(self, event: Event) -> Step:
        """Let one agent take in one event."""
        agent = event.agent
        member = self._members.get(agent) or self._join(agent)
        self._count += 1
        member.events += 1
        member.last = self._count
        del self._order[agent]
        self._order[agent] = None
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
        engine = self._members[MAIN].engine
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
        heatmap = self._members[MAIN].engine.receptor.heatmap
        for path, at in files:
            heatmap.see_changed(path, at)

    def frame(self, agent: str | None = None, at: float | None = None) -> Frame:
        """The frame of one agent that is awake, of the main one where none is named."""
        return self.engine(MAIN if agent is None else agent).frame(at)

    def read(self) -> SocietyReading:
        """All agents and what they make together."""
        known = dict(self._summaries)
        for member in self._members.values():
            known[member.name] = self._describe(member)
        running = [member for member in self._members.values() if member.ended is None]
        moved = [member.engine.affect.deviations for member in running]
        loudest = max(range(len(running)), key=lambda place: max(map(abs, moved[place])))
        over = sum(1 for reading in known.values() if reading.ended is not None)
        return SocietyReading(
            agents=tuple(_tree(known)),
            running=len(running),
            finished=over + self._forgotten,
            forgotten=self._forgotten,
            quarantined=tuple(member.name for member in running if member.engine.affect.quarantined),
            mean=tuple(sum(column) / len(moved) for column in zip(*moved, strict=True)),
            loudest=running[loudest].name if any(moved[loudest]) else "",
            zone=self._commons.zone.read(),
            rounds=self._commons.rounds,
            neighbours=self.neighbours,
        )

    @property
    def members(self) -> tuple[tuple[Any, ...], ...]:
        """Every agent that is awake, dumped."""
        return tuple([member.dump() for member in self._members.values()])

    def _take(self, members: Sequence[Sequence[Any]]) -> None:
        awake, self._members = self._members, {}
        for saved in members:
            name = saved[0]
            member = awake.get(name) or _Member(name, self._engine(name))
            member.load(saved)
            self._members[name] = member
        self._order = dict.fromkeys(sorted(self._members, key=lambda name: self._members[name].last))

    def _engine(self, name: str) -> Engine:
        seed = self._seed
        if name != MAIN:
            key = f"{seed}\n{name}".encode("utf-8", "surrogatepass")
            seed = int.from_bytes(blake3(key).digest(length=7), "big")
        if self._spare and name != MAIN:
            if self._blank is None:
                self._blank = self._made(name, seed).dump()
            engine = self._spare.pop()
            engine.renew(self._blank, seed, name)
            return engine
        return self._made(name, seed)

    def _made(self, name: str, seed: int) -> Engine:
        given = {"rules": self._rules, "learned": self._learned}
        inputs = {one: value for one, value in given.items() if value is not None}
        return self._make(self.settings, policy=self._policy, seed=seed, agent=name, **inputs)

    def _join(self, name: str) -> _Member:
        member = _Member(name, self._engine(name))
        member.last = self._count
        past = self._summaries.pop(name, None)
        if past is not None:
            member.parent, member.role = past.parent, past.role
            member.started, member.ended, member.outcome = past.started, past.ended, past.outcome
            member.events, member.past_quarantines = past.events, past.quarantines
        self._members[name] = member
        self._order[name] = None
        if member.ended is not None:
            self._finished[name] = None
        while len(self._members) > self._awake:
            self._fold(self._sleepiest(name))
        return member

    def _sleepiest(self, but: str) -> str:
        """Who is summed up for want of room: a finished agent, else who was still for longest."""
        finished = [name for name in self._finished if name != but]
        if finished:
            return min(finished, key=lambda name: self._members[name].last)
        return next(name for name in self._order if name != MAIN and name != but)

    def _fold(self, name: str) -> None:
        member = self._members[name]
        self._summaries[name] = replace(self._describe(member), awake=False, quarantined=False)
        del self._members[name], self._order[name]
        if len(self._spare) < _SPARE:
            self._spare.append(member.engine)
        self._finished.pop(name, None)
        self._trim()

    def _trim(self) -> None:
        while len(self._summaries) > self._keep_summaries:
            gone = self._summaries.pop(next(iter(self._summaries)))
            if gone.ended is not None:
                self._forgotten += 1

    def _begin(self, parent: _Member, event: AgentStart) -> None:
        name = event.child
        if name == MAIN or self._descends(parent.name, name):
            return
        child = self._members.get(name) or self._join(name)
        if child.parent and child.ended is None:
            return
        self._finished.pop(name, None)
        child.parent, child.role = parent.name, event.role
        child.started, child.ended, child.outcome = event.at, None, ""
        legacy = parent.engine.affect.bequeath(name, self._generation(name))
        if legacy is not None:
            child.engine.affect.receive(legacy, "inheritance", parent.name)

    def _end(self, parent: _Member, event: AgentEnd) -> None:
        name = event.child
        child = self._members.get(name)
        if child is None:
            self._note_unseen(parent, event)
            return
        if name == MAIN or child.ended is not None:
            return
        if child.parent != parent.name and self._descends(parent.name, name):
            return
        child.parent = child.parent or parent.name
        child.ended, child.outcome = event.at, event.outcome
        if child.events:
            last = child.engine.affect.report(parent.name)
            if last is not None:
                parent.engine.affect.receive(last, "return", name)
        self._finished[name] = None
        while len(self._finished) > self._keep_finished:
            self._fold(next(iter(self._finished)))

    def _note_unseen(self, parent: _Member, event: AgentEnd) -> None:
        """A sub-agent that reports back without ever having been seen, or after it was summed up."""
        name = event.child
        past = self._summaries.get(name)
        if name == MAIN or (past and past.ended is not None):
            return
        own = past is not None and past.parent == parent.name
        if not own and self._descends(parent.name, name):
            return
        if past is None:
            nothing = (0.0,) * len(FIELDS)
            past = AgentReading(name, parent.name, "", 0, None, None, "", 0, False, 0, nothing, False)
        above = past.parent or parent.name
        self._summaries[name] = replace(past, parent=above, ended=event.at, outcome=event.outcome)
        self._trim()

    def _descends(self, name: str, ancestor: str) -> bool:
        members, summaries = self._members, self._summaries
        while name != ancestor:
            known = members.get(name) or summaries.get(name)
            if known is None or not known.parent:
                return False
            name = known.parent
        return True

    def _generation(self, name: str) -> int:
        """How many agents are above one, counted no further than affect is handed down."""
        generation = 0
        while generation <= self._inherited:
            known = self._members.get(name) or self._summaries.get(name)
            if known is None or not known.parent:
                break
            name = known.parent
            generation += 1
        return generation

    def _round(self) -> None:
        peers = {
            name: Peer(member.engine.affect, member.parent)
            for name, member in self._members.items()
            if member.ended is None
        }
        self._commons.round(peers, MAIN)

    def _describe(self, member: _Member) -> AgentReading:
        affect = member.engine.affect
        return AgentReading(
            name=member.name,
            parent=member.parent,
            role=member.role,
            depth=0,
            started=member.started,
            ended=member.ended,
            outcome=member.outcome,
            events=member.events,
            quarantined=affect.quarantined,
            quarantines=member.past_quarantines + affect.quarantines,
            deviations=affect.deviations,
            awake=True,
        )


def _tree(known: Mapping[str, AgentReading]) -> list[AgentReading]:
    """Depth first, each agent's sub-agents in the order they became known; one whose parent was forgotten
    stands one below the first."""
    below: dict[str, list[AgentReading]] = {}
    for reading in known.values():
        below.setdefault(reading.parent if reading.parent in known else "", []).append(reading)
    ordered: list[AgentReading] = []
    waiting = [(reading, 1 if reading.parent else 0) for reading in below.pop("", [])[::-1]]
    while waiting:
        reading, depth = waiting.pop()
        ordered.append(reading if reading.depth == depth else replace(reading, depth=depth))
        waiting.extend((under, depth + 1) for under in below.pop(reading.name, [])[::-1])
    return ordered
