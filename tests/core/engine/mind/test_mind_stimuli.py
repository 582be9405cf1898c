"""Which events become stimuli, and what they are called."""

from __future__ import annotations

import pytest

from core.engine.mind.stimulus import Cause, Stimulus, StimulusKind, StimulusSource, coarse_target, pattern_of
from core.events import AgentEnd, AgentStart, Compaction, Event, Prompt, SessionEnd, SessionStart, ToolUse, Turn
from core.settings.mind import StimulusSettings
from tests.core.engine.mind.percepts import START, shell


def source() -> StimulusSource:
    return StimulusSource(StimulusSettings())


def only(events: list[Event], using: StimulusSource | None = None, context: float = 0.0) -> Stimulus | None:
    """The stimulus of the last event."""
    using = using or source()
    for event in events:
        found = using.update(event, context, False)
    return found[0] if found else None


@pytest.mark.parametrize(
    ("event", "kind", "cause", "what"),
    [
        (Prompt(at=0, characters=412), "owner_message", "prompt", "prompt, 412 characters"),
        (Prompt(at=0, characters=0, interrupt=True), "owner_message", "interrupt", "stopped by the person"),
        (shell(outcome="rejected", program="curl"), "policy_violation", "rejected", "curl rejected"),
        (shell(program="rm", purpose="destructive"), "policy_violation", "destructive", "rm, destructive"),
        (shell(purpose="test"), "confirmation", "test", "pytest: tests pass"),
        (shell(program="make", purpose="build"), "confirmation", "build", "make: build passes"),
        (shell(program="git", purpose="commit"), "confirmation", "commit", "git: committed"),
        (shell(outcome="failure"), "anomaly", "failure", "pytest failed"),
        (AgentEnd(at=0, child="c"), "trace", "report", "sub-agent done"),
        (AgentEnd(at=0, child="c", outcome="failure"), "trace", "report", "sub-agent failed"),
        (Compaction(at=0, tokens_before=167_731), "dream_request", "compaction", "compaction, 167k tokens"),
    ],
)
def test_mapping(event: Event, kind: StimulusKind, cause: Cause, what: str) -> None:
    stimulus = only([event])
    assert stimulus is not None
    assert (stimulus.kind, stimulus.cause, stimulus.what) == (kind, cause, what)
    assert len(stimulus.pattern) == 16
    assert 0.0 <= stimulus.urgency <= 1.0


@pytest.mark.parametrize(
    "event",
    [
        ToolUse(at=0, action="file_read", tool="Read", targets=("a.py",)),
        ToolUse(at=0, action="file_edit", tool="Edit", targets=("a.py",)),
        ToolUse(at=0, action="search", tool="Grep", outcome="empty"),
        shell(program="ls"),
        shell(outcome="pending"),
        shell(outcome="collateral"),
        Turn(at=0, output_tokens=10),
        AgentStart(at=0, child="c"),
        SessionStart(at=0, session="s", tool="t"),
        SessionEnd(at=0),
    ],
)
def test_most_events_are_no_stimulus(event: Event) -> None:
    assert only([event]) is None


def test_an_error_streak_is_counted_and_grows_more_urgent() -> None:
    using = source()
    found = [only([shell(outcome="failure")], using) for _ in range(4)]
    assert [s.what for s in found if s] == ["pytest failed", *(f"pytest failed x{n}" for n in (2, 3, 4))]
    assert [s.cause for s in found if s] == ["failure", "failure", "streak", "streak"]
    assert [s.measure for s in found if s][2:] == [3.0, 4.0]
    urgencies = [s.urgency for s in found if s]
    assert urgencies == sorted(urgencies)
    assert len(set(urgencies)) == 4


def test_edits_between_do_not_end_a_streak_but_a_passing_command_does() -> None:
    edit = ToolUse(at=0, action="file_edit", tool="Edit", targets=("a.py",))
    fail = shell(outcome="failure")
    streak = only([fail, edit, fail, edit, fail])
    assert streak is not None
    assert streak.cause == "streak"
    broken = only([fail, fail, shell(), fail])
    assert broken is not None
    assert (broken.cause, broken.what) == ("failure", "pytest failed")


