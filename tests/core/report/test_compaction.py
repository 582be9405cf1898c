"""What is kept of an agent when its context is cut."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from bench.workload import session
from core.agents.registry import make_kit
from core.engine.percept import Signal
from core.engine.response.loops import Loop
from core.engine.response.rules import built_in
from core.engine.society import Society
from core.engine.society.engine import Frame
from core.errors import StateError
from core.events import MAIN, AgentEnd, AgentStart, Compaction, Event, Prompt, ToolUse, Turn
from core.logs.finder import sessions
from core.logs.session import read_session
from core.report.compaction import (
    FAR,
    OpenEnd,
    Preserved,
    Preserver,
    Unfinished,
    last_compaction,
    lines,
    open_ends,
    preserve,
    preserve_at,
)
from core.settings import Settings
from core.settings.layers import with_value
from core.timeline.timeline import Timeline
from tests.core.strategies import events

CUT = Compaction(at=50.0, trigger="auto", tokens_before=160_000, tokens_after=40_000)


def recorded(stream: list[Event]) -> Timeline:
    timeline = Timeline(Settings())
    timeline.extend(stream)
    return timeline


@pytest.fixture(scope="module")
def frame() -> Frame:
    return recorded(session(400)).at(400)


def use(at: float, program: str = "pytest", outcome: str = "failure", tool: str = "Bash", **more: object) -> ToolUse:
    action = "shell_exec" if program else "file_edit"
    return msgspec.convert(
        {"kind": "tool_use", "at": at, "program": program, "outcome": outcome, "tool": tool, "action": action, **more},
        ToolUse,
    )


def test_the_frame_before_is_kept_as_figures(frame: Frame) -> None:
    kept = preserve(frame, CUT)
    assert (kept.at, kept.agent, kept.trigger) == (50.0, MAIN, "auto")
    assert (kept.state, kept.regime) == (frame.story.state, frame.story.regime)
    assert (kept.phase, kept.pattern) == (frame.mind.cortical.phase, frame.receptor.behaviour.short.pattern)
    assert kept.governor.state == frame.governor.state and kept.governor.budgets == frame.governor.budgets
    assert [each.path for each in kept.paths] == [leaf.path for leaf in frame.receptor.heatmap.top[:5]]
    assert len(preserve(frame, CUT, paths=2).paths) == 2
    assert kept.centre is not None and 0 < kept.centre.share <= 1
    assert kept.paths[0].path.startswith(kept.centre.path.split("/")[0])
    assert (kept.tokens_before, kept.tokens_after, kept.compression_ratio) == (160_000, 40_000, 4.0)
    assert msgspec.json.decode(msgspec.json.encode(kept), type=Preserved) == kept


def test_every_warning_that_stands_is_kept(frame: Frame) -> None:
    receptor = replace(frame.receptor, signals=(Signal("frustration_spike", 0.31, False),))
    governor = replace(frame.governor, halt="EXHAUSTION")
    affect = replace(frame.affect, quarantined=True, restrictions=("delegation suspended",))
    loop = Loop("repeat", 2, 5, "pytest", "pytest again and again", 0.75, 1.0)
    response = replace(frame.response, loops=replace(frame.response.loops, current=loop))
    worse = replace(frame, receptor=receptor, governor=governor, affect=affect, response=response)
    kept = preserve(worse, CUT)
    assert [(each.kind, each.weight) for each in kept.warnings] == [
        ("signal", 0.31),
        ("halt", 1.0),
        ("quarantine", 1.0),
        ("loop", 0.75),
    ]
    said = "\n".join(lines(kept))
    for words in ("warning: frustration .31", "halt EXHAUSTION", "delegation suspended", "pytest again and again"):
        assert words in said
    calm = replace(
        frame,
        receptor=replace(frame.receptor, signals=()),
        governor=replace(frame.governor, halt=""),
        affect=replace(frame.affect, quarantined=False),
        response=replace(frame.response, loops=replace(frame.response.loops, current=None)),
    )
    assert preserve(calm, CUT).warnings == ()


def test_tokens_come_from_wherever_they_are_known(frame: Frame) -> None:
    silent = Compaction(at=1.0)
    known = preserve(frame, silent)
    assert known.tokens_before == frame.mind.sleep.context_tokens > 0
    assert (known.tokens_after, known.compression_ratio) == (0, None)
    assert "tokens before" in lines(known)[0]
    assert preserve(frame, silent, tokens_after=1000).compression_ratio == known.tokens_before / 1000
    assert lines(preserve(frame, CUT))[0] == "compaction (auto): 160k -> 40k tokens, 4.0 to 1"
    nothing = replace(known, tokens_before=0)
    assert lines(nothing)[0] == "compaction: tokens unknown"


def test_what_is_open_is_kept_the_newest_first() -> None:
    stream: list[Event] = [
        use(1.0, "make"),
        Prompt(at=2.0, characters=9),
        use(3.0),
        use(4.0),
        use(5.0, "", tool="Edit", targets=("a.py",)),
        use(6.0, "npm"),
        use(7.0, "npm", "success"),
        use(8.0, "", "pending", tool="Task"),
        AgentStart(at=9.0, child="c1", role="explorer"),
        AgentStart(at=10.0, child="c2", role="tester"),
        AgentEnd(at=11.0, child="c1"),
        use(12.0, "cargo", agent="c2"),
        Prompt(at=12.5, characters=0, interrupt=True),
        use(13.0, "", "success", tool="Edit", targets=("b.py",)),
        Compaction(at=14.0, tokens_before=100),
        Turn(at=15.0, agent="c2", context_tokens=7),
        Turn(at=16.0, context_tokens=25),
    ]
    timeline = recorded(stream)
    expected = [
        OpenEnd("agent", "tester", 10.0),
        OpenEnd("call", "Task", 8.0),
        OpenEnd("failure", "Edit on a.py", 5.0),
        OpenEnd("failure", "pytest", 4.0, 2),
    ]
    assert open_ends(timeline.events[:14], MAIN) == expected
    kept = preserve_at(timeline, 14)
    assert kept.open == tuple(expected)
    assert (kept.tokens_before, kept.tokens_after, kept.compression_ratio) == (100, 25, 4.0)
    said = lines(kept)
    assert "open: pytest failed 2 times" in said and "open: sub-agent tester at work" in said
    assert "open: Task has no result yet" in said
    assert said[-1] == kept.narrative and "Edit on a.py still failing" in kept.narrative
    policy = timeline.initial.policy_hash(timeline.settings)
    again = preserve(timeline.at(14), stream[14], open_ends=expected, tokens_after=25, policy_hash=policy)  # type: ignore[arg-type]
    assert again == kept


@pytest.mark.parametrize(("later", "times"), [(FAR - 2, [2]), (FAR - 1, [1]), (FAR, [])])
def test_what_began_too_long_ago_is_forgotten(later: int, times: list[int]) -> None:
    stream: list[Event] = [use(1.0), use(2.0), *(Turn(at=3.0 + number) for number in range(later))]
    assert [each.times for each in open_ends(stream, MAIN)] == times
    assert open_ends(stream[-FAR:], MAIN) == open_ends(stream, MAIN)


def test_finished_work_takes_no_memory() -> None:
    society, preserver = Society(Settings()), Preserver(1)
    sizes = []
    tracemalloc.start()
    for number in range(20_000):
        event: Event = use(number + 0.5, outcome="failure" if number % 2 else "success", id=f"call-{number}")
        preserver.before(event if number % 5 else Turn(at=number + 0.5, id=f"turn-{number}"), society, "")
        if number + 1 in (2_000, 20_000):
            sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert sizes[1] - sizes[0] < 2_000 and sizes[0] < 20_000


@given(events(max_size=60))
@settings(max_examples=30, deadline=None)
def test_a_look_at_unfinished_work_changes_nothing(stream: list[Event]) -> None:
    unfinished = Unfinished()
    for place, event in enumerate(stream):
        unfinished.update(event)
        assert unfinished.of(MAIN) == open_ends(stream[: place + 1], MAIN)


@pytest.mark.parametrize("place", [-1, 3, 400])
def test_only_a_compaction_can_be_kept(place: int) -> None:
    timeline = recorded([Prompt(at=1.0, characters=1), CUT, use(60.0), use(61.0)])
    with pytest.raises(StateError, match="the context was not compacted"):
        preserve_at(timeline, place)


def test_text_of_a_log_is_shown_without_secrets_or_controls() -> None:
    secret = "ghp_" + "q7W8" * 9
    stream: list[Event] = [
        Prompt(at=1.0, characters=1),
        use(2.0, f"run\x1b[2J {secret}"),
        use(3.0, "", "success", tool="Edit", targets=(f"dir\n/{secret}.txt",)),
        Compaction(at=4.0, trigger="\x07odd"),
    ]
    said = lines(preserve_at(recorded(stream), 3))
    assert secret not in "".join(said)
    assert all(line.isprintable() for line in said)


@settings(max_examples=25)
@given(events(min_size=2, max_size=50, agents=("main", "x")))
def test_any_compaction_of_any_recording_is_kept_and_changes_nothing(stream: list[Event]) -> None:
    stream = [*stream, Compaction(at=stream[-1].at + 1.0)]
    timeline = recorded(stream)
    before = timeline.society.dump()
    for place, event in enumerate(stream):
        if isinstance(event, Compaction):
            kept = preserve_at(timeline, place)
            assert kept == preserve_at(recorded(stream), place)
            assert all(line.isprintable() for line in lines(kept))
            assert all(end.at <= max(each.at for each in stream[: place + 1]) for end in kept.open)
    assert timeline.society.dump() == before


def test_real_compactions_are_kept(shared_data: Path) -> None:
    kit = make_kit()
    found = 0
    for each in sessions([shared_data / "real_sessions" / "claude-code"], kit):
        stream = list(read_session(each, kit))
        places = [place for place, event in enumerate(stream) if isinstance(event, Compaction)]
        timeline = recorded(stream) if places else Timeline(Settings())
        for place in places:
            kept = preserve_at(timeline, place)
            assert kept.tokens_before > 100_000 and kept.compression_ratio is not None
            assert kept.compression_ratio > 1 and kept.paths and kept.centre is not None
            found += 1
    assert found == 2


def stream_with_cuts() -> list[Event]:
    cut = Compaction(at=600.0, trigger="auto", tokens_before=90_000)
    work = session(500)
    begun = [use(work[299].at, "cargo"), use(work[299].at + 0.1, "cargo")]
    return [
        *work[:300],
        *begun,
        replace(cut, at=work[300].at),
        *work[300:],
        replace(cut, at=work[-1].at + 1, tokens_after=9_000),
    ]


def test_passing_through_keeps_what_a_recording_would() -> None:
    stream = stream_with_cuts()
    timeline, preserver, society = Timeline(Settings()), Preserver(), Society(Settings())
    short = Preserver(1)
    policy = timeline.initial.policy_hash(timeline.settings)
    for event in stream:
        preserver.before(event, society, policy)
        short.before(event, society, policy)
        society.step(event)
    timeline.extend(stream)
    places = [place for place, event in enumerate(stream) if isinstance(event, Compaction)]
    assert len(places) == len(preserver.kept) >= 2
    assert (list(short.kept), short.count) == (list(preserver.kept)[-1:], preserver.count)
    assert list(preserver.kept) == [preserve_at(timeline, place) for place in places]
    first = preserver.kept[places.index(302)]
    assert OpenEnd("failure", "cargo", first.open[0].at, 2) in first.open
    assert first.tokens_after and first.compression_ratio and first.policy_hash == policy
    assert first.playbook and first.playbook[0].at == max(each.at for each in first.playbook)
    said = "\n".join(lines(first))
    assert f"policy {policy}" in said and "playbook: " in said and "open: cargo failed 2 times" in said
    assert "_" not in said


def test_the_last_compaction_is_the_agents_own_and_before_the_place() -> None:
    stream = stream_with_cuts()
    timeline = recorded(stream)
    places = [place for place, event in enumerate(stream) if isinstance(event, Compaction)]
    assert last_compaction(timeline, places[0], MAIN) is None
    assert last_compaction(timeline, places[0] + 1, MAIN) == places[0]
    assert last_compaction(timeline, len(stream), MAIN) == places[-1]
    assert last_compaction(timeline, len(stream), "agent-9") is None


def test_another_policy_has_another_hash() -> None:
    plain = Timeline(Settings()).initial
    other = with_value(Settings(), "governor.profile", "conservative")
    assert plain.policy_hash(Settings()) == plain.policy_hash(Settings())
    assert plain.policy_hash(Settings()) != plain.policy_hash(other)
    assert plain.policy_hash(Settings()) != plain._replace(rules=built_in()).policy_hash(Settings())
