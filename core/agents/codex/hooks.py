"""Codex's hooks: entries in its hooks file, which the person must approve once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.agents.codex.facts import item_fact
from core.agents.hook import (
    AgentHooks,
    HookCall,
    HookFile,
    HookMoment,
    HookReply,
    Installing,
    read_common,
    specific,
)
from core.agents.loose import decode, table
from core.logs.log_files import open_log

MOMENTS: dict[str, HookMoment] = {
    "SessionStart": "session_start",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "before_tool",
    "PostToolUse": "after_tool",
    "PermissionRequest": "permission",
    "Stop": "stop",
    "SessionEnd": "session_end",
}
_SPOKEN_TO = frozenset(("PostToolUse", "UserPromptSubmit", "SessionStart"))
_TAIL = 65_536
"""How much of a rollout's end is searched for how a call ended."""


def codex_hook_file(to: Installing) -> HookFile:
    """The person's hooks file, or the project's."""
    own = to.environment.get("CODEX_HOME")
    folder = (Path(own) if own else to.home / ".codex") if to.project is None else to.project / ".codex"
    entries = {}
    for name in MOMENTS:
        patient = to.mode == "guard" and name == "PreToolUse"
        hook = {"type": "command", "command": to.command(name), "timeout": 600 if patient else 2}
        if name == "SessionEnd":
            hook["timeout"] = 1
        entries[name] = {"hooks": [hook]}
    return HookFile(folder / "hooks.json", entries)


def read_codex_call(value: Mapping[str, Any]) -> HookCall | None:
    """What Codex says; how a command ended stands only in its rollout."""
    call = read_common(value, MOMENTS)
    if call is None or call.moment != "after_tool" or not call.transcript:
        return call
    code = rollout_exit_code(Path(call.transcript), call.id)
    return call._replace(failed=call.failed or bool(code))


def rollout_exit_code(rollout: Path, call: str) -> int | None:
    """The exit code that the end of a rollout gives for a call."""
    try:
        with open_log(rollout) as stream:
            stream.seek(max(0, rollout.stat().st_size - _TAIL))
            lines = stream.read(_TAIL).split(b"\n")
    except (OSError, ValueError):
        return None
    for line in reversed(lines):
        if b"item_completed" in line and call.encode("utf-8", "replace") in line:
            item = table(table(table(decode(line)).get("payload")).get("item"))
            fact = item_fact(item) if item.get("id") == call else None
            if fact is not None:
                return fact.exit_code if fact.exit_code is not None else int(fact.error)
    return None


def answer_codex(call: HookCall, reply: HookReply) -> dict[str, Any] | None:
    """What it understands: it knows no `ask`, so a call that needs the person is denied with the way on."""
    if call.moment == "before_tool" and reply.verdict:
        return specific(call, permissionDecision="deny", permissionDecisionReason=reply.reason)
    if reply.context and call.name in _SPOKEN_TO:
        return specific(call, additionalContext=reply.context)
    return None


HOOKS = AgentHooks(
    "codex",
    "codex",
    codex_hook_file,
    read_codex_call,
    answer_codex,
    after="open Codex and approve the new hooks with /hooks; until then it skips them",
    limits="it cannot be asked to put a question: a call that needs you is denied and may be tried again",
)