def test_a_streak_over_several_programs_says_so() -> None:
    stimulus = only([shell(program=name, outcome="failure") for name in ("make", "pytest", "ruff")])
    assert stimulus is not None
    assert stimulus.what == "ruff failed, 3 in a row"


def test_equal_calls_with_equal_results_are_a_loop() -> None:
    using = source()
    found = [only([shell(program="curl", call=5, result=9)], using) for _ in range(4)]
    assert found[:2] == [None, None]
    assert [s.what for s in found[2:] if s] == ["curl repeated x3", "curl repeated x4"]
    assert using.looping
    only([shell(program="ls", call=6, result=1)], using)
    assert not using.looping


@pytest.mark.parametrize(
    "calls",
    [
        [shell(program="pytest", call=5, result=n) for n in range(1, 9)],
        [shell(program="tail", call=5, result=0) for _ in range(8)],
        [shell(program="sleep", call=5, result=7, purpose="wait") for _ in range(8)],
        [shell(program="mv", call=n, result=7) for n in range(1, 9)],
    ],
    ids=["new results", "empty output", "waiting", "many-file move"],
)
def test_no_false_loops(calls: list[Event]) -> None:
    using = source()
    assert only(calls, using) is None
    assert not using.looping


def test_a_spike_in_token_burn_is_told_after_warming_up() -> None:
    using = source()
    usual: list[Event] = [Turn(at=n, input_tokens=100, output_tokens=900, cache_write=1000) for n in range(8)]
    assert only(usual, using) is None
    spike = only([Turn(at=9, cache_write=60_000)], using)
    assert spike is not None
    assert (spike.kind, spike.cause, spike.what) == ("anomaly", "burn", "token use 30x normal, 60k in a turn")
    assert spike.measure == pytest.approx(30.0)
    fresh = source()
    assert only([*usual[:3], Turn(at=9, cache_write=60_000)], fresh) is None
    assert only([*usual, Compaction(at=9), Turn(at=10, cache_write=60_000)], source()) is None


def test_a_nearly_full_context_is_told_once_until_it_empties() -> None:
    using = source()
    turn = Turn(at=START, output_tokens=1)
    near = only([turn], using, 0.86)
    assert near is not None
    assert (near.kind, near.cause, near.what) == ("dream_request", "context", "context 86% to compaction")
    assert only([turn], using, 0.9) is None
    assert only([turn], using, 0.2) is None
    assert only([turn], using, 0.9) is not None


def test_a_shift_and_news_from_other_rooms_are_traces() -> None:
    using = source()
    read = ToolUse(at=0, action="file_read", tool="Read", targets=("a.py",))
    (shift,) = using.update(read, 0.0, True)
    assert (shift.kind, shift.cause) == ("trace", "shift")
    using.report("halt")
    using.report("peer")
    using.report("halt")
    first, second = using.update(read, 0.0, False)
    assert (first.kind, first.cause) == ("policy_violation", "halt")
    assert (second.kind, second.cause) == ("trace", "peer")
    assert using.update(read, 0.0, False) == ()


def test_patterns_are_coarse() -> None:
    def pattern(event: ToolUse) -> bytes:
        stimulus = only([event])
        assert stimulus is not None
        return stimulus.pattern

    def edit(path: str) -> ToolUse:
        return ToolUse(at=0, action="file_edit", tool="Edit", targets=(path,), outcome="failure")

    assert pattern(edit("src/a.py")) == pattern(edit("src/b.py"))
    assert pattern(edit("src/a.py")) != pattern(edit("tests/a.py"))
    assert pattern(shell(outcome="failure")) != pattern(shell(outcome="failure", program="make"))
    assert pattern(shell(outcome="failure")) != pattern(shell(outcome="rejected"))
    assert coarse_target(edit("top.py")) == "."
    assert pattern_of(1, "ab", "c") != pattern_of(1, "a", "bc")


def test_a_long_name_is_cut() -> None:
    stimulus = only([shell(program="x" * 500, outcome="failure")])
    assert stimulus is not None
    assert len(stimulus.what) < 80
