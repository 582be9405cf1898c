"""The central law: any seek, in any order, equals replaying from the start."""

from __future__ import annotations

from typing import Any

import cbor2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.workload import session
from core.engine.society import Society
from core.engine.society.engine import Step
from core.events import MAIN, Event
from core.settings import Settings
from core.settings.layers import Given, Layer, resolve
from core.timeline.keyframes import KeyFrame, KeyFrames
from core.timeline.run import NAMES
from core.timeline.timeline import Timeline
from tests.core.strategies import events

DENSE = resolve([Layer("test", (Given("timeline.keyframes.every", 16),))]).settings
EAGER = resolve([Layer("test", (Given("receptor.ambient.offset.frustration", 0.05),))]).settings


def canonical(society: Society) -> bytes:
    return cbor2.dumps(society.dump(), canonical=True)


def replayed(stream: list[Event], count: int, chosen: Settings = DENSE) -> Society:
    society = Society(chosen)
    for event in stream[:count]:
        society.step(event)
    return society


def recorded(stream: list[Event], chosen: Settings = DENSE) -> Timeline:
    timeline = Timeline(chosen)
    timeline.extend(stream)
    return timeline


@settings(max_examples=40)
@given(events(max_size=80), st.lists(st.integers(0, 80), min_size=1, max_size=6))
def test_any_seek_in_any_order_equals_a_replay(stream: list[Event], seeks: list[int]) -> None:
    timeline = recorded(stream)
    for index in seeks:
        index = min(index, len(stream))
        assert canonical(timeline.society_at(index)) == canonical(replayed(stream, index))
    assert canonical(timeline.society) == canonical(replayed(stream, len(stream)))


@pytest.mark.parametrize(("stride", "most"), [(1, 15), (2, 22), (5, 35)])
def test_going_back_by_small_steps_takes_few_and_equals_a_replay(
    stride: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = session(300, agents=2)
    timeline = Timeline(Settings(), every=128)
    timeline.extend(stream[:150])
    timeline.apply(EAGER)
    timeline.add_reports(changed=(("src/part1/module1.py", stream[150].at + 5),))
    timeline.extend(stream[150:])
    seen = [canonical(timeline.society_at(index)) for index in range(285)]
    steps = 0

    def counted(society: Society, event: Event) -> Step:
        nonlocal steps
        steps += 1
        return original(society, event)

    original = Society.step
    monkeypatch.setattr(Society, "step", counted)
    places = range(284, 96, -stride)
    for index in places:
        assert canonical(timeline.society_at(index)) == seen[index], index
    assert steps / len(places) < most


@pytest.mark.parametrize(("stride", "loads"), [(1, 0), (20, 0), (40, 0), (41, 1)])
def test_going_on_past_a_key_frame_loads_none_that_is_dearer_than_the_way_to_it(
    stride: int, loads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = session(320)
    timeline = Timeline(Settings(), every=80)
    timeline.extend(stream)
    loaded: list[int] = []
    restore = KeyFrames.restore

    def counted(frames: KeyFrames, frame: KeyFrame) -> Any:
        loaded.append(frame.after)
        return restore(frames, frame)

    monkeypatch.setattr(KeyFrames, "restore", counted)
    alone = Society(Settings())
    start = 80 - stride
    for place, event in enumerate(stream[:300]):
        if place >= start and (place - start) % stride == 0:
            assert canonical(timeline.society_at(place)) == canonical(alone), place
        alone.step(event)
    assert len(loaded) == loads


@settings(max_examples=20)
@given(events(min_size=4, max_size=60), st.data())
def test_seeking_while_recording_goes_on_changes_nothing(stream: list[Event], data: st.DataObject) -> None:
    timeline = Timeline(DENSE)
    for number, event in enumerate(stream):
        timeline.add(event)
        if number % 5 == 0:
            timeline.at(data.draw(st.integers(0, number)))
            timeline.live(event.at + 30)
    assert canonical(timeline.society) == canonical(replayed(stream, len(stream)))


@pytest.mark.parametrize("cut", [0, 1, 40, 64, 100, 199])
def test_applied_settings_hold_from_their_event_on_in_every_replay(cut: int) -> None:
    stream = session(200)
    timeline = recorded(stream[:cut])
    timeline.apply(EAGER)
    timeline.extend(stream[cut:])
    expected = Society(EAGER)
    expected.load(replayed(stream, cut).dump())
    for event in stream[cut:]:
        expected.step(event)
    assert canonical(timeline.society) == canonical(expected)
    half = (cut + 200) // 2
    before = canonical(timeline.society_at(half))
    fresh = recorded(stream[:cut])
    fresh.apply(EAGER)
    fresh.extend(stream[cut:half])
    assert before == canonical(fresh.society)


def test_a_branch_is_apart_from_the_recording() -> None:
    stream = session(300)
    timeline = recorded(stream)
    before = canonical(timeline.society_at(150))
    branch = timeline.branch_point(150)
    for event in stream[:50]:
        branch.step(event)
    assert canonical(timeline.society_at(150)) == before


def test_a_damaged_key_frame_is_given_up_and_the_seek_is_right_all_the_same() -> None:
    stream = session(300)
    timeline = recorded(stream)
    place = 5
    whole = timeline.frames._frames[place]
    timeline.frames._frames[place] = KeyFrame(whole.after, whole.kind, whole.id, whole.packed[:-3] + b"abc")
    count = len(timeline.frames)
    assert canonical(timeline.society_at(whole.after + 2)) == canonical(replayed(stream, whole.after + 2))
    assert len(timeline.frames) < count


def test_columns_hold_what_the_frames_say() -> None:
    stream = session(400, agents=3)
    timeline = recorded(stream)
    assert set(timeline.agents) == {"main", "agent-1", "agent-2"}
    for agent, track in timeline.tracks.items():
        assert len(track) == sum(event.agent == agent for event in stream)
        for index in (100, 250, 399):
            row = track.row(index)
            frame = timeline.at(track.indexes[row] + 1, agent)
            assert track.columns.value("axis.frustration", row) == pytest.approx(frame.receptor.axes[0].value, abs=1e-6)
            assert track.columns.value("threshold.seeking", row) == pytest.approx(
                frame.receptor.axes[1].threshold, abs=1e-6
            )
            assert track.columns.value("budget.effort", row) == pytest.approx(frame.governor.budgets.effort, abs=1e-6)
    assert len(NAMES) == len(set(NAMES))


def test_marks_lead_forward_and_back() -> None:
    timeline = recorded(session(600))
    prompts = [mark for mark in timeline.marks if mark.kind == "prompt"]
    assert len(prompts) > 2
    assert timeline.marks.after(prompts[0].place, {"prompt"}) == prompts[1]
    assert timeline.marks.before(prompts[1].place, {"prompt"}) == prompts[0]
    assert timeline.marks.after(prompts[-1].place, {"prompt"}) is None
    assert timeline.marks.before(0, {"prompt"}, MAIN) is None
    assert timeline.marks.between(0, len(timeline)) == list(timeline.marks)


def test_times_find_events() -> None:
    stream = session(100)
    timeline = recorded(stream)
    assert timeline.index_at(stream[0].at - 1) == 0
    assert timeline.index_at(stream[-1].at) == 100
    assert timeline.time_of(50) == max(event.at for event in stream[:50])
    assert Timeline(DENSE).time_of(0) == 0.0
