"""How tool uses end."""

from __future__ import annotations

import pytest

from core.agents.calls import Outcomes, Result, exit_code
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
