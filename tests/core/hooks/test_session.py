"""A session told by hooks and by its log: each call counts once, and what stands is known at once."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.engine.response.interventions import MemoLine
from core.engine.response.permits import Standing
from core.engine.response.rules import Learned
from core.events import MAIN
from core.hooks.session import HookedSession
from core.live.driver import Driver
from core.live.source import Followed
from core.settings import Settings
from core.settings.layers import with_value
from core.timeline.initial_state import InitialState
from core.timeline.keyframes import pack
from core.timeline.run_inputs import InitialStates, RunInputs
from tests.core.hooks.calls import KIT, failure, hook, read, session, tool


def acts(one: HookedSession) -> int:
    return one.society.engine(MAIN).governor.read().step


def log_line(number: int, at: str, **more: object) -> str:
    return json.dumps(
        {
            "sessionId": "s-1",
            "uuid": f"u{number}",
            "parentUuid": f"u{number - 1}" if number else None,
            "isSidechain": False,
            "timestamp": at,
            "cwd": "/project",
            **more,
        }
    )


def test_a_call_told_by_hook_and_log_counts_once(tmp_path: Path) -> None:
    log = tmp_path / "s-1.jsonl"
    lines = [log_line(0, "2026-01-01T00:00:00Z", type="user", message={"role": "user", "content": "go"})]
    for number in range(3):
        use = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": {"command": "x"}}
        end = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "no", "is_error": True}
        usage = {"input_tokens": 1200, "output_tokens": 5}
        message = {"id": f"m{number}", "model": "claude-opus-4-8", "content": [use], "usage": usage}
        lines.append(log_line(2 * number + 1, "2026-01-01T00:00:01Z", type="assistant", message=message))
        lines.append(log_line(2 * number + 2, "2026-01-01T00:00:02Z", type="user", message={"content": [end]}))
    one = session(within=lambda path: path.parent == tmp_path)
    at = 1_767_225_601.0
    one.step(read(hook("UserPromptSubmit", prompt="go", transcript_path=str(log))), at)
    assert not one.catch_up()
    one.step(read(failure(0)), at + 1)
    assert acts(one) == 1
    log.write_text("\n".join(lines) + "\n")
    one.catch_up()
    assert acts(one) == 3
    one.step(read(failure(2)), at + 3)
    assert acts(one) == 3
    one.step(read(failure(3)), at + 4)
    assert acts(one) == 4
    assert one.status(at + 4)["tokens"] == 1200


def test_a_log_that_lies_elsewhere_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "s-1.jsonl").write_text(log_line(0, "2026-01-01T00:00:00Z", type="user"))
    one = session(within=lambda _: False)
    one.step(read(hook("UserPromptSubmit", prompt="go", transcript_path=str(tmp_path / "s-1.jsonl"))), 1.0)
    assert one.driver is None and not one.catch_up()


@pytest.mark.parametrize(
    ("call", "word", "why"),
    [
        (tool("PermissionRequest", 1), "needs you", "Bash asks for permission"),
        (hook("Notification", message="Claude needs your approval"), "needs you", "Claude needs your approval"),
        (tool("PreToolUse", 1), "working", "running a command (Bash)"),
        (hook("Stop"), "done", "finished, waiting for you"),
        (hook("SessionEnd", reason="other"), "ended", "the session is over"),
    ],
)
def test_what_stands_is_known_at_once(call: dict[str, object], word: str, why: str) -> None:
    one = session()
    one.step(read(hook("UserPromptSubmit", prompt="go")), 100.0)
    one.step(read(call), 101.0)
    status = one.status(101.0)
    assert (status["status"], status["why"]) == (word, why)


def test_a_question_is_over_when_the_agent_goes_on() -> None:
    one = session()
    one.step(read(tool("PermissionRequest", 1)), 100.0)
    one.step(read(tool("PostToolUse", 1, tool_response="ok")), 101.0)
    assert one.status(101.0)["status"] == "working"


def test_a_loop_becomes_one_sentence() -> None:
    one = session()
    said = []
    for number in range(12):
        one.step(read(failure(number)), 100.0 + number)
        advised = one.advice("batch")
        if advised is not None:
            one.record_said(advised, 100.5 + number)
            said.append((number, advised))
    assert [advised.rule for _, advised in said] == ["loop_alert"] and said[0][0] == 4
    assert said[0][1].sentence == "[nooscope] Seen from outside: python3 failed the same way 5 times."
    told = one.society.engine(MAIN).response.queue.read().past
    assert [one.fate for one in told if one.intervention.sender == "loop_alert"] == ["reached"]


def test_a_cut_told_by_hook_and_log_is_handed_over_once(tmp_path: Path) -> None:
    log = tmp_path / "s-1.jsonl"
    log.write_text("")
    one = session(within=lambda path: path.parent == tmp_path)
    at = 1_767_225_600.0
    one.step(read(hook("UserPromptSubmit", prompt="go", transcript_path=str(log))), at)
    one.catch_up()
    one.step(read(failure(1)), at + 1)
    cut = {"type": "system", "subtype": "compact_boundary", "compactMetadata": {"trigger": "auto"}}
    log.write_text(log_line(9, "2026-01-01T00:00:03Z", **cut) + "\n")
    one.step(read(hook("SessionStart", source="compact")), at + 2)
    told = one.advice("session_start")
    assert told is not None and told.rule == "compaction" and "python3 failed" in told.sentence
    one.record_said(told, at + 2)
    one.catch_up()
    assert one.society.engine(MAIN).mind.heart.gauge.compactions == 1
    assert one.advice("batch") is None


def test_a_steer_waits_for_its_moment_while_the_log_grows(tmp_path: Path) -> None:
    log = tmp_path / "s-1.jsonl"
    first = log_line(0, "2026-01-01T00:00:00Z", type="user", message={"role": "user", "content": "go"})
    log.write_text(first + "\n")
    one = session(within=lambda path: path.parent == tmp_path)
    at = 1_767_225_600.0
    one.step(read(hook("UserPromptSubmit", prompt="go", transcript_path=str(log))), at)
    one.catch_up()
    one.steer("stop, wrong branch", at + 2, cancel=True)
    use = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "x"}}
    end = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "no", "is_error": True}
    with log.open("a") as file:
        for number, who, content in ((1, "assistant", use), (2, "user", end)):
            message = {"id": "m1", "model": "claude-opus-4-8", "content": [content]}
            file.write(log_line(number, f"2026-01-01T00:00:0{number}Z", type=who, message=message) + "\n")
    one.catch_up()
    cancelled = one.cancellation()
    assert cancelled is not None and cancelled.sentence == "[nooscope] stop, wrong branch"
    assert one.advice("batch") == cancelled
    one.record_said(cancelled, at + 4)
    assert one.cancellation() is None and one.advice("batch") is None


def test_off_means_silence() -> None:
    one = session(with_value(Settings(), "response.advice.level", "off"))
    for number in range(12):
        one.step(read(failure(number)), 100.0 + number)
        assert one.advice("batch") is None


def test_a_halted_governor_and_what_failed_are_told() -> None:
    one = session(with_value(Settings(), "governor.observing.stagnation_window", 6))
    assert one.standing().halt == ""
    one.step(read(hook("UserPromptSubmit", prompt="go")), 99.0)
    for number in range(12):
        one.step(read(failure(number, f"python3 missing{number}.py")), 100.0 + number)
    assert one.standing().halt and not one.standing().fuse
    one.step(read(hook("UserPromptSubmit", prompt="go on")), 112.0)
    assert one.standing().halt == ""
    for number in range(12):
        one.step(read(failure(20 + number, f"cat src/{number}.py")), 113.0 + number)
    assert one.failed_before("/project/src/3.py") == ["cat failed at src/3.py"]
    assert len(one.failed_before("src")) == 10 and one.failed_before("other") == []


def test_secrets_in_a_call_reach_nobody() -> None:
    secret = "sk-" + "ant-api03-" + "A1b2C3d4" * 8
    one = session()
    said = []
    for number in range(6):
        one.step(read(failure(number, f"./{secret} go")), 100.0 + number)
        advised = one.advice("batch")
        if advised is not None:
            said.append(advised.sentence)
    assert said and not any(secret in sentence for sentence in said)
    assert secret not in json.dumps(one.status(106.0)) and secret not in str(one.failed_before(""))


def test_what_was_before_is_read_first_and_is_not_advised_on(tmp_path: Path) -> None:
    """A loop and a halt of days ago are history; the prompt that opened the session again is not."""
    log = tmp_path / "s-1.jsonl"
    lines = [log_line(0, "2026-01-01T00:00:00Z", type="user", message={"role": "user", "content": "go"})]
    for number in range(20):
        use = {"type": "tool_use", "id": f"old_{number}", "name": "Bash", "input": {"command": "make"}}
        end = {"type": "tool_result", "tool_use_id": f"old_{number}", "content": "no", "is_error": True}
        when = f"2026-01-01T00:00:{number + 1:02}Z"
        lines.append(log_line(2 * number + 1, when, type="assistant", message={"content": [use]}))
        lines.append(log_line(2 * number + 2, when, type="user", message={"content": [end]}))
    log.write_text("\n".join(lines) + "\n")
    chosen = with_value(Settings(), "governor.observing.stagnation_window", 6)
    one = session(chosen, within=lambda _: True)
    at = 1_767_500_000.0
    one.step(read(hook("UserPromptSubmit", prompt="again", transcript_path=str(log))), at)
    one.step(read(failure(0)), at + 1)
    assert acts(one) == 0 and one.advice("batch") is None and one.standing() == Standing()
    while one.catch_up():
        assert one.advice("batch") is None
    assert acts(one) == 1 and one.standing().halt == "" and one.advice("batch") is None
    assert one.society.engine(MAIN).governor.read().halts == 1


def test_another_agents_or_calls_end_answers_no_question() -> None:
    """A permission asked stays asked until its own call ends, or its agent's turn does."""
    one = session()
    one.step(read(tool("PreToolUse", 1, "make")), 100.0)
    one.step(read(tool("PreToolUse", 2, "ls")), 100.0)
    asked = tool("PermissionRequest", 9, "make")
    del asked["tool_use_id"]
    one.step(read(asked), 101.0)
    one.step(read(tool("PostToolUse", 2, "ls", tool_response="ok")), 102.0)
    one.step(read({**tool("PostToolUse", 3, "ls", tool_response="ok"), "agent_id": "sub"}), 103.0)
    one.step(read({**hook("SubagentStop"), "hook_event_name": "Stop", "agent_id": "sub"}), 103.0)
    assert one.status(104.0)["status"] == "needs you"
    assert [ask.call for ask in one.signs().asks] == ["toolu_1"]
    one.step(read(tool("PostToolUse", 1, "make", tool_response="ok")), 105.0)
    assert one.status(105.0)["status"] == "working" and not one.signs().asks


