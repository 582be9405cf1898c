"""On real logs: a dump goes on exactly, in a new mind and in a used one, and any seek equals a replay."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from core.agents.registry import make_kit
from core.engine.society import Society
from core.events import Event
from core.logs.finder import sessions
from core.logs.session import read_session
from core.settings import Settings
from core.timeline.timeline import Timeline

REAL = Path(__file__).parents[4] / "shared" / "data" / "real_sessions"
MOST = 400


def real_runs() -> list[list[Event]]:
    kit = make_kit()
    found = [list(read_session(one, kit))[:MOST] for one in sessions([REAL], kit)] if REAL.is_dir() else []
    return [events for events in found if len(events) >= 30]


@pytest.fixture(scope="module")
def runs() -> list[list[Event]]:
    found = real_runs()
    if not found:
        pytest.skip("no real logs beside the project")
    return found


def test_a_dump_goes_on_exactly_in_a_new_mind_and_in_a_used_one(runs: list[list[Event]]) -> None:
    dice = random.Random(5)  # noqa: S311 places, not secrets
    used = Society(Settings())
    for events in runs:
        places = set(dice.sample(range(len(events) - 1), 4))
        society = Society(Settings())
        for place, event in enumerate(events):
            society.step(event)
            if place in places:
                new, state = Society(Settings()), society.dump()
                for other in (new, used):
                    other.load(state)
                    assert other.frame() == society.frame()
                    assert other.dump() == state
                assert new.step(events[place + 1]) == used.step(events[place + 1])
                assert new.dump() == used.dump()


def test_seeks_in_any_order_equal_a_replay(runs: list[list[Event]]) -> None:
    dice = random.Random(7)  # noqa: S311 as above
    for events in runs[::3]:
        timeline, society = Timeline(Settings(), every=24), Society(Settings())
        replayed = [society.frame()]
        for event in events:
            timeline.add(event)
            society.step(event)
            replayed.append(society.frame())
        places = dice.sample(range(len(events)), 12)
        back = [place - step for place in places[:3] for step in range(4) if place >= step]
        for place in places + back:
            assert timeline.at(place) == replayed[place]
