"""What the engine shows of a log, as words with times: `state stuck`, `signal flow_active`, `loop near`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from core.agents.registry import make_kit
from core.engine.affect.lineage import describe_entry
from core.engine.society import Society, SocietyReading
from core.engine.society.engine import Step
from core.events import Event
from core.logs.finder import sessions
from core.logs.format import Kit
from core.logs.session import LogSession, read_session
from core.report.analysis import Gatherer, Summary
from core.settings import Settings
from core.timeline.marks import Mark, Marks
from core.timeline.opening import seed_of


class Shown(NamedTuple):
    """One thing that was shown."""

    at: float
    """Seconds after the first event."""
    agent: str
    what: str


class Evidence(NamedTuple):
    """All of a session."""

    session: LogSession
    kit: Kit
    events: list[Event]
    shown: list[Shown]
    summary: Summary
    society: SocietyReading

    def of(self, what: str, agent: str | None = None) -> list[Shown]:
        """Everything of one kind, or of one kind and name."""
        return [
            one
            for one in self.shown
            if (one.what == what or one.what.startswith(what + " ")) and agent in (None, one.agent)
        ]

    def first(self, what: str, agent: str | None = None) -> float:
        """When something was shown first."""
        return self.of(what, agent)[0].at


def watch(path: Path) -> Evidence:
    """Run a log through the real readers and engine."""
    settings = Settings()
    kit = make_kit(settings.ingest)
    (session,) = sessions([path], kit, settings.ingest.lines)
    events = list(read_session(session, kit, settings.ingest.lines))
    society = Society(settings, seed=seed_of(session.id))
    gatherer, marks, watcher = Gatherer(), Marks(), _Watcher(society)
    shown: list[Shown] = []
    for place, event in enumerate(events):
        step = society.step(event)
        gatherer.add(event, step)
        known = len(marks)
        marks.step(place, event, step)
        words = [_word(marks[number]) for number in range(known, len(marks))]
        words += watcher.look(event, step)
        shown += [Shown(event.at - events[0].at, event.agent, word) for word in words]
        shown += [Shown(event.at - events[0].at, agent, f"contagion {sender}") for agent, sender in watcher.exposed()]
    return Evidence(session, kit, events, shown, gatherer.close(society.frame()), society.read())


def _word(mark: Mark) -> str:
    return f"{mark.kind} {mark.name}"


class _Watcher:
    """Notes changes that are no marks."""

    def __init__(self, society: Society) -> None:
        self._society = society
        self._last: dict[tuple[str, str], str] = {}
        self._links: dict[str, int] = {}

    def look(self, event: Event, step: Step) -> Iterator[str]:
        """Patterns, the governor's states, loops and methods."""
        for kind, name in (("pattern", step.percept.pattern), ("governor", step.verdict.state)):
            if self._last.get((event.agent, kind)) != name:
                self._last[event.agent, kind] = name
                yield f"{kind} {name}"
        if step.reaction.loop is not None:
            yield f"loop {step.reaction.loop.detector}"
        for fired in step.reaction.fired:
            yield f"method {fired.method}"

    def exposed(self) -> Iterator[tuple[str, str]]:
        """Agents that others have just moved, and by whom."""
        for name in self._society.agents:
            lineage = self._society.engine(name).affect.lineage
            fresh = lineage.count - self._links.get(name, 0)
            self._links[name] = lineage.count
            links = [describe_entry(entry) for entry in lineage.entries[-fresh:]] if fresh else []
            yield from ((name, link.source) for link in links if link.act == "exposed")
