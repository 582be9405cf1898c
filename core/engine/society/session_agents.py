"""The agents of a session: those awake, each with its engine, and a summary of every other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from blake3 import blake3
from msgspec import convert, to_builtins
from msgspec.structs import replace

from core.engine.affect import FIELDS
from core.engine.engine import Engine
from core.engine.society.readings import AgentReading
from core.engine.state import Stateful, inner
from core.events import MAIN, AgentEnd
from core.settings.affect import SocietySettings

_SPARE = 2
"""Engines of agents summed up that wait for another agent: one sleeps for each that wakes."""

EngineMaker = Callable[..., Engine]


class SessionAgent(Stateful):
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
        """Number of its last event in the session."""
        self.past_quarantines = 0

    def go_on(self, past: AgentReading) -> None:
        """Be the agent that was summed up."""
        self.parent, self.role = past.parent, past.role
        self.started, self.ended, self.outcome = past.started, past.ended, past.outcome
        self.events, self.past_quarantines = past.events, past.quarantines

    def read(self) -> AgentReading:
        """The agent as a screen shows it; where it stands in the tree is for the tree to say."""
        affect = self.engine.affect
        return AgentReading(
            name=self.name,
            parent=self.parent,
            role=self.role,
            depth=0,
            started=self.started,
            ended=self.ended,
            outcome=self.outcome,
            events=self.events,
            quarantined=affect.quarantined,
            quarantines=self.past_quarantines + affect.quarantines,
            deviations=affect.deviations,
            awake=True,
        )


class SessionAgents:
    """Keep only so many agents awake; a finished one goes first, then who was still for longest."""

    __slots__ = (
        "_limits",
        "_make",
        "_seed",
        "_set_back",
        "_spare",
        "awake",
        "finished",
        "forgotten",
        "order",
        "summaries",
    )

    def __init__(self, limits: SocietySettings, make: EngineMaker, seed: int) -> None:
        self._limits = limits
        self._make = make
        self._seed = seed
        self._spare: list[Engine] = []
        self._set_back: Callable[[Engine], None] | None = None
        """Sets an engine back to its start, once one is to serve another agent."""
        self.awake: dict[str, SessionAgent] = {}
        """In the order they came."""
        self.order: dict[str, None] = {}
        """Those awake, the one that was still for longest first."""
        self.finished: dict[str, None] = {}
        """Those awake that have ended, in the order they did."""
        self.summaries: dict[str, AgentReading] = {}
        self.forgotten = 0
        """Finished agents whose summary was given up for want of room."""

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
        """An agent that is awake has ended; only so many of those stay awake."""
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
            known = awake.get(name) or summaries.get(name)
            if known is None or not known.parent:
                return False
            name = known.parent
        return True

    def generation(self, name: str, most: int) -> int:
        """How many agents are above one, counted no further than just beyond `most`."""
        generation = 0
        while generation <= most:
            known = self.awake.get(name) or self.summaries.get(name)
            if known is None or not known.parent:
                break
            name = known.parent
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
        if not self._spare:
            return self._make(seed=seed, agent=name)
        if self._set_back is None:
            self._set_back = self._make(seed=seed, agent=name).resetter()
        engine = self._spare.pop()
        self._set_back(engine)
        engine.serve(seed, name)
        return engine

    def _sleepiest(self, but: str) -> str:
        """Who is summed up for want of room: a finished agent, else who was still for longest."""
        finished = [name for name in self.finished if name != but]
        if finished:
            return min(finished, key=lambda name: self.awake[name].last)
        return next(name for name in self.order if name != MAIN and name != but)

    def _sum_up(self, name: str) -> None:
        member = self.awake[name]
        self.summaries[name] = replace(member.read(), awake=False, quarantined=False)
        del self.awake[name], self.order[name]
        if len(self._spare) < _SPARE:
            self._spare.append(member.engine)
        self.finished.pop(name, None)
        self._trim()

    def _trim(self) -> None:
        while len(self.summaries) > self._limits.summaries:
            gone = self.summaries.pop(next(iter(self.summaries)))
            if gone.ended is not None:
                self.forgotten += 1
