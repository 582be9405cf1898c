"""How tool uses end."""

from __future__ import annotations

import pytest

from core.agents.calls import Calls, Outcomes, Result, exit_code
from core.agents.registry import make_kit
from core.events import Action, Outcome
from tests.core.agents.samples import NORMALIZER

_OUTCOMES = Outcomes(NORMALIZER.outcomes)


@pytest.mark.parametrize(
    ("action", "result", "outcome"),
    [
        ("shell_exec", Result("fine"), "success"),
        ("shell_exec", Result("fine", exit_code=0), "success"),
        ("shell_exec", Result("bad", exit_code=2), "failure"),
        ("shell_exec", Result("bad", error=True), "failure"),
        ("shell_exec", Result("", running=True), "pending"),
        ("shell_exec", Result(""), "empty"),
        ("shell_exec", Result("  \n"), "empty"),
        ("search", Result("No matches found"), "empty"),
        ("search", Result("No files found"), "empty"),
        ("search", Result("No matches found" + "x" * 500), "success"),
        ("search", Result("a.py", empty=True), "empty"),
        ("search", Result("", empty=False), "success"),
        ("search", Result("", exit_code=1), "empty"),
        ("search", Result("rg: bad pattern", exit_code=2), "failure"),
        ("search", Result("", exit_code=2), "failure"),
        ("file_read", Result(""), "empty"),
        ("memory_read", Result(""), "empty"),
        ("file_edit", Result(""), "success"),
        ("memory_write", Result(""), "success"),
        ("plan", Result(""), "success"),
        ("file_edit", Result("x", error=True, rejected=True), "rejected"),
        ("file_edit", Result("x", error=True, collateral=True), "collateral"),
        ("file_edit", Result("The user doesn't want to proceed with this tool use.", error=True), "rejected"),
        ("file_edit", Result("[Request interrupted by user for tool use]", error=True), "rejected"),
        ("shell_exec", Result("<tool_use_error>Sibling tool call errored</tool_use_error>", error=True), "collateral"),
        ("shell_exec", Result("PreToolUse:Bash hook error: [x.sh]: not on main", error=True), "rejected"),
        ("shell_exec", Result("Permission to use Bash has been denied.", error=True), "rejected"),
        ("shell_exec", Result("[nooscope] stop, wrong branch", error=True), "rejected"),
        ("shell_exec", Result("nooscope: the governor halted it", error=True), "rejected"),
        ("shell_exec", Result("the person denied it: not on main", error=True), "rejected"),
        ("shell_exec", Result("Exit code 1\nnooscope: no such log", error=True, exit_code=1), "failure"),
        ("shell_exec", Result("Exit code 1\naccess has been denied", error=True, exit_code=1), "failure"),
        ("file_read", Result("he said: user rejected tool use"), "success"),
        ("shell_exec", Result("y" * 400 + "has been denied", error=True), "failure"),
    ],
)
def test_judgement(action: Action, result: Result, outcome: Outcome) -> None:
    """Flags first, then phrases; a refusal is no failure."""
    assert _OUTCOMES.judge(action, result) == outcome


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Exit code 1\nboom", 1),
        ("Exit code: 137", 137),
        ("Error: Exit code 2", 2),
        ("Process exited with code 0", 0),
        ("it said Exit code 1", None),
        ("", None),
    ],
)
def test_exit_codes(text: str, code: int | None) -> None:
    """Only a result that begins with one has one."""
    assert exit_code(text) == code


@pytest.mark.parametrize(
    ("command", "output", "outcome"),
    [
        ("npm run check 2>&1 | head -50", "npm error code 2\nnpm error command failed\nwaiting", "failure"),
        ("npm run check 2>&1 | head -50", "npm error code 2\nfixed\nchecked again\nall is well", "success"),
        ("mix test | tail -3", "Finished in 1.9 seconds\n297 tests, 11 failures", "failure"),
        ("mix test | tail -3", "Finished in 1.9 seconds\n297 tests, 0 failures", "success"),
        ("pytest -q | tail -3", "=== 2 failed, 31 passed in 4.1s ===", "failure"),
        ("pytest -q | tail -3", "=== 31 passed, 2 xfailed in 4.1s ===", "success"),
        ("go test ./... | tail -2", "FAIL\texample.org/prompt [setup failed]\nFAIL\n", "failure"),
        ("git log --oneline -1", "1a2b3c4 Repair 3 failures", "success"),
        ("python3 run.py || true", "Traceback (most recent call last):\n  File 'a'\nKeyError: 'b'\n", "failure"),
        ("python3 run.py", "Traceback (most recent call last):\n  File 'a'\nKeyError: 'b'\nretried: ok", "success"),
        ("git commit -m x || true", "Author identity unknown\n\n*** Please tell me who you are.", "failure"),
        ("git commit -m x; true", "fatal: cannot lock ref 'HEAD'", "failure"),
        ("git commit -m x; git push || true", "[main 1a2b3c4] x\n 1 file changed\nfatal: no upstream", "success"),
        ("git commit -qm x && git status", "On branch main\nnothing to commit, working tree clean", "success"),
        ("git log", "fatal: bad revision", "success"),
        ("kubectl logs pod", "Traceback (most recent call last):\n  File 'a'\nKeyError: 'b'\n", "success"),
    ],
)
def test_a_failure_that_a_pipe_hides_is_known_by_its_last_lines(command: str, output: str, outcome: Outcome) -> None:
    calls = Calls(make_kit(), "claude-code")
    use = calls.both("1", "Bash", {"command": command}, 0.0, 1.0, Result(output), None)
    assert use.outcome == outcome
