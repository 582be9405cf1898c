"""A run that begins where it can first differ is the run from the start, to the bit."""

from __future__ import annotations

import gc
import weakref
from functools import cache
from pathlib import Path
from typing import Any

import cbor2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.workload import session
from core.affect import Neighbour
from core.agents.registry import make_kit
from core.errors import StoreError
from core.events import Event, Prompt, ToolUse
from core.logs.finder import sessions
from core.logs.session import read_session
from core.settings import Settings
from core.settings.layers import tunables
from core.settings.tunable import Tunable
from core.timeline import kept_run as kept_runs
from core.timeline.head_start import rooms_apart
from core.timeline.initial_state import InitialState
from core.timeline.kept_run import KeptRun, kept_run
from core.timeline.rerun import Rerun, overlaid
from core.timeline.timeline import Timeline
from core.timeline.whatif import WhatIf, WhatIfResult
from tests.core.strategies import events

ROOMS = ("receptor.", "governor.", "affect.", "response.")
TURNED = [name for name, each in tunables().items() if name.startswith(ROOMS) and each.kind != "table"]
STEPS = "governor.observing.max_steps"
POINTS = "governor.episodes.points"
"""Moves no verdict."""


def recorded(stream: list[Event], every: int = 16, initial: InitialState | None = None) -> Timeline:
    timeline = Timeline(Settings(), seed=3, every=every, initial=initial)
    timeline.extend(stream)
    return timeline


def kept(timeline: Timeline) -> KeptRun:
    run = kept_run(timeline)
    while run.advance(50):
        pass
    return run


def through(rerun: Rerun, batch: int = 23) -> Rerun:
    while rerun.advance(batch):
        pass
    return rerun


def begun(timeline: Timeline, edits: dict[str, Any]) -> tuple[Rerun, int]:
    """A run over a recording of which all is kept, and the place it began at."""
    kept(timeline)
    rerun = Rerun(timeline, edits)
    head = rerun._head
    through(rerun)
    return rerun, head.place if head is not None else 0


def assert_alike(timeline: Timeline, edits: dict[str, Any]) -> int:
    """The place it began at, after all that both runs leave behind was compared."""
    started, place = begun(timeline, edits)
    plain = Rerun(timeline, edits)
    plain._head = None
    through(plain)
    assert list(started._run.marks) == list(plain._run.marks)
    assert started.texts == plain.texts
    assert started.tracks.keys() == plain.tracks.keys()
    for agent, track in plain.tracks.items():
        mine = started.tracks[agent]
        assert (mine.indexes, mine.origin) == (track.indexes, track.origin)
        for name in track.columns.names:
            assert mine.columns.column(name).tobytes() == track.columns.column(name).tobytes(), (agent, name)
    assert cbor2.dumps(started.society.dump()) == cbor2.dumps(plain.society.dump())
    return place


def drawn(draw: st.DrawFn, each: Tunable) -> Any:
    if each.kind == "switch":
        return draw(st.booleans())
    if each.kind == "choice":
        return draw(st.sampled_from(each.choices))
    if each.low is None or each.high is None or each.kind not in ("number", "integer"):
        return each.default
    value = each.low + draw(st.floats(0.0, 1.0)) * (each.high - each.low)
    return int(value) if each.kind == "integer" else value


@st.composite
def edits(draw: st.DrawFn) -> dict[str, Any]:
    """Some settings of the rooms that may be run alone, anywhere in their bounds."""
    chosen = draw(st.lists(st.sampled_from(TURNED), min_size=1, max_size=3, unique=True))
    return {name: drawn(draw, tunables()[name]) for name in chosen}


@cache
def busy() -> Timeline:
    """Three agents over an hour, with what an earlier session left."""
    return recorded(session(600, agents=3), initial=InitialState(5, prior={"frustration": 0.3, "flow": 0.2}))


@settings(max_examples=40)
@given(edits())
def test_whatever_is_turned_it_is_the_run_from_the_start(turned: dict[str, Any]) -> None:
    assert_alike(busy(), turned)


