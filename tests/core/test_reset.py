"""An engine that is set back is a new one in every slot, and shares nothing that changes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import pytest

from bench.workload import session
from core.engine.engine import Engine
from core.engine.state import is_part, resetting, slots
from core.events import Event
from core.settings import Settings

MEMOS = {"_listening", "_places", "_rows"}
"""Tables and memos: they follow from settings and words, so an engine may keep them."""


def held(part: Any, name: str = "engine", seen: set[int] | None = None) -> Iterator[tuple[str, Any]]:
    """Everything that an engine and its parts hold, with its place."""
    seen = set() if seen is None else seen
    seen.add(id(part))
    for slot in slots(part):
        value, place = getattr(part, slot, None), f"{name}.{slot}"
        many = list(value) if isinstance(value, tuple | list) and any(map(is_part, value)) else [value]
        for number, one in enumerate(many):
            if is_part(one):
                if id(one) not in seen:
                    yield from held(one, f"{place}[{number}]", seen)
            elif slot not in MEMOS and not callable(one):
                yield place, one


def plain(found: Iterator[tuple[str, Any]]) -> dict[str, Any]:
    """Values that can be compared; a tuple that holds detectors belongs to its own engine."""
    return {place: value for place, value in found if place != "engine.response[0].loops[0]._stalls"}


@pytest.fixture(scope="module")
def work() -> list[Event]:
    return [event for event in session(6_000, seed=3) if event.agent == "main"]


def test_every_slot_is_as_in_a_new_engine(work: list[Event]) -> None:
    used = Engine(Settings())
    for event in work:
        used.step(event)
    before = plain(held(Engine(Settings())))
    assert sum(value != before.get(place) for place, value in plain(held(used)).items()) > 150
    resetting(Engine(Settings()))(used)
    after = plain(held(used))
    assert {place: value for place, value in after.items() if value != before[place]} == {}
    assert after.keys() == before.keys()


def test_engines_that_are_set_back_share_nothing_that_changes(work: list[Event]) -> None:
    first, second = Engine(Settings()), Engine(Settings())
    reset = resetting(Engine(Settings()))
    reset(first)
    reset(second)
    changing = (list, dict, deque)
    shared = {
        place
        for (place, one), (_, other) in zip(held(first), held(second), strict=True)
        if one is other and isinstance(one, changing)
    }
    tables = {
        place
        for (place, one), (_, other) in zip(held(Engine(Settings())), held(Engine(Settings())), strict=True)
        if one is other and isinstance(one, changing)
    }
    assert shared == tables
    for event in work[:500]:
        first.step(event)
    new = Engine(Settings())
    for event in work[:500]:
        assert second.step(event) == new.step(event)
    assert second.dump() == new.dump()
    assert second.frame() == new.frame()
