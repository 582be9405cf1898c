"""Steps a second through the receptor and the whole engine, and the time very many sub-agents take."""

from __future__ import annotations

from collections.abc import Iterator

from bench.measure import Figure, best_of
from bench.trees import REAL
from bench.workload import session
from core.agents.registry import make_kit
from core.engine.receptor import Receptor
from core.engine.society import Society
from core.engine.society.engine import Engine
from core.events import MAIN, AgentEnd, AgentStart, Event, ToolUse
from core.logs.finder import sessions
from core.logs.session import read_session
from core.report.checkup import engine_compiled
from core.settings import Settings

COUNT = 50_000


def figures() -> list[Figure]:
    events = session(COUNT)
    settings = Settings()
    bare = best_of(lambda: _bare(events), 5)
    receptor = best_of(lambda: _receptor(events, settings))
    engine = best_of(lambda: _engine(events, settings))
    return [
        _figure("receptor steps", receptor, bare, 60_000),
        _figure("engine steps", engine, bare, 20_000),
        *_real(settings),
        *_families(settings),
    ]


def _real(settings: Settings) -> list[Figure]:
    """Steps over the events of real logs, where there are some beside the project."""
    if not REAL.is_dir():
        return []
    kit = make_kit()
    runs = [list(read_session(found, kit)) for found in sessions([REAL], kit)]
    count = sum(map(len, runs))

    def step() -> None:
        for events in runs:
            society = Society(settings)
            for event in events:
                society.step(event)

    bare = best_of(lambda: [_bare(events) for events in runs], 5)
    seconds = best_of(step, 3)
    note = f"{count:,} events of {len(runs)} sessions of Claude Code"
    name = "engine steps on real events"
    aim = 60_000 if engine_compiled() else 18_000
    return [Figure(name, count / seconds, "a second", aim, "higher", "a bare loop", seconds / bare, note)]


def _families(settings: Settings) -> list[Figure]:
    """Sub-agents that start, work once and end: through steps, reading, frame, dump and load."""
    found = []
    for number, where, deep in ((2_000, "below each other", True), (10_000, "beside each other", False)):
        events = list(_family(number, deep))
        seconds = best_of(lambda events=events: _society(events, settings))  # type: ignore[misc]
        found.append(Figure(f"{number:,} sub-agents {where}", seconds, "s", 2.0))
    return found


def _family(number: int, deep: bool) -> Iterator[Event]:
    parents = [f"c{place - 1}" if deep and place else MAIN for place in range(number)]
    for place, parent in enumerate(parents):
        name = f"c{place}"
        yield AgentStart(at=2.0 * place, agent=parent, child=name)
        yield ToolUse(at=2.0 * place + 1.0, agent=name, tool="Read", action="file_read", targets=(name,))
    for place in reversed(range(number)):
        yield AgentEnd(at=2.0 * number, agent=parents[place], child=f"c{place}", outcome="success")


def _society(events: list[Event], settings: Settings) -> None:
    society = Society(settings)
    for event in events:
        society.step(event)
    society.read()
    society.frame()
    again = Society(settings)
    again.load(society.dump())


def _figure(name: str, seconds: float, bare: float, aim: float) -> Figure:
    return Figure(name, COUNT / seconds, "a second", aim, "higher", "a bare loop", seconds / bare)


def _bare(events: list[Event]) -> float:
    last = 0.0
    for event in events:
        if event.at > last:
            last = event.at
    return last


def _receptor(events: list[Event], settings: Settings) -> None:
    step = Receptor(settings.receptor).step
    for event in events:
        step(event)


def _engine(events: list[Event], settings: Settings) -> None:
    step = Engine(settings).step
    for event in events:
        step(event)