@settings(max_examples=40)
@given(events(max_size=80), edits())
def test_whoever_did_what_it_is_the_run_from_the_start(stream: list[Event], turned: dict[str, Any]) -> None:
    assert_alike(recorded(stream, every=8), turned)


def working(count: int) -> list[Event]:
    """A prompt, and then only what goes well."""
    asked: list[Event] = [Prompt(at=0.0, characters=200)]
    return asked + [
        ToolUse(at=20.0 * number, action="file_edit", tool="Edit", targets=(f"src/{number % 9}.py",))
        for number in range(1, count)
    ]


@pytest.mark.parametrize(("steps", "place"), [(39, 32), (40, 40), (41, 40), (7, 0), (8, 8), (500, 96)])
def test_it_begins_at_the_last_kept_state_before_the_first_other_word(steps: int, place: int) -> None:
    """The governor halts at the step of that number, which is the event of that number."""
    timeline = recorded(working(100), every=8)
    halts = [mark for mark in timeline.marks if mark.kind == "halt"]
    assert not halts
    assert assert_alike(timeline, {STEPS: steps}) == place


@pytest.mark.parametrize(
    ("edits", "apart"),
    [
        ({STEPS: 40}, {"governor"}),
        ({POINTS: 9}, {"governor"}),
        ({"response.scoring.low": 60.0}, {"response"}),
        ({"receptor.ambient.offset.flow": 0.3, STEPS: 40}, {"receptor", "governor"}),
        ({"timeline.branch.near": 30.0}, set()),
        ({"receptor.heatmap.top": 3}, None),
        ({"mind.sleep.threshold": 3.0, STEPS: 40}, None),
        ({"affect.quarantine.enter": 0.2}, None),
        ({"response.actions.paths": 1}, None),
    ],
)
def test_rooms_that_are_heard_by_their_words_alone(edits: dict[str, Any], apart: set[str] | None) -> None:
    usual = Settings()
    other = overlaid(usual, edits)
    assert other != usual
    assert rooms_apart(usual, other, edits) == apart


def test_every_room_moves_something_somewhere() -> None:
    """Each comes to a place that is neither the start nor the end."""
    timeline = recorded(session(1500, agents=2), every=16)
    for edits in ({STEPS: 60}, {"response.scoring.high": 30.0}, {"receptor.ambient.offset.frustration": 0.1}):
        assert 0 < assert_alike(timeline, edits) < 1400, edits


def test_nothing_is_skipped_before_the_recording_was_run_as_it_was() -> None:
    timeline = recorded(working(60), every=8)
    assert Rerun(timeline, {STEPS: 40})._head is None
    assert kept_run(timeline).advance(20)
    head = Rerun(timeline, {STEPS: 40})._head
    assert head is not None
    while head.advance(7):
        pass
    assert head.place == 16


def test_settings_that_changed_on_the_way_bound_what_is_kept() -> None:
    timeline = recorded(session(100, agents=2), every=8)
    timeline.apply(overlaid(timeline.settings, {"receptor.neuron.hold": 5}))
    timeline.extend(session(80, seed=2, agents=2))
    assert len(kept(timeline).steps) == 100
    assert kept(timeline).texts is None
    assert assert_alike(timeline, {POINTS: 9}) == 96


@pytest.mark.parametrize("more", [0, 60])
def test_a_state_that_was_kept_right_after_something_was_found_out(more: int) -> None:
    """As a recording that is put away keeps its last state."""
    timeline = recorded(session(100, agents=2), every=8)
    timeline.tell(heard=(Neighbour("other", timeline.time_of(100), (0.3,) * 7),))
    timeline.keep()
    timeline.extend(session(more, seed=2, agents=2))
    assert assert_alike(timeline, {POINTS: 9}) == 96


