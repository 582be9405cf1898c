"""Sessions in one folder: what they show each other is bounded by policy, recorded, and seeks exactly."""

from __future__ import annotations

import os
from pathlib import Path

import cbor2
import pytest

from bench.workload import session
from core.engine.affect.policy import Policy
from core.engine.affect.reading import KeptAffect, Neighbour
from core.engine.society import Society
from core.events import MAIN, ToolUse
from core.live.carry_over import CarryOver
from core.live.source import changed_files
from core.settings import Settings
from core.store.carry_over import AffectLeft, AffectStore, KeptStart, Later
from core.timeline.initial_state import InitialState
from core.timeline.rerun import rerun_with
from core.timeline.run_inputs import pack_change, pack_start, unpack_inputs
from core.timeline.timeline import SettingsChange, Timeline

STREAM = session(400)
RAISED = (0.4, 0.0, -0.3, 0.0, 0.3, 0.4, 0.0)
NEWS = (Neighbour("other", STREAM[100].at, RAISED, "done"),)

CHANGED = tuple(
    (path, STREAM[127].at)
    for path in {target: None for event in STREAM[:60] if isinstance(event, ToolUse) for target in event.targets}
)


def bytes_of(society: Society) -> bytes:
    return cbor2.dumps(society.dump(), canonical=True)


def watched(after: int) -> Timeline:
    """A recording that heard of a neighbour after so many events."""
    timeline = Timeline(Settings(), every=32)
    timeline.extend(STREAM[:after])
    timeline.add_reports(NEWS, CHANGED)
    timeline.extend(STREAM[after:])
    return timeline


@pytest.mark.parametrize("after", [128, 129, 159])
def test_a_report_seeks_and_replays_as_it_was_heard(after: int) -> None:
    live = watched(after)
    alone = Timeline(Settings(), every=32)
    alone.extend(STREAM)
    assert bytes_of(live.society) != bytes_of(alone.society)
    later = (SettingsChange(after, Settings(), NEWS, CHANGED),)
    replay = Timeline(Settings(), later=later, every=64)
    replay.extend(STREAM)
    assert bytes_of(live.society) == bytes_of(replay.society)
    for index in (399, after + 1, after, 20, after + 40, after + 31):
        plain = Society(Settings())
        for event in STREAM[: min(index, after)]:
            plain.step(event)
        if index >= after:
            SettingsChange(after, Settings(), NEWS, CHANGED).apply_to(plain)
        for event in STREAM[after:index]:
            plain.step(event)
        assert bytes_of(live.society_at(index)) == bytes_of(plain), index
    rerun = rerun_with(live, {})
    rerun.advance(len(live))
    assert list(rerun.run.marks) == list(live.marks)


def test_a_report_is_the_peer_stimulus_and_moves_affect_within_its_limits() -> None:
    society = Society(Settings())
    for event in STREAM[:100]:
        society.step(event)
    before = society.engine(MAIN).affect.deviations
    society.receive_reports(NEWS)
    moved = society.engine(MAIN).affect.deviations
    assert moved != before
    limits = [getattr(Settings().affect.fields, f.name).contagion_limit for f in society.frame().affect.fields]
    steps = [abs(a - b) for a, b in zip(moved, before, strict=True)]
    assert all(step <= limit for step, limit in zip(steps, limits, strict=True))
    society.receive_reports(NEWS)
    assert society.engine(MAIN).affect.deviations == moved
    thought = society.step(STREAM[100]).thought
    assert thought.stimulus is not None and thought.stimulus.cause == "peer"
    assert society.read().neighbours == (("other", STREAM[100].at),)


def test_what_was_heard_is_kept_for_the_replay() -> None:
    settings = Settings()
    change = SettingsChange(7, settings, NEWS, CHANGED)
    kept = KeptStart(pack_start(settings, InitialState(3)), (Later(7, pack_change(change)),))
    assert unpack_inputs(kept, settings).later == (change,)


