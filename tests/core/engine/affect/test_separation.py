"""Affect bends how a mind works, never what the governor's gate decides."""

from __future__ import annotations

import inspect

from hypothesis import given, settings

from core.engine.governor.governor import Governor
from core.engine.society.engine import Engine
from core.events import Event
from core.settings import Settings
from tests.core.strategies import events

SETTINGS = Settings()


def pinned(high: bool) -> Engine:
    """An engine whose fields stand at their ceilings, or at their floors, whatever happens."""
    engine = Engine(SETTINGS)
    for field in engine.affect._fields:
        if high:
            field.floor = field.rest = field.magnitude = field.ceiling
        else:
            field.ceiling = field.rest = field.magnitude = field.floor
    return engine


def bend(engine: Engine, low: Engine) -> None:
    """Pinned fields deviate from nothing, so their bending is set by hand to the far ends."""
    engine.affect.modulation = engine.affect._modulator.bend((0.9,) * 7, False)
    low.affect.modulation = low.affect._modulator.bend((-0.9,) * 7, True)


@given(events(80))
@settings(max_examples=60)
def test_maximal_and_minimal_affect_give_the_same_verdicts(stream: list[Event]) -> None:
    most, least = pinned(True), pinned(False)
    bend(most, least)
    for event in stream:
        first, second = most.step(event), least.step(event)
        assert first.verdict == second.verdict
        assert all(field.magnitude == field.ceiling for field in most.affect._fields)
        assert all(field.magnitude == field.floor for field in least.affect._fields)
        bend(most, least)
        assert most.affect.modulation != least.affect.modulation
    assert most.governor.read() == least.governor.read()


def test_the_gate_cannot_be_handed_affect() -> None:
    asked = inspect.signature(Governor.step).parameters
    assert set(asked) == {"self", "event", "novelty", "elapsed", "pattern", "failure_rate"}
    for name, parameter in asked.items():
        words = f"{name} {parameter.annotation}".lower()
        assert not any(word in words for word in ("affect", "mood", "modulation"))