@pytest.mark.parametrize("name", ["PostToolBatch", "Stop", "UserPromptSubmit", "SessionEnd"])
def test_a_question_is_over_with_its_turn(name: str) -> None:
    one = session()
    one.step(read(tool("PermissionRequest", 1)), 100.0)
    one.step(read(hook("Notification", message="Claude needs your permission")), 100.5)
    assert [ask.why for ask in one.signs().asks] == ["Bash asks for permission"]
    one.step(read(hook(name, prompt="go")), 101.0)
    assert not one.signs().asks


def test_a_lost_hook_leaves_no_call_open_once_the_log_tells_its_end(tmp_path: Path) -> None:
    log = tmp_path / "s-1.jsonl"
    one = session(within=lambda _: True)
    log.write_text("")
    one.step(read(tool("PreToolUse", 0, transcript_path=str(log))), 1_767_225_601.0)
    one.step(read(tool("PermissionRequest", 0)), 1_767_225_601.0)
    assert one.signs().open and one.signs().asks
    log.write_text("\n".join(_told(0)) + "\n")
    one.catch_up()
    assert not one.signs().open and not one.signs().asks


def _told(number: int) -> list[str]:
    use = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": {"command": "x"}}
    end = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "no", "is_error": True}
    when = f"2026-01-01T00:00:{number + 1:02}Z"
    return [
        log_line(2 * number + 1, when, type="assistant", message={"id": f"m{number}", "content": [use]}),
        log_line(2 * number + 2, when, type="user", message={"content": [end]}),
    ]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(("hook", "log", "look")), min_size=1, max_size=24))
