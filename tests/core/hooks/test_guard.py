"""A doubt asks before the gate and never opens it; what is decided is written down, reads too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.engine.response.permits import Decision, Standing
from core.hooks.agent_answers import HOOKS, SILENCE, HookReply
from core.hooks.guard import APPROVED, Guard, Objection, apply_doubt, apply_objection
from core.settings import Settings
from core.settings.layers import with_value
from core.settings.response import GuardSettings
from core.store.journals import PermitJournal
from tests.core.hooks.calls import KIT, failure, hook, read, session, tool


def _copilot(text: str, kind: str = "success") -> dict[str, str]:
    return {"result_type": kind, "text_result_for_llm": text}


_ORDER = ("pass", "permit", "person", "deny")


@given(st.sampled_from(_ORDER), st.sampled_from(("read", "write", "privileged")), st.text(max_size=5))
def test_a_doubt_never_makes_a_decision_easier(verdict: Any, tier: Any, doubt: str) -> None:
    before = Decision(verdict, tier, "why")
    after = apply_doubt(before, doubt)
    assert _ORDER.index(after.verdict) >= _ORDER.index(before.verdict)
    assert after == before or (before.verdict, after.verdict) == ("permit", "person")


@given(
    st.sampled_from(_ORDER),
    st.sampled_from(("read", "write", "privileged")),
    st.sampled_from((None, Objection("ask", "look"), Objection("deny", "no"))),
)
def test_an_objection_never_makes_a_decision_easier(verdict: Any, tier: Any, objection: Objection | None) -> None:
    before = Decision(verdict, tier, "why")
    after = apply_objection(before, objection)
    least = {"ask": "person", "deny": "deny"}.get(objection.verdict, "pass") if objection else "pass"
    assert _ORDER.index(after.verdict) == max(_ORDER.index(before.verdict), _ORDER.index(least))


def guard(folder: Path) -> Guard:
    return Guard(GuardSettings(), b"k" * 32, PermitJournal(folder / "permits.jsonl"), lambda: 1.0)


def sort(call: Any) -> Any:
    return KIT.normalizer.sort(HOOKS["claude"].framework, call.tool, call.arguments)


@pytest.mark.parametrize(
    ("command", "standing", "doubt", "verdict"),
    [
        ("cat x", Standing(), "doubt", ""),
        ("touch x", Standing(), "", ""),
        ("touch x", Standing(), "doubt", "question"),
        ("touch x", Standing("stagnation"), "doubt", "deny"),
        ("rm -rf x", Standing(), "", "question"),
    ],
)
def test_what_a_doubt_does(command: str, standing: Standing, doubt: str, verdict: str, tmp_path: Path) -> None:
    one, call = guard(tmp_path), read(tool("PreToolUse", 1, command))
    said = one.ask(call, sort(call), standing, doubt)
    assert verdict == ("question" if isinstance(said, int) else said.verdict)


def test_an_answer_does_not_outlive_a_halt(tmp_path: Path) -> None:
    """Approved while it was apply_doubt, denied because the governor halted meanwhile."""
    one, call = guard(tmp_path), read(tool("PreToolUse", 1, "touch x"))
    number = one.ask(call, sort(call), Standing(), "doubt")
    assert isinstance(number, int) and one.decide(number, "session")
    said = one.ask(call, sort(call), Standing("exhaustion"), "doubt")
    assert isinstance(said, HookReply) and said.verdict == "deny"
    assert one.ask(call, sort(call), Standing(), "doubt") is SILENCE


def test_a_denial_holds_also_where_the_doubt_is_gone(tmp_path: Path) -> None:
    one, call = guard(tmp_path), read(tool("PreToolUse", 1, "touch x"))
    number = one.ask(call, sort(call), Standing(), "doubt")
    assert isinstance(number, int) and one.decide(number, "deny", "not now")
    said = one.ask(call, sort(call), Standing())
    assert isinstance(said, HookReply) and said.verdict == "deny" and "not now" in said.reason


def test_an_approval_is_spent_also_where_the_doubt_is_gone(tmp_path: Path) -> None:
    one, call = guard(tmp_path), read(tool("PreToolUse", 1, "touch x"))
    number = one.ask(call, sort(call), Standing(), "doubt")
    assert isinstance(number, int) and one.decide(number, "once")
    assert one.ask(call, sort(call), Standing()) is SILENCE
    assert isinstance(one.ask(call, sort(call), Standing(), "doubt"), int)


@pytest.mark.parametrize(
    ("approved", "then", "passes"),
    [
        ("touch x", "touch y", True),
        ("touch x", "rm -rf y", False),
        ("rm -rf x", "rm -rf y", True),
        ("rm -rf x", "rm -rf y z/a.txt", True),
        ("rm -rf x", "rm -rf ~", False),
        ("rm -rf x", "rm -rf .", False),
        ("rm -rf x", "rm -rf /x", False),
        ("rm -rf x", "rm -rf x/../..", False),
        ("rm -rf x", "rm -rf .git", False),
        ("rm -rf x", "rm -rf *", False),
        ("rm -rf x", "rm -rf ~; dd of=/dev/sda", False),
        ("rm -rf x", "rm -rf y; dd of=/dev/sda", False),
        ("rm -rf x", "rm -rf y > /etc/passwd", False),
        ("rm -rf x", "rm -rf $(cat f)", False),
        ("rm -rf x", "X=1 rm -rf y", False),
        ("rm -rf x", "git push --force", False),
        ("sudo ls", "sudo ls", True),
        ("sudo ls", "sudo reboot", False),
        ("touch x", "mv a b", False),
        ("touch x", "touch y; mv a b", False),
    ],
)
def test_for_this_session_holds_for_calls_of_the_same_kind(
    approved: str, then: str, passes: bool, tmp_path: Path
) -> None:
    one = guard(tmp_path)
    first, second = read(tool("PreToolUse", 1, approved)), read(tool("PreToolUse", 2, then))
    number = one.ask(first, sort(first), Standing(), "doubt")
    assert isinstance(number, int) and one.decide(number, "session")
    said = one.ask(second, sort(second), Standing(), "doubt")
    assert (not isinstance(said, int) and not said.verdict) == passes


@pytest.mark.parametrize(
    "command",
    [
        "nooscope permits approve 1",
        "nooscope hooks permits approve 1",
        "python -m tui.cli hooks permits answer 1 yes",
        "nooscope hooks permits lift s1",
        "echo {} > ~/.claude/settings.json",
    ],
)
def test_what_concerns_the_guard_is_approved_for_one_call_only(command: str, tmp_path: Path) -> None:
    one, call = guard(tmp_path), read(tool("PreToolUse", 1, command))
    number = one.ask(call, sort(call), Standing())
    assert isinstance(number, int) and one.decide(number, "session")
    assert one.ask(call, sort(call), Standing()) == APPROVED
    assert isinstance(one.ask(call, sort(call), Standing()), int)


@pytest.mark.parametrize(
    ("name", "arguments", "asks"),
    [
        ("Read", {"file_path": "/home/a/.ssh/id"}, False),
        ("Read", {"file_path": "/home/a/.local/share/nooscope/intake/token"}, True),
        ("Write", {"file_path": "/home/a/.claude/settings.json", "content": "{}"}, True),
        ("Write", {"file_path": "a.py", "content": "rm -rf /"}, False),
        ("Grep", {"pattern": "rm -rf", "path": "src"}, False),
        ("mcp__files__delete_file", {"path": "a"}, True),
        ("mcp__db__query", {"sql": "DROP TABLE a"}, True),
        ("mcp__db__query", {"sql": "select 1"}, False),
        ("Bash", {"command": None}, True),
        ("Bash", {"command": "x" * 300_000}, True),
        ("Bash", {"command": "echo \ud800"}, False),
    ],
)
def test_calls_that_are_put_to_the_person(name: str, arguments: Any, asks: bool, tmp_path: Path) -> None:
    one = guard(tmp_path)
    call = read(hook("PreToolUse", tool_name=name, tool_input=arguments))
    assert isinstance(one.ask(call, sort(call), Standing()), int) is asks


async def test_an_objection_is_put_to_the_person_and_written_down(tmp_path: Path) -> None:
    """Of reads too; what they decide holds while the call waits, and a block needs no question."""
    one, call = guard(tmp_path), read(tool("PreToolUse", 1, "cat x"))
    asks = Objection("ask", "the extension strict wants you to decide")
    number = one.ask(call, sort(call), Standing(), "", asks)
    assert isinstance(number, int) and one.questions[0].reason == asks.reason
    assert one.decide(number, "once")
    assert (await one.answer_to(number, call, sort(call), Standing())) is SILENCE
    said = one.ask(call, sort(call), Standing(), "", Objection("deny", "the extension strict blocks it"))
    assert isinstance(said, HookReply) and said.verdict == "deny"
    journal = [(entry.what, entry.reason) for entry in PermitJournal(tmp_path / "permits.jsonl").read()]
    assert journal[0] == ("asked", asks.reason) and journal[-1] == ("denied", "the extension strict blocks it")


def test_everything_decided_is_in_the_journal(tmp_path: Path) -> None:
    one = guard(tmp_path)
    for number, (command, standing) in enumerate(
        [("cat x", Standing()), ("touch x", Standing()), ("touch x", Standing("safety"))]
    ):
        call = read(tool("PreToolUse", number, command))
        one.ask(call, sort(call), standing)
    journal = PermitJournal(tmp_path / "permits.jsonl")
    assert [entry.what for entry in journal.read()] == ["passed", "used", "denied"]
    assert journal.check().fault == ""


def test_a_quarantine_is_a_doubt_and_no_standing() -> None:
    one = session()
    one.step(read(hook("UserPromptSubmit", prompt="go")), 99.0)
    before = one.standing()
    one._quarantined = True
    assert one.doubt() == "its affect is quarantined" and one.standing() == before
    off = session(with_value(Settings(), "response.guard.quarantine", False))
    off.step(read(failure(1)), 99.0)
    off._quarantined = True
    assert off.doubt() == ""


async def test_a_question_nobody_answered_is_late_and_gone_with_its_session(tmp_path: Path) -> None:
    """It presses no longer, an answer still holds for the next try, and the session's end clears it."""
    one = Guard(GuardSettings(wait=0.0), b"k" * 32, PermitJournal(tmp_path / "permits.jsonl"), lambda: 1.0)
    call = read(tool("PreToolUse", 1, "rm -rf x"))
    number = one.ask(call, sort(call), Standing())
    assert isinstance(number, int) and [each.late for each in one.questions] == [False]
    said = await one.answer_to(number, call, sort(call), Standing())
    assert said.verdict == "ask" and [each.late for each in one.questions] == [True]
    assert one.decide(number, "session")
    answers = [one.ask(call, sort(call), Standing()) for _ in range(2)]
    assert answers == [APPROVED, SILENCE]
    one.forget(call.session)
    assert isinstance(one.ask(call, sort(call), Standing()), int)
    one.forget(call.session)
    assert one.questions == ()


@pytest.mark.parametrize(
    ("agent", "value", "failed"),
    [
        ("gemini", {"tool_response": {"llmContent": "Output: x\nExit Code: 2\nProcess Group PGID: 1"}}, True),
        ("gemini", {"tool_response": {"llmContent": "Output: x\nExit Code: 0"}}, False),
        ("gemini", {"tool_response": {"llmContent": "x", "error": {"message": "no"}}}, True),
        ("copilot", {"tool_result": _copilot("x\n<shellId: 0 completed with exit code 2>")}, True),
        ("copilot", {"tool_result": _copilot("x\n<exited with exit code 1>")}, True),
        ("copilot", {"tool_result": _copilot("x\n<shellId: 0 completed with exit code 0>")}, False),
        ("copilot", {"tool_result": _copilot("x", "failure")}, True),
    ],
)
def test_how_a_call_ended_as_agents_tell_it(agent: str, value: dict[str, Any], failed: bool) -> None:
    name = "AfterTool" if agent == "gemini" else "PostToolUse"
    call = read({"hook_event_name": name, "session_id": "s", "tool_name": "Bash", **value}, agent)
    assert call.failed is failed and call.result.startswith(("x", "Output"))
