"""Copilot CLI's hooks: a file of our own.

Only a guard hooks a call before it runs, for a fault there denies it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.agents.copilot.reader import COPILOT_EXIT
from core.agents.hook import AgentHooks, HookCall, HookFile, HookMoment, HookReply, Installing, read_common
from core.agents.loose import table, text

MOMENTS: dict[str, HookMoment] = {
    "SessionStart": "session_start",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "before_tool",
    "PostToolUse": "after_tool",
    "PostToolUseFailure": "after_tool",
    "Notification": "attention",
    "Stop": "stop",
    "SessionEnd": "session_end",
}
"""In these names it speaks as Claude Code does."""
_SPOKEN_TO = frozenset(("PostToolUse", "PostToolUseFailure"))


def copilot_hook_file(to: Installing) -> HookFile:
    """A file beside others, for the person or the project."""
    own = to.environment.get("COPILOT_HOME")
    folder = (Path(own) if own else to.home / ".copilot") / "hooks"
    if to.project is not None:
        folder = to.project / ".github" / "hooks"
    hooks = {
        name: [{"type": "command", "bash": to.command(name), "timeoutSec": 600 if patient else 2}]
        for name in MOMENTS
        if to.mode == "guard" or name != "PreToolUse"
        for patient in (to.mode == "guard" and name == "PreToolUse",)
    }
    return HookFile(folder / "nooscope.json", {"version": 1, "hooks": hooks}, own=True)


def read_copilot_call(value: Mapping[str, Any]) -> HookCall | None:
    """What Copilot CLI says; a command's exit code stands at the end of its output."""
    told = table(value.get("tool_result"))
    if told:
        failed = text(told.get("result_type")) not in ("", "success")
        response = {"output": text(told.get("text_result_for_llm")), "is_error": failed}
        value = {**value, "tool_response": response}
    call = read_common(value, MOMENTS)
    if call is None or call.moment != "after_tool":
        return call
    exited = COPILOT_EXIT.search(call.result[-100:])
    return call._replace(failed=call.failed or bool(exited and int(exited.group(1))))


def answer_copilot(call: HookCall, reply: HookReply) -> dict[str, Any] | None:
    """What it understands."""
    if call.moment == "before_tool" and reply.verdict:
        return {"permissionDecision": reply.verdict, "permissionDecisionReason": reply.reason}
    if reply.context and call.name in _SPOKEN_TO:
        return {"additionalContext": reply.context}
    return None


HOOKS = AgentHooks(
    "copilot",
    "copilot",
    copilot_hook_file,
    read_copilot_call,
    answer_copilot,
    limits="it names no calls, so they are joined with its log by their order",
)
