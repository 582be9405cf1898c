"""A recording run again: exact where nothing changed, told value by value where something did."""

from __future__ import annotations

from collections import Counter
from typing import Any

import cbor2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.workload import session
from core.engine.percept import AXES
from core.errors import NooscopeError
from core.events import Event
from core.settings import Settings
from core.settings.layers import tunables, value_of
from core.store.bookmarks import Label
from core.timeline.rerun import FIRINGS, Difference, ReceptorRerun, Rerun, compare, key_of, rerun_with, with_edits
from core.timeline.timeline import Timeline
from core.timeline.whatif import Sweep, grid, join_sweeps, parse_sweep, spread, sweep_recording, usual_grid
from tests.core.strategies import events

OFFSET = "receptor.ambient.offset.frustration"
CONFIDENCE = "receptor.ambient.offset.confidence"
HOLD = "receptor.neuron.hold"


class Listener(list[Sweep]):
    """Keeps what it is told, and has had enough after so many."""

    def __init__(self, patience: int = 10**9) -> None:
        super().__init__()
        self._patience = patience

    def __call__(self, sweep: Sweep) -> bool:
        self.append(sweep)
        return len(self) < self._patience


def recorded(stream: list[Event], change: int | None = None, edits: dict[str, Any] | None = None) -> Timeline:
    """A recording whose settings change on the way, where that is asked for."""
    timeline = Timeline(Settings(), seed=3)
    for number, event in enumerate(stream):
        if number == change:
            timeline.apply(with_edits(timeline.settings, edits or {}))
        timeline.add(event)
    return timeline


def through(rerun: Rerun, batch: int = 7) -> Rerun:
    while rerun.advance(batch):
        pass
    return rerun


def difference(timeline: Timeline, rerun: Rerun) -> Difference:
    kinds = {"signal"} if isinstance(rerun, ReceptorRerun) else FIRINGS
    actual = [mark for mark in timeline.marks.between(0, rerun.done) if mark.kind in kinds]
    return compare(actual, rerun.marks(), 5.0)


@settings(max_examples=25)
@given(events(max_size=60), st.integers(0, 60), st.booleans())
def test_nothing_changed_makes_no_difference(stream: list[Event], change: int, whole: bool) -> None:
    timeline = recorded(stream, change, {OFFSET: 0.05, HOLD: 5})
    rerun = through(rerun_with(timeline, {}, whole=whole))
    assert difference(timeline, rerun).equal
    if whole and timeline.changes[-1].after < len(stream):
        assert cbor2.dumps(rerun.run.society.dump()) == cbor2.dumps(timeline.society.dump())


@pytest.mark.parametrize("edits", [{OFFSET: 0.05}, {HOLD: 1}, {"receptor.emotion.half_life.seeking": 900.0}])
def test_what_is_felt_is_the_same_with_and_without_the_rest(edits: dict[str, Any]) -> None:
    timeline = recorded(session(1500, agents=3))
    felt, whole = (through(rerun_with(timeline, edits, whole=each), 200) for each in (False, True))
    signals = [mark._replace(causes=()) for mark in whole.marks() if mark.kind == "signal"]
    assert felt.marks() == signals
    assert signals != [mark._replace(causes=()) for mark in timeline.marks if mark.kind == "signal"]
    for agent, track in whole.tracks.items():
        for axis in AXES:
            mine = felt.tracks[agent].columns.column(f"axis.{axis}")
            assert mine.tolist() == track.columns.column(f"axis.{axis}").tolist()


def test_a_rerun_goes_on_when_the_recording_does() -> None:
    stream = session(600)
    timeline = recorded(stream[:400])
    rerun = through(rerun_with(timeline, {OFFSET: 0.05}))
    timeline.extend(stream[400:])
    through(rerun)
    fresh = through(rerun_with(timeline, {OFFSET: 0.05}))
    assert difference(timeline, rerun) == difference(timeline, fresh)
    assert difference(timeline, rerun).gained


def test_an_edit_holds_throughout_and_leaves_other_changes_standing() -> None:
    timeline = recorded(session(300), 150, {HOLD: 9})
    rerun = rerun_with(timeline, {OFFSET: 0.05})
    assert [(era.after, value_of(era.settings, HOLD)) for era in rerun.eras] == [(0, 3), (150, 9)]
    assert all(value_of(era.settings, OFFSET) == 0.05 for era in rerun.eras)


