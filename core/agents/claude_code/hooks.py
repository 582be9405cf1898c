"""Claude Code's hooks: one marked entry an event in a settings file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.agents.hook import (
    AgentHooks,
    HookCall,
    HookFile,
    HookMode,
    HookMoment,
    HookReply,
    Installing,
    read_common,
    specific,
)

MOMENTS: dict[str, HookMoment] = {
    "SessionStart": "session_start",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "before_tool",
    "PostToolUse": "after_tool",
    "PostToolUseFailure": "after_tool",
    "PostToolBatch": "batch",
    "PermissionRequest": "permission",
    "Notification": "attention",
    "Stop": "stop",
    "SessionEnd": "session_end",
}
_SPOKEN_TO = frozenset(("PostToolBatch", "UserPromptSubmit", "SessionStart"))
"""Where a sentence is handed over: just before the model is asked, and when it starts again after a cut."""
_BRIEF = 2
_PATIENT = 600
"""Seconds after which Claude Code goes on without our answer; a guarded call may wait for the person."""


def claude_hook_file(to: Installing) -> HookFile:
    """The person's settings, or the project's that are not shared."""
    own = to.environment.get("CLAUDE_CONFIG_DIR")
    folder = Path(own) if own else to.home / ".claude"
    path = folder / "settings.json" if to.project is None else to.project / ".claude" / "settings.local.json"
    entries = {
        name: {
            "hooks": [{"type": "command", "command": to.command(name), "timeout": _timeout(name, to.mode)}]
        }
        for name in MOMENTS
    }
    return HookFile(path, entries)


def _timeout(name: str, mode: HookMode) -> int:
    return _PATIENT if mode == "guard" and name == "PreToolUse" else _BRIEF


def read_claude_call(value: Mapping[str, Any]) -> HookCall | None:
    """What Claude Code says."""
    return read_common(value, MOMENTS)


def answer_claude(call: HookCall, reply: HookReply) -> dict[str, Any] | None:
    """What it understands; None where it is not spoken to at this event."""
    if call.moment == "before_tool" and reply.verdict:
        verdict = "deny" if reply.verdict == "ask" and call.unattended else reply.verdict
        return specific(call, permissionDecision=verdict, permissionDecisionReason=reply.reason)
    if call.moment == "before_tool" and reply.approved:
        return specific(call, permissionDecision="allow", permissionDecisionReason=reply.reason)
    if reply.context and call.name in _SPOKEN_TO:
        return specific(call, additionalContext=reply.context)
    return None


HOOKS = AgentHooks("claude", "claude-code", claude_hook_file, read_claude_call, answer_claude)
