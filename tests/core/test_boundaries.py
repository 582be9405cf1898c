"""The society, its story and its recording around each limit and each cadence."""

from __future__ import annotations

from typing import Any

import pytest

from core.engine.affect.reading import Neighbour
from core.engine.society import Society
from core.engine.society.engine import FAILING, Facts, make_story
from core.engine.society.society import _NEIGHBOURS
from core.settings import Settings
from core.timeline.keyframes import KeyFrames, changed_bytes, split_state
from core.timeline.timeline import Timeline
from tests.core.engine.receptor.acts import spell
from tests.core.story_check import contradictions

CALM = (0.0,) * 7
GOOD = Facts("deep_work", True, "progress", "thriving", "IDLE", 0.0, False, False)


@pytest.mark.parametrize(("again", "heard"), [(9.0, 10.0), (10.0, 10.0), (11.0, 11.0)])
def test_a_report_of_another_session_is_taken_in_once(again: float, heard: float) -> None:
    society = Society(Settings())
    society.receive_reports([Neighbour("other", 10.0, CALM)])
    society.step(spell("e")[0])
    once = society.dump()
    society.receive_reports([Neighbour("other", again, CALM)])
    assert society.neighbours == (("other", heard),)
    assert (society.dump() == once) is (again <= 10.0)


@pytest.mark.parametrize(("sessions", "first"), [(_NEIGHBOURS, "0"), (_NEIGHBOURS + 1, "1")])
def test_so_many_other_sessions_are_remembered(sessions: int, first: str) -> None:
    society = Society(Settings())
    society.receive_reports([Neighbour(str(number), 1.0, CALM) for number in range(sessions)])
    assert len(society.neighbours) == _NEIGHBOURS
    assert society.neighbours[0][0] == first


@pytest.mark.parametrize(("rate", "well"), [(FAILING - 0.01, True), (FAILING, False), (FAILING + 0.01, False)])
def test_no_story_goes_well_from_so_many_failures_on(rate: float, well: bool) -> None:
    facts = GOOD._replace(failure_rate=rate)
    story = make_story(facts)
    assert (story.state == "deep_work", story.flowing) == (well, well)
    assert contradictions(story, facts) == []
    assert bool(contradictions(make_story(GOOD), facts)) is not well


@pytest.mark.parametrize(("events", "kept"), [(15, 0), (16, 1), (17, 1), (31, 1), (32, 2)])
def test_a_state_is_kept_every_so_many_events(events: int, kept: int) -> None:
    settings = Settings.parse({"timeline": {"keyframes": {"every": 16}}})
    timeline = Timeline(settings)
    before = len(timeline.frames)
    for event in spell("eb" * 16)[:events]:
        timeline.add(event)
    assert len(timeline.frames) - before == kept


@pytest.mark.parametrize(("off", "kind"), [(-1e-6, "I"), (0.0, "I"), (1e-6, "P")])
def test_a_state_is_kept_whole_from_a_share_of_change_on(off: float, kind: str) -> None:
    first: dict[str, Any] = {"a": "x" * 100, "b": "y" * 100}
    second = {**first, "a": "z" * 100}
    old, new = split_state(first), split_state(second)
    share = changed_bytes(old, new) / sum(map(len, new.values()))
    frames = KeyFrames(i_share=share + off)
    frames.add(0, first)
    assert frames.add(1, second).kind == kind