def test_however_hooks_and_log_follow_each_other_each_call_counts_once(order: list[str]) -> None:
    """Six calls told by both, in any order of the two."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "s-1.jsonl"
        log.write_text(log_line(0, "2026-01-01T00:00:00Z", type="user", message={"content": "go"}) + "\n")
        one = session(within=lambda _: True)
        at = 1_767_225_601.0
        one.step(read(hook("UserPromptSubmit", prompt="go", transcript_path=str(log))), at)
        hooked = logged = 0
        for what in [*order, *["hook", "log"] * 6, "look"]:
            if what == "hook" and hooked < 6:
                one.step(read(failure(hooked)), at + hooked)
                hooked += 1
            elif what == "log" and logged < 6:
                log.write_text(log.read_text() + "\n".join(_told(logged)) + "\n")
                logged += 1
            while one.catch_up():
                pass
        assert acts(one) == 6


def _unnamed(number: int) -> dict[str, object]:
    """A call as Gemini CLI and Copilot CLI tell it: without an id."""
    told = failure(number)
    del told["tool_use_id"]
    return told


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(("hook", "log", "lost")), min_size=1, max_size=24))
def test_calls_without_ids_count_once_too(order: list[str]) -> None:
    """Six equal calls told by both in any order, some hooks lost; the one before the prompt is history."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "s-1.jsonl"
        lines = [log_line(0, "2026-01-01T00:00:00Z", type="user", message={"content": "go"})]
        more = log_line(5, "2026-01-01T00:00:06Z", type="user", message={"content": "more"})
        log.write_text("\n".join((*lines, *_told(0), more)) + "\n")
        one = session(within=lambda _: True)
        at = 1_767_225_601.0
        one.step(read(hook("UserPromptSubmit", prompt="more", transcript_path=str(log))), at + 5)
        while one.catch_up():
            pass
        hooked = logged = lost = 0
        for what in [*order, *["hook", "log"] * 6]:
            if what == "hook" and hooked + lost < 6:
                one.step(read(_unnamed(hooked)), at + 8 + hooked)
                hooked += 1
            elif what == "lost" and hooked + lost < 6 and lost < 2 and hooked:
                lost += 1
            elif what == "log" and logged < 6:
                log.write_text(log.read_text() + "\n".join(_told(logged + 10)) + "\n")
                logged += 1
            while one.catch_up():
                pass
        assert acts(one) == 6