def test_a_recording_that_goes_on_is_kept_and_run_on() -> None:
    stream = session(300, agents=2)
    timeline = recorded(stream[:200], every=8)
    rerun, place = begun(timeline, {POINTS: 9})
    assert place == 200
    timeline.extend(stream[200:])
    through(rerun)
    plain = through(Rerun(recorded(stream, every=8), {POINTS: 9}))
    assert list(rerun._run.marks) == list(plain._run.marks)
    assert cbor2.dumps(rerun.society.dump()) == cbor2.dumps(plain.society.dump())
    assert assert_alike(timeline, {POINTS: 9}) == 296


def test_only_so_much_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_runs, "MOST", 50)
    timeline = recorded(working(100), every=8)
    assert assert_alike(timeline, {POINTS: 9}) == 48


def test_a_damaged_state_costs_the_head_start_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    timeline = recorded(working(100), every=8)

    def broken(_: object) -> dict[str, Any]:
        raise StoreError("damaged")

    kept(timeline)
    rerun = Rerun(timeline, {STEPS: 40})
    monkeypatch.setattr(timeline, "kept_state", broken)
    through(rerun)
    monkeypatch.undo()
    plain = Rerun(timeline, {STEPS: 40})
    plain._head = None
    assert rerun.marks() == through(plain).marks()


def test_agents_that_sleep_and_come_back() -> None:
    few = Settings.model_validate({"affect": {"society": {"awake": 2, "finished": 1}}})
    timeline = Timeline(few, every=16)
    timeline.extend(session(900, agents=6))
    for edits in ({STEPS: 30}, {"response.scoring.high": 30.0}, {"receptor.ambient.offset.frustration": 0.1}):
        assert_alike(timeline, edits)


def test_the_second_edit_of_a_what_if_begins_later_and_says_the_same() -> None:
    timeline = recorded(session(400, agents=2), every=16)
    told: list[list[WhatIfResult]] = [[], []]
    for results in told:
        turned = WhatIf(timeline, {POINTS: 9})
        assert turned.whole is None
        turned.run(results.append, lambda: False)
    first, second = (results[-1] for results in told)
    assert first.complete
    assert second.complete
    assert first.difference == second.difference
    assert first.texts == second.texts == ()
    assert len(kept_run(timeline).steps) == 400


def test_nothing_is_kept_for_edits_that_never_follow() -> None:
    timeline = recorded(working(40), every=8)
    whatif = WhatIf(timeline, {STEPS: 20})
    whatif.run(lambda _: None, lambda: False, once=True)
    assert whatif.result().complete
    assert whatif.result().texts is not None
    assert not kept_run(timeline).steps
    timeline.run.texts_from = 40
    WhatIf(timeline, {STEPS: 20}).run(lambda _: None, lambda: False, once=True)
    assert len(kept_run(timeline).steps) == 40, "for words that a cache did not keep"


@pytest.mark.parametrize("edits", [{POINTS: 9}, {"receptor.ambient.offset.frustration": 0.1}])
def test_nothing_is_kept_of_a_recording_that_nobody_uses_any_more(edits: dict[str, Any]) -> None:
    timeline = recorded(working(40), every=8)
    WhatIf(timeline, edits).run(lambda _: None, lambda: False)
    assert kept_run(timeline).steps
    left = weakref.ref(timeline)
    del timeline
    gc.collect()
    assert left() is None


@pytest.fixture(scope="module")
def real_runs(shared_data: Path) -> list[Timeline]:
    """Every real log, recorded once."""
    kit = make_kit()
    found = sessions([shared_data / "real_sessions"], kit)
    return [recorded(list(read_session(session, kit))) for session in found]


@pytest.mark.parametrize(
    "edits",
    [
        {STEPS: 20},
        {"response.scoring.high": 30.0, "response.loops.exact.single": 2},
        {"receptor.ambient.offset.frustration": 0.05},
    ],
)
def test_real_logs(real_runs: list[Timeline], edits: dict[str, Any]) -> None:
    assert sum(assert_alike(timeline, edits) > 0 for timeline in real_runs) > 20
