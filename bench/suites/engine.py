"""Steps a second through the receptor and through the whole engine."""

from __future__ import annotations

from bench.measure import Figure, best_of
from bench.workload import session
from core.engine import Engine
from core.events import Event
from core.receptor import Receptor
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
        _figure("engine steps", engine, bare, 25_000),
    ]


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