def test_an_open_call_without_an_id_ends_with_its_own_arguments() -> None:
    one = session()
    for command in ("make", "ls"):
        begun = tool("PreToolUse", 1, command)
        del begun["tool_use_id"]
        one.step(read(begun), 100.0)
    ended = tool("PostToolUse", 1, "make", tool_response="ok")
    del ended["tool_use_id"]
    one.step(read(ended), 101.0)
    assert len(one.signs().open) == 1 and one.signs().ahead((), ()) == ()


@pytest.mark.parametrize(("calls", "first"), [(255, 0), (256, 0), (257, 1)])
def test_calls_whose_end_is_never_reported_do_not_pile_up(calls: int, first: int) -> None:
    one = session()
    for number in range(calls):
        one.step(read(tool("PreToolUse", number, "ls")), 100.0 + number)
    assert one.signs().open[0].id == f"toolu_{first}"
    assert len(one.signs().open) == min(calls, 256)


def test_a_call_that_ended_is_told_until_the_log_tells_it(tmp_path: Path) -> None:
    log = tmp_path / "s-1.jsonl"
    log.write_text("")
    one = session(within=lambda _: True)
    at = 1_767_225_601.0
    one.step(read(tool("PreToolUse", 0, transcript_path=str(log))), at)
    one.catch_up()
    one.step(read(failure(0)), at + 1)
    [ended] = one.signs().ended
    assert (ended.id, ended.outcome, ended.program) == ("toolu_0", "failure", "python3")
    assert one.signs().open == ()
    log.write_text("\n".join(_told(0)) + "\n")
    one.catch_up()
    assert one.signs().ended == ()
    one.step(read(failure(0)), at + 2)
    assert one.signs().ended == () and acts(one) == 1


