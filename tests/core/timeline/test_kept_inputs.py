"""A what-if from kept inputs says what the engine says, whatever is turned and whoever did what."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.workload import session
from core.agents.registry import make_kit
from core.logs.finder import sessions
from core.logs.session import read_session
from core.receptor.replay import only_felt
from core.settings import Settings
from core.settings.layers import tunables
from core.timeline.initial_state import InitialState
from core.timeline.rerun import FELT, Rerun, inputs_of
from core.timeline.timeline import Timeline
from tests.core.strategies import events

TURNED = [each for name, each in tunables().items() if only_felt(name)]
OFFSET = "receptor.ambient.offset.frustration"


@st.composite
def edits(draw: st.DrawFn) -> dict[str, Any]:
    """Some settings of the second half, anywhere in their bounds."""
    found: dict[str, Any] = {}
    for each in draw(st.lists(st.sampled_from(TURNED), min_size=1, max_size=6, unique=True)):
        if each.kind == "switch":
            found[each.name] = draw(st.booleans())
        elif each.kind == "choice":
            found[each.name] = draw(st.sampled_from(each.choices))
        elif each.low is not None and each.high is not None and each.kind in ("number", "integer"):
            share = draw(st.floats(0.0, 1.0))
            value = each.low + share * (each.high - each.low)
            found[each.name] = int(value) if each.kind == "integer" else value
    return found


def through(rerun: Rerun, batch: int = 97) -> Rerun:
    while rerun.advance(batch):
        pass
    return rerun


def assert_alike(timeline: Timeline, turned: dict[str, Any]) -> Rerun:
    """The run from kept inputs against one that runs every receptor on every event."""
    kept, run = Rerun(timeline, turned, whole=False), Rerun(timeline, turned, whole=False)
    assert kept._inputs is not None
    run._inputs = None
    through(kept)
    through(run)
    assert kept.marks() == run.marks()
    assert list(kept.tracks) == list(run.tracks)
    for agent, track in run.tracks.items():
        assert kept.tracks[agent].indexes == track.indexes
        for name in FELT:
            mine, theirs = (each.tracks[agent].columns.column(name) for each in (kept, run))
            assert mine.tobytes() == theirs.tobytes(), (agent, name)
    return kept


@cache
def recorded() -> Timeline:
    timeline = Timeline(Settings(), initial=InitialState(5, prior={"frustration": 0.3, "flow": 0.2}))
    timeline.extend(session(700, agents=3))
    return timeline


def test_there_is_something_to_turn() -> None:
    assert len(TURNED) > 100
    assert {name.split(".")[1] for name in (each.name for each in TURNED)} == {
        *("emotion", "impulse", "ambient", "neuron", "meta", "flow")
    }
    assert not only_felt("receptor.time.cap")
    assert not only_felt("receptor.heatmap.top")


@pytest.mark.parametrize(
    "row", sorted({each.name.rsplit(".", 1)[0] for each in TURNED if ".impulse." in each.name})
)
def test_every_row_of_the_impulses_is_felt_alike(row: str) -> None:
    names = [each.name for each in TURNED if each.name.startswith(f"{row}.") and each.kind == "number"]
    assert_alike(recorded(), {**dict.fromkeys(names, 0.2), "receptor.emotion.half_life.frustration": 5.0})


@settings(max_examples=40)
@given(edits())
def test_random_settings_over_several_agents(turned: dict[str, Any]) -> None:
    assert_alike(recorded(), turned)


@settings(max_examples=40)
@given(st.lists(events(max_size=60), max_size=1), edits())
def test_random_settings_over_random_events(streams: list[Any], turned: dict[str, Any]) -> None:
    timeline = Timeline(Settings(), seed=1)
    for stream in streams:
        timeline.extend(stream)
    assert_alike(timeline, turned)


@pytest.fixture(scope="module")
def real_runs(shared_data: Path) -> list[Timeline]:
    """Every real log, recorded once."""
    kit = make_kit()
    runs = []
    for found in sessions([shared_data / "real_sessions"], kit):
        runs.append(Timeline(Settings()))
        runs[-1].extend(read_session(found, kit))
    return runs


@pytest.mark.parametrize("offset", [0.05, 0.2, 0.6])
def test_thresholds_over_real_logs(real_runs: list[Timeline], offset: float) -> None:
    fired = 0
    for timeline in real_runs:
        turned = {OFFSET: offset, "receptor.neuron.hold": 2, "receptor.meta.step": 0.03}
        fired += len(assert_alike(timeline, turned).marks())
    assert fired > 20


def test_agents_summed_up_begin_again() -> None:
    """More agents than stay awake: one that comes back has forgotten what it felt."""
    few = Settings.model_validate({"affect": {"society": {"awake": 2, "finished": 1}}})
    timeline = Timeline(few)
    timeline.extend(session(900, agents=6))
    firsts = [row.first for row in inputs_of(timeline).upto(900)]
    assert sum(firsts) > len(timeline.agents)
    assert_alike(timeline, {OFFSET: 0.1})


def test_inputs_are_worked_out_once_and_go_on_with_the_recording() -> None:
    stream = list(session(400))
    timeline = Timeline(Settings())
    timeline.extend(stream[:300])
    rerun = through(Rerun(timeline, {OFFSET: 0.05}, whole=False))
    before = list(inputs_of(timeline).upto(300))
    timeline.extend(stream[300:])
    through(rerun)
    assert inputs_of(timeline).upto(400)[:300] == before
    assert rerun.marks() == through(Rerun(timeline, {OFFSET: 0.05}, whole=False)).marks()
    assert all(mine is kept for mine, kept in zip(inputs_of(timeline).upto(400), before, strict=False))


def test_other_edits_and_recordings_of_several_settings_run_the_engine() -> None:
    timeline = Timeline(Settings())
    timeline.extend(session(50))
    assert Rerun(timeline, {"receptor.time.cap": 60.0}, whole=False)._inputs is None
    assert Rerun(timeline, {OFFSET: 0.05})._inputs is None
    timeline.apply(Settings.model_validate({"receptor": {"neuron": {"hold": 7}}}))
    timeline.extend(session(50))
    assert Rerun(timeline, {OFFSET: 0.05}, whole=False)._inputs is None