def test_applying_and_replaying_gives_the_same_bytes_as_live() -> None:
    stream = session(900)
    live = recorded(stream, 450, {OFFSET: 0.05})
    replay = Timeline(Settings(), seed=3)
    replay.extend(stream[:450])
    replay.apply(live.settings)
    replay.extend(stream[450:])
    for index in (100, 450, 451, 700, 900):
        mine, theirs = (cbor2.dumps(each.society_at(index).dump()) for each in (live, replay))
        assert mine == theirs
        again = cbor2.dumps(live.branch_point(index).dump())
        assert again == mine
    assert list(live.marks) == list(replay.marks)


def test_a_grid_stays_within_bounds() -> None:
    offset, hold = tunables()[OFFSET], tunables()[HOLD]
    assert grid(offset, 0, 0.8, 5) == [0.0, 0.2, 0.4, 0.6, 0.8]
    assert grid(hold, 1, 3, 9) == [1, 2, 3]
    assert all(isinstance(value, int) for value in grid(hold, 1, 3, 9))
    for low, high, count in ((0, 0.9, 5), (-1, 0.5, 5), (0.5, 0.1, 5), (0, 0.5, 1)):
        with pytest.raises(NooscopeError):
            grid(offset, low, high, count)
    with pytest.raises(NooscopeError, match="has no range"):
        grid(tunables()["screen.motion"], 0, 1, 3)


@pytest.mark.parametrize("name", [name for name, each in tunables().items() if each.kind == "number"][::9])
def test_every_number_can_be_swept_around_its_value(name: str) -> None:
    tunable = tunables()[name]
    values = usual_grid(tunable, tunable.default)
    assert tunable.default in values
    assert values == sorted(values)
    assert tunable.low is None or values[0] >= tunable.low
    assert tunable.high is None or values[-1] <= tunable.high


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=40, unique=True), st.integers(0, 1000))
def test_the_order_of_trying_tries_every_value_once(values: list[int], present: int) -> None:
    order = spread(values, present)
    assert sorted(order) == sorted(values)
    assert {min(values), max(values)} <= set(order[:3])


@pytest.mark.parametrize("text", ["nothing=0:1:3", OFFSET, f"{OFFSET}=0:1", f"{OFFSET}=0:x:3", f"{OFFSET}=0:9:3"])
def test_a_sweep_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(NooscopeError):
        parse_sweep(text)


def test_a_sweep_tells_firings_and_agreement() -> None:
    timeline = recorded(session(800))
    spikes = [mark for mark in timeline.marks if mark.name == "confidence_sustained"]
    labels = [Label(mark.place, mark.at, "right", mark.name, mark.agent) for mark in spikes]
    told = Listener()
    values = [0.05, 0.25, 0.8]
    sweep_recording(timeline, CONFIDENCE, values, labels, told)
    last = told[-1]
    assert [point.value for point in last.points] == values
    assert last.present == 0.25
    assert len(told[0].points) <= 1
    fired = [point.names.get("confidence_sustained", 0) for point in last.points]
    assert fired[1] == len(spikes)
    assert fired[0] > fired[2]
    assert last.points[1].score.recall == 1.0
    assert (last.points[2].score.recall or 0.0) < 1.0
    assert "confidence_sustained" in last.moving
    both = join_sweeps([last, last])
    assert both.sessions == 2
    assert [point.fired for point in both.points] == [2 * point.fired for point in last.points]


@pytest.mark.parametrize(
    ("name", "edits"),
    [
        ("response.escalation.loop", {}),
        ("response.escalation.loop", {OFFSET: 0.05}),
        ("governor.appraisal.difficulty_frustration", {}),
        ("mind.cortical.regime.turbulence_enter", {}),
        (OFFSET, {"response.escalation.loop": 0.2}),
    ],
)
@pytest.mark.parametrize("change", [None, 200])
def test_a_sweep_of_a_recording_counts_what_a_run_at_each_value_finds(
    name: str, edits: dict[str, Any], change: int | None
) -> None:
    timeline = recorded(session(400), change, {HOLD: 9})
    told = Listener()
    sweep_recording(timeline, name, [0.1, 0.5, 0.9], [], told, edits)
    last = told[-1]
    assert last.what == "firing" and len(last.points) == 3
    for point in last.points:
        marks = through(rerun_with(timeline, {**edits, name: point.value})).marks()
        assert point.names == Counter(map(key_of, marks))


@pytest.mark.parametrize("name", [OFFSET, "response.escalation.loop"])
def test_a_sweep_nobody_wants_any_more_ends(name: str) -> None:
    timeline = recorded(session(500))
    told = Listener(patience=1)
    sweep_recording(timeline, name, [0.1, 0.2], [], told)
    assert len(told) == 1
    assert not told[0].points
