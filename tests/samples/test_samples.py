"""The stories are told: what must and must not be seen of each, on default settings."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from core.events import MAIN, AgentEnd, Compaction, Prompt, ToolUse, Turn
from sample_sessions import HERE, INDEX, Sample, samples
from sample_sessions.archive import build, save, unpacked
from sample_sessions.writers import WRITERS
from tests.samples.evidence import Evidence, watch
from tui.feed.viewpoint import SPEEDS, Reel

NAMES = [sample.name for sample in samples()]


@cache
def sample(name: str) -> Sample:
    return next(one for one in samples() if one.name == name)


@cache
def seen(name: str) -> Evidence:
    return watch(sample(name).path)


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_files_are_what_the_generator_writes() -> None:
    written = build()
    kept = {
        path.relative_to(HERE).as_posix(): unpacked(path)
        for path in (HERE / INDEX, *(HERE / "logs").rglob("*"))
        if path.is_file()
    }
    assert kept == written, "run python -m sample_sessions"


def test_they_are_small() -> None:
    assert sum(path.stat().st_size for path in (HERE / "logs").rglob("*") if path.is_file()) < 1_000_000


def test_saving_twice_changes_nothing_and_forgotten_logs_go(tmp_path: Path) -> None:
    files = {"index.json": b"{}\n", "logs/a/one.jsonl": b"1\n", "logs/b/two.jsonl.zst": b"2\n" * 99}
    assert save(tmp_path, files) == list(files)
    assert save(tmp_path, files) == []
    assert (tmp_path / "logs/b/two.jsonl.zst").read_bytes()[:4] == b"\x28\xb5\x2f\xfd"
    assert save(tmp_path, {"index.json": b"{}\n", "logs/a/one.jsonl": b"1\n"}) == ["logs/b/two.jsonl.zst"]
    assert sorted(path.name for path in (tmp_path / "logs").iterdir()) == ["a"]


def test_every_format_has_a_story() -> None:
    formats = {seen(name).session.logs[0].format.name for name in NAMES}
    assert formats == set(WRITERS)
    assert len(NAMES) == len(set(NAMES)) >= 8


def test_nothing_is_skipped(name: str) -> None:
    evidence = seen(name)
    assert evidence.kit.diagnostics.total == 0, evidence.kit.diagnostics.first
    assert not [event for event in evidence.events if isinstance(event, ToolUse) and event.action == "other"]


def test_it_is_like_a_real_session(name: str) -> None:
    evidence = seen(name)
    uses = [event for event in evidence.events if isinstance(event, ToolUse)]
    turns = [event for event in evidence.events if isinstance(event, Turn)]
    assert 30 <= len(uses) <= 400
    assert any(isinstance(event, Prompt) for event in evidence.events)
    assert all(0 < turn.context_tokens < turn.context_window for turn in turns if turn.output_tokens)
    assert all(turn.model for turn in turns)
    if sample(name).agent != "open events":
        assert any(turn.cost for turn in turns)
    gaps = sorted(later.at - use.at for use, later in pairwise(uses) if later.agent == use.agent)
    assert 2.0 < gaps[len(gaps) // 2] < 30.0


def test_all_that_must_be_shown_is_shown(name: str) -> None:
    missing = [what for what in sample(name).must if not seen(name).of(what)]
    assert not missing


def test_nothing_is_shown_that_must_not_be(name: str) -> None:
    wrong = [(one.at, one.what) for what in sample(name).never for one in seen(name).of(what)]
    assert not wrong


def test_the_narrator_tells_the_truth(name: str) -> None:
    """What a line speaks of has happened since the line before it."""
    before = -1.0
    for line in sample(name).narration:
        for what in line.shows:
            times = [one.at for one in seen(name).of(what)]
            assert any(before < at <= line.at + 0.1 for at in times), (line, times)
        before = line.at


def test_the_narrator_speaks_in_time(name: str) -> None:
    told = sample(name)
    times = [line.at for line in told.narration]
    assert times[0] == 0.0
    assert times == sorted(set(times))
    assert times[-1] <= seen(name).events[-1].at - seen(name).events[0].at + 0.1
    assert all(0 < len(line.text) <= 100 for line in told.narration)
    assert {line.agent for line in told.narration} <= {event.agent for event in seen(name).events}
    assert told.line(-1.0) == told.narration[0]
    assert told.line(seen(name).events[-1].at - seen(name).events[0].at) == told.narration[-1]
    assert told.line(times[1]) == told.narration[1]
    assert told.line(times[1] - 0.1) == told.narration[0]
    assert told.line(1e9) == told.narration[-1]


def test_it_plays_in_a_minute_or_two(name: str) -> None:
    reel = Reel(5.0)
    for event in seen(name).events:
        reel.add(event.at)
    assert sample(name).speed in SPEEDS
    assert 45.0 <= reel.length / sample(name).speed <= 120.0


def test_flow_keeps_every_other_signal_silent() -> None:
    evidence = seen("flow")
    fired = [one.what for one in evidence.of("signal")]
    assert fired == ["signal confidence_sustained", "signal flow_active"]
    assert evidence.summary.peaks["flow"].value > 0.8
    assert evidence.summary.peaks["frustration"].value == 0.0
    assert evidence.summary.states["deep_work"] > 0.8 * evidence.summary.tool_uses


def test_stuck_goes_from_bad_to_worse_and_out_again() -> None:
    evidence = seen("stuck")
    order = [
        "pattern trial_error",
        "signal frustration_spike",
        "loop oscillation",
        "signal compound_frustration_seeking",
        "signal flow_active",
    ]
    times = [evidence.first(what) for what in order]
    assert times == sorted(times)
    helped = evidence.of("prompt")[-1].at
    assert times[3] < helped < times[4]
    assert len(evidence.of("loop")) == 1
    assert not [one for one in evidence.of("state stuck") if one.at > helped + 300]
    assert evidence.shown[-1].at > helped
    assert [one.what for one in evidence.of("regime")][-1] == "regime progress"
    assert evidence.of("method frustration_alert")


def test_wandering_knows_nothing_but_does_not_suffer() -> None:
    evidence = seen("wander")
    assert evidence.summary.peaks["seeking"].value > 0.9
    assert evidence.summary.peaks["frustration"].value == 0.0
    stopped = evidence.first("prompt interrupt")
    edits = [event.at - evidence.events[0].at for event in evidence.events if _edits(event)]
    assert min(edits) > stopped > evidence.first("signal seeking_spike")
    assert evidence.summary.outcomes["empty"] >= 9


def test_the_shift_comes_with_the_second_task() -> None:
    evidence = seen("shift")
    (shift,) = evidence.of("shift")
    first, second = (one.at for one in evidence.of("prompt"))
    assert first < second < shift.at
    assert evidence.summary.shifts == 1
    hot = {path.path.split("/")[-2] for path in evidence.summary.paths[:10]}
    assert {"billing", "search"} <= hot


def test_the_context_fills_up_and_is_cut_once() -> None:
    evidence = seen("full")
    (cut,) = [event for event in evidence.events if isinstance(event, Compaction)]
    before = [event for event in evidence.events if isinstance(event, Turn) and event.at <= cut.at]
    after = [event for event in evidence.events if isinstance(event, Turn) and event.at > cut.at]
    assert before[0].context_tokens < 80_000
    assert before[-1].context_tokens > 0.8 * before[-1].context_window
    assert 150_000 < cut.tokens_before < 175_000
    assert cut.tokens_after == 24_600
    assert 24_600 <= after[0].context_tokens < 30_000
    assert evidence.summary.dreams == 1
    assert evidence.summary.actions["memory_write"] == evidence.summary.actions["memory_read"] == 1


def test_the_storm_spreads_and_is_held() -> None:
    evidence = seen("storm")
    assert evidence.summary.subagents == 6
    assert len([event for event in evidence.events if isinstance(event, AgentEnd)]) == 6
    entered = evidence.of("quarantine enters")
    assert len(entered) == 1
    hot = entered[0].agent
    assert hot != MAIN
    assert [one.agent for one in evidence.of("quarantine leaves")] == [hot]
    spread = evidence.of(f"contagion {hot}")
    moved = {one.agent for one in spread if one.at < entered[0].at}
    assert MAIN in moved
    assert len(moved - {MAIN, hot}) >= 1
    left = evidence.first("quarantine leaves")
    assert not [one for one in spread if entered[0].at < one.at < left]
    assert [one for one in spread if one.at > left], "free again, it is felt again"
    assert {one.agent for one in evidence.of("state stuck")} == {hot}
    assert {one.agent for one in evidence.of("halt")} <= {hot}
    assert {(one.what, one.agent) for one in evidence.of("loop")} <= {("loop retest", hot), ("loop churn", hot)}
    quarantined = {agent.name: agent.quarantines for agent in evidence.society.agents}
    assert quarantined[hot] == 1
    assert sum(quarantined.values()) == 1


def test_the_governor_would_halt_once_and_the_agent_goes_on() -> None:
    evidence = seen("halt")
    (halt,) = evidence.summary.halts
    assert halt.reason == "STAGNATION"
    assert evidence.first("state stuck") < evidence.first("governor RECOVERING") < evidence.first("loop failing")
    assert evidence.first("loop failing") <= evidence.first("halt")
    later = [event for event in evidence.events if isinstance(event, ToolUse) and event.at > halt.at]
    assert len(later) >= 12
    assert evidence.summary.outcomes == {"failure": evidence.summary.tool_uses - 1, "success": 1}


def test_the_look_alike_repeats_itself_and_alarms_nobody() -> None:
    evidence = seen("lookalike")
    uses = [event for event in evidence.events if isinstance(event, ToolUse)]
    assert sum(use.purpose == "wait" for use in uses) == 10
    assert max(sum(use.shape == other.shape for other in uses) for use in uses if use.purpose == "") >= 12
    assert sum(use.outcome == "failure" for use in uses) == 1
    assert not evidence.of("shift")
    assert not evidence.of("method frustration_alert")
    assert {one.what for one in evidence.of("governor")} == {"governor IDLE"}


def test_silence_stops_the_clock_and_a_refusal_is_no_failure() -> None:
    evidence = seen("silence")
    assert evidence.summary.outcomes["rejected"] == 2
    assert "failure" not in evidence.summary.outcomes
    assert evidence.summary.started is not None
    assert evidence.summary.ended is not None
    assert evidence.summary.ended - evidence.summary.started - evidence.summary.active > 2500
    idle = [one.at for one in evidence.of("state idle")]
    assert len(idle) == 1
    assert evidence.first("state deep_work") < idle[0] < evidence.of("state deep_work")[-1].at


def _edits(event: object) -> bool:
    return isinstance(event, ToolUse) and event.action == "file_edit"
