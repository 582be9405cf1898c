"""Gemini CLI's hooks: entries in its settings, times in milliseconds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.agents.gemini.reader import GEMINI_EXIT
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

MOMENTS: dict[str, HookMoment] = {
    "SessionStart": "session_start",
    "BeforeAgent": "prompt",
    "BeforeTool": "before_tool",
    "AfterTool": "after_tool",
    "AfterAgent": "stop",
    "Notification": "attention",
    "SessionEnd": "session_end",
}
"""Never AfterModel: it runs for every piece of an answer."""
_SPOKEN_TO = frozenset(("AfterTool", "BeforeAgent"))


def gemini_hook_file(to: Installing) -> HookFile:
    """The person's settings, or the project's."""
    path = (to.home if to.project is None else to.project) / ".gemini" / "settings.json"
    entries = {}
    for name in MOMENTS:
        patient = to.mode == "guard" and name == "BeforeTool"
        hook = {"type": "command", "command": to.command(name), "timeout": 600_000 if patient else 2000}
        entries[name] = {"hooks": [hook]}
    return HookFile(path, entries)


def read_gemini_call(value: Mapping[str, Any]) -> HookCall | None:
    """What Gemini CLI says; a command's exit code stands in its output, and it names calls nowhere."""
    call = read_common(value, MOMENTS)
    if call is None or call.moment not in ("before_tool", "after_tool"):
        return call
    exited = GEMINI_EXIT.search(call.result)
    return call._replace(failed=call.failed or bool(exited and int(exited.group(1))))


def answer_gemini(call: HookCall, reply: HookReply) -> dict[str, Any] | None:
    """What it understands: it knows no `ask`."""
    if call.moment == "before_tool" and reply.verdict:
        return {"decision": "deny", "reason": reply.reason}
    if reply.context and call.name in _SPOKEN_TO:
        return specific(call, additionalContext=reply.context)
    return None


HOOKS = AgentHooks(
    "gemini",
    "gemini",
    gemini_hook_file,
    read_gemini_call,
    answer_gemini,
    limits="it cannot be asked to put a question: a call that needs you is denied and may be tried again",
)