def test_affect_is_kept_by_agent_and_project_and_fades(tmp_path: Path) -> None:
    store = AffectStore(tmp_path)
    store.leave("/p", AffectLeft("one", "claude-code", 100.0, RAISED))
    store.leave("/p", AffectLeft("two", "codex", 200.0, RAISED, "done"))
    assert store.last("/p", "claude-code", "new", 160.0, 3600.0) == KeptAffect("one", RAISED, 60.0)
    assert store.last("/p", "claude-code", "one", 160.0, 3600.0) is None
    assert store.last("/q", "claude-code", "new", 160.0, 3600.0) is None
    assert store.last("/p", "claude-code", "new", 99.0, 3600.0) is None
    assert [one.session for one in store.neighbours("/p", "one", 300.0, 150.0)] == ["two"]
    assert store.neighbours("/p", "one", 351.0, 150.0) == ()
    soon, late = (
        InitialState(affect=KeptAffect("one", RAISED, elapsed)).society(Settings()) for elapsed in (0.0, 600.0)
    )
    near = soon.engine(MAIN).affect.deviations
    assert near == pytest.approx(RAISED)
    assert all(abs(a) <= abs(b) for a, b in zip(late.engine(MAIN).affect.deviations, near, strict=True))
    assert late.engine(MAIN).affect.deviations != near
    assert late.frame().affect.changes == 1


def test_a_session_leaves_its_affect_and_the_next_two_find_it(tmp_path: Path) -> None:
    settings = Settings()
    society = Society(settings)
    for event in STREAM:
        society.step(event)

    def carry_over(tool: str, policy: Policy | None = None) -> CarryOver:
        made = CarryOver(settings, initial=InitialState(policy=policy), affect=AffectStore(tmp_path))
        made.belongs(tool, "/p")
        return made

    first = carry_over("codex")
    first.session = "first"
    first.settle(society)
    at = STREAM[-1].at + 60.0
    same = carry_over("codex").initial_state("second", 1, at)
    assert same.affect == KeptAffect("first", society.engine(MAIN).affect.deviations, 60.0)
    assert same.neighbours == ()
    other = carry_over("claude-code").initial_state("third", 1, at)
    assert other.affect is None and [one.session for one in other.neighbours] == ["first"]
    quiet = Policy.parse({"name": "quiet", "contagion": {"sessions": False}})
    assert carry_over("claude-code", quiet).initial_state("third", 1, at).neighbours == ()


def test_a_file_changed_on_disk_is_seen_in_the_project_alone(tmp_path: Path) -> None:
    inside, outside = tmp_path / "project", tmp_path / "secret.txt"
    inside.mkdir()
    for path in (inside / "a.py", outside):
        path.write_text("x")
        os.utime(path, (100.0, 100.0))
    (inside / "link.py").symlink_to(outside)
    seen = {"a.py": 50.0, "../secret.txt": 50.0, str(outside): 50.0, "link.py": 50.0, "gone.py": 50.0}
    assert changed_files(str(inside), seen, 200.0) == (("a.py", 100.0),)
    assert changed_files(str(inside), {"a.py": 99.9}, 100.0) == (("a.py", 100.0),)
    assert changed_files(str(inside), {"a.py": 100.0}, 200.0) == ()
    assert changed_files(str(inside), {"a.py": 50.0}, 99.0) == ()
    assert changed_files("", seen, 200.0) == () and changed_files("project", seen, 200.0) == ()


def test_a_file_changed_since_the_agent_was_there_is_told() -> None:
    society = Society(Settings())
    for event in STREAM[:60]:
        society.step(event)
    path = society.frame().receptor.heatmap.top[0].path
    before = society.frame().receptor.heatmap.top[0]
    society.see_changed([(path, before.last_access + 5.0), ("never/seen.py", 1.0)])
    after = society.frame().receptor.heatmap.top[0]
    assert after.last_modified == before.last_access + 5.0
    society.see_changed([(path, 1.0)])
    assert society.frame().receptor.heatmap.top[0] == after
