"""What-ifs: nothing changed gives no difference, and a branch never touches the recording."""

from __future__ import annotations

import cbor2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.workload import session
from core.errors import StateError
from core.events import Event
from core.settings import Settings
from core.settings.layers import Given, Layer, resolve
from core.timeline.marks import Mark
from core.timeline.rerun import FIRINGS, check_commit, compare, copy_recording, dream, pre_steer, sim
from core.timeline.timeline import Timeline
from core.timeline.whatif import WhatIf
from tests.core.strategies import events

EAGER = resolve([Layer("test", (Given("receptor.ambient.offset.frustration", 0.05),))]).settings


def recorded(stream: list[Event]) -> Timeline:
    timeline = Timeline(Settings())
    timeline.extend(stream)
    return timeline


def mark(place: int, at: float, name: str = "frustration_spike") -> Mark:
    return Mark(place, at, "main", "signal", name)


@settings(max_examples=30)
@given(events(max_size=60), st.integers(0, 60))
def test_unchanged_settings_make_no_difference(stream: list[Event], after: int) -> None:
    timeline = recorded(stream)
    branch = sim(timeline, timeline.settings, min(after, len(stream)))
    assert branch.grow()
    assert branch.difference().equal
    assert branch.run.society.dump() == timeline.society.dump()


def test_other_settings_fire_otherwise_and_leave_the_recording_alone() -> None:
    timeline = recorded(session(2000))
    before = cbor2.dumps(timeline.society.dump(), canonical=True)
    branch = sim(timeline, EAGER)
    assert branch.grow()
    difference = branch.difference()
    assert difference.gained
    rows = difference.table()
    assert sum(row[0] + row[2] + row[3] for row in rows.values()) == sum(
        mark.kind in FIRINGS for mark in timeline.marks
    )
    assert branch.cost == 2000
    assert cbor2.dumps(timeline.society.dump(), canonical=True) == before


def test_progress_can_cut_a_branch_short() -> None:
    branch = sim(recorded(session(2000)), EAGER)
    told: list[int] = []

    def progress(done: int, of: int) -> bool:
        told.append(done)
        return done < 1000

    assert not branch.grow(progress)
    assert branch.state == "cut" and told[-1] >= 1000 and branch.cost == told[-1]


def test_a_branch_given_up_leaves_nothing() -> None:
    timeline = recorded(session(300))
    before = cbor2.dumps(timeline.society.dump(), canonical=True)
    branch = sim(timeline, EAGER)
    branch.grow()
    branch.abort("too late")
    assert (branch.state, branch.reason) == ("aborted", "too late")
    assert not branch.events and not list(branch.run.marks)
    assert cbor2.dumps(timeline.society.dump(), canonical=True) == before
    assert len(timeline.changes) == 1


def test_a_copy_of_a_recording_is_the_same_recording() -> None:
    timeline = recorded(session(300))
    timeline.apply(EAGER)
    timeline.extend(session(400)[300:])
    made = copy_recording(timeline)
    assert made is not None and made.changes == timeline.changes
    assert cbor2.dumps(made.society.dump()) == cbor2.dumps(timeline.society.dump())
    assert copy_recording(timeline, lambda *_: False) is None


def test_a_steer_is_tried_without_being_given() -> None:
    timeline = recorded(session(400))
    branch = pre_steer(timeline, "stop and read the error message again", 200)
    assert branch.grow()
    assert branch.cost == 201
    assert len(timeline) == 400


def test_a_dream_recombines_stretches_and_is_the_same_for_the_same_seed() -> None:
    timeline = recorded(session(800))
    first, second, other = dream(timeline, 1), dream(timeline, 1), dream(timeline, 2)
    for branch in (first, second, other):
        assert branch.grow()
    assert first.run.society.dump() == second.run.society.dump()
    assert list(first.events) != list(other.events)
    assert all(later.at >= timeline.time_of(800) - 1e-6 for later in first.events)
    assert dream(recorded([]), 1).grow()


def test_firings_are_paired_by_place_then_by_nearness() -> None:
    actual = [mark(1, 10), mark(5, 50), mark(9, 100), mark(20, 900)]
    other = [mark(1, 10), mark(6, 58), mark(12, 300)]
    difference = compare(actual, other, near=20)
    assert [pair.actual.place for pair in difference.kept] == [1]
    assert [(pair.actual.place, pair.other.place) for pair in difference.moved] == [(5, 6)]
    assert [each.place for each in difference.lost] == [9, 20]
    assert [each.place for each in difference.gained] == [12]
    assert difference.table() == {"frustration_spike": (1, 1, 2, 1)}


@given(
    st.lists(st.tuples(st.integers(0, 30), st.sampled_from("ab")), max_size=20, unique=True),
    st.lists(st.tuples(st.integers(0, 30), st.sampled_from("ab")), max_size=20, unique=True),
)
def test_every_firing_is_in_exactly_one_group(left: list[tuple[int, str]], right: list[tuple[int, str]]) -> None:
    actual = [mark(place, place * 7.0, name) for place, name in sorted(left)]
    other = [mark(place, place * 7.0, name) for place, name in sorted(right)]
    difference = compare(actual, other, near=15)
    ours = [*(pair.actual for pair in (*difference.kept, *difference.moved)), *difference.lost]
    theirs = [*(pair.other for pair in (*difference.kept, *difference.moved)), *difference.gained]
    assert sorted(ours) == sorted(actual)
    assert sorted(theirs) == sorted(other)


def test_a_what_if_keeps_the_settings_that_were_applied_on_the_way() -> None:
    from core.timeline.rerun import rerun_with, with_edits
    from core.timeline.timeline import SettingsChange

    other = with_edits(Settings(), {"receptor.ambient.offset.frustration": 0.02})
    timeline = Timeline(Settings(), later=(SettingsChange(200, other),))
    timeline.extend(session(600))
    same = rerun_with(timeline, {})
    assert not same.advance(600)
    assert list(same.run.marks) == list(timeline.marks)
    assert same.run.society.dump() == timeline.society.dump()
    assert not rerun_with(timeline, {"receptor.ambient.offset.frustration": 0.02}).advance(600)


def test_settings_are_committed_only_if_they_were_tried_on_all_events() -> None:
    timeline = recorded(session(300))
    check_commit(timeline, 300)
    with pytest.raises(StateError, match="the session moved on: 1 events came"):
        check_commit(timeline, 299)
    small = Timeline(resolve([Layer("test", (Given("timeline.branch.most", 1000),))]).settings)
    small.extend(session(1001))
    whatif = WhatIf(small, {"receptor.ambient.offset.frustration": 0.05})
    whatif.run(lambda _: None, lambda: False)
    result = whatif.result()
    assert (result.done, result.complete) == (1000, True)
    with pytest.raises(StateError, match="limit of 1000 events"):
        check_commit(small, result.done)