def test_what_ended_is_bounded_and_over_with_the_next_prompt() -> None:
    one = session()
    for number in range(40):
        one.step(read(failure(number)), 100.0 + number)
    assert [call.id for call in one.signs().ended] == [f"toolu_{number}" for number in range(8, 40)]
    one.step(read(hook("UserPromptSubmit", prompt="go")), 200.0)
    assert one.signs().ended == ()


def test_a_question_is_told_as_one_and_not_as_a_permission() -> None:
    """Claude Code asks for permission to ask, and says that it needs attention: the question says more."""
    one = session()
    given: dict[str, Any] = {"tool_name": "AskUserQuestion", "tool_input": {"questions": []}, "tool_use_id": "toolu_1"}
    for name in ("PreToolUse", "PermissionRequest"):
        one.step(read(hook(name, **given)), 100.0)
    one.step(read(hook("Notification", message="Claude needs your attention")), 101.0)
    status = one.status(102.0)
    assert (status["status"], status["why"]) == ("needs you", "asks you something (AskUserQuestion)")
    one.step(read(hook("PostToolUse", tool_response="red", **given)), 103.0)
    assert one.status(103.0)["status"] == "working"


def test_writes_are_doubted_while_the_agent_does_not_execute() -> None:
    following = session()
    assert following.doubt() == ""
    following.society.engine(MAIN).mind.heart.executing = False
    assert "not executing" in following.doubt()
    assert session(with_value(Settings(), "response.guard.executing", False)).doubt() == ""


def test_the_hot_memo_reaches_the_agent_with_its_next_prompt() -> None:
    following = session(with_value(Settings(), "response.advice.level", "full"))
    following.step(read(hook("UserPromptSubmit", prompt="go")), 1000.0)
    response = following.society.engine(MAIN).response
    response._memo.add(MemoLine(1000.0, "frustration_alert", "Half of the commands fail."))
    assert following.status(1001.0)["notes"] == "Half of the commands fail."
    told = following.advice("prompt")
    assert told is not None and told.sentence == "[nooscope] Half of the commands fail."
    following.record_said(told, 1002.0)
    assert following.advice("prompt") is None


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(("hook", "log", "ask")), min_size=1, max_size=30))
def test_the_guard_decides_with_the_state_the_screen_shows(order: list[str]) -> None:
    """Whatever hooks tell and whenever the log is read: same start, settings and lines, same minds."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "s-1.jsonl"
        log.write_text(log_line(0, "2026-01-01T00:00:00Z", type="user", message={"content": "go"}) + "\n")
        inputs = RunInputs(Settings(), InitialState(7, learned=Learned(), prior={"frustration": 0.4}))
        one = session(start=lambda *_: inputs, within=lambda _: True)
        screen = Driver(Followed(log, KIT, Settings()), InitialStates(Settings()), inputs=inputs)
        at, hooked, logged = 1_767_225_601.0, 0, 0
        one.step(read(hook("UserPromptSubmit", prompt="go", transcript_path=str(log))), at)
        for what in [*order, *["log", "ask"] * 3]:
            if what == "hook":
                one.step(read(failure(hooked)), at + hooked)
                hooked += 1
            elif what == "log":
                log.write_text(log.read_text() + "\n".join(_told(logged)) + "\n")
                logged += 1
            else:
                one.step(read(tool("PreToolUse", 90)), at + 30)
                while one.catch_up():
                    pass
                list(screen.poll(1000))
                assert one.driver is not None
                assert pack(one.driver.society.dump()) == pack(screen.society.dump())
                if hooked <= logged:
                    assert one.society is one.driver.society, "nothing is ahead of the log"
                    assert one.standing().halt == session_halt(screen)


def session_halt(screen: Driver) -> str:
    reading = screen.society.engine(MAIN).governor.read()
    return (reading.halt or "halted").lower() if reading.state == "HALTED" else ""
