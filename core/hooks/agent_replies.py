"""The answer each agent's hook gets back, as that agent understands it."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from core.events import MAIN

# `batch` comes after all calls of one answer; `permission` and `attention` wait for the person.
HookMoment = Literal[
    "session_start", "prompt", "before_tool", "after_tool", "batch", "permission", "attention", "stop", "session_end"
]


HookMode = Literal["observe", "advise", "guard"]


MODES: tuple[HookMode, ...] = ("observe", "advise", "guard")


class HookCall(NamedTuple):
    """One call of a hook."""

    moment: HookMoment
    name: str  # The agent's own name of the event.
    session: str
    agent: str = MAIN
    project: str = ""
    transcript: str = ""
    tool: str = ""
    arguments: Any = None
    id: str = ""  # Of a tool's call, as the agent's log has it.
    result: str = ""
    failed: bool = False
    interrupted: bool = False
    duration: float | None = None
    said: str = ""  # A prompt, a question or a reason.
    permissions: str = ""  # The agent's permission mode; blank if it does not say.
    background: bool = False  # The turn ended, but sub-agents of it still run.
    compacted: bool = False  # The context was just compacted, and the model continues with what this hook returns.

    @property
    def unattended(self) -> bool:
        """Whether its permission mode never asks the person."""
        return self.permissions in ("bypassPermissions", "dontAsk", "yolo")


class HookReply(NamedTuple):
    """The reply to a hook call, before it is put into an agent's own form."""

    context: str = ""  # A sentence for the agent's model.
    verdict: Literal["", "deny", "ask"] = ""
    reason: str = ""
    approved: bool = False  # The person let this very call pass, so the agent need not ask again.
    input: Any = None  # Of an approved question or plan: its input with the person's answers.
    stop: bool = False  # The turn ends here.


SILENCE = HookReply()


# Events that take a sentence: just before a model request, and after a compaction.
_CLAUDE_SPOKEN_TO = frozenset(("PostToolBatch", "UserPromptSubmit", "SessionStart"))
_CODEX_SPOKEN_TO = frozenset(("PostToolUse", "UserPromptSubmit", "SessionStart"))
_GEMINI_SPOKEN_TO = frozenset(("AfterTool", "BeforeAgent"))
_COPILOT_SPOKEN_TO = frozenset(("PostToolUse", "PostToolUseFailure"))


def specific(call: HookCall, **fields: Any) -> dict[str, Any]:
    """An answer that belongs to one event."""
    return {"hookSpecificOutput": {"hookEventName": call.name, **fields}}


def answer_plugin(call: HookCall, reply: HookReply) -> dict[str, Any] | None:
    """Return the answer for a plugin written by nooscope."""
    if call.moment == "permission":
        answer = "once" if reply.approved else "reject" if reply.verdict == "deny" else ""
        return {"permission": answer} if answer else None
    if call.moment == "before_tool" and reply.verdict:
        return {"deny": reply.reason}
    if reply.context and call.moment in ("after_tool", "prompt"):
        return {"context": reply.context}
    return None


def answer_claude(call: HookCall, reply: HookReply) -> dict[str, Any] | None:
    """Return Claude Code's answer, or None if this event takes none."""
    if call.moment == "permission":
        return _claude_decision(call, reply)
    if call.moment == "prompt" and reply.stop:
        return {"continue": False, "stopReason": reply.reason}
    if call.moment == "before_tool" and reply.verdict:
        verdict = "deny" if reply.verdict == "ask" and call.unattended else reply.verdict
        answer = specific(call, permissionDecision=verdict, permissionDecisionReason=reply.reason)
        return {**answer, "continue": False, "stopReason": reply.reason} if reply.stop else answer
    # An allow would also skip the check of the auto mode, and what another mode denies by itself.
    if call.moment == "before_tool" and reply.approved and not (call.unattended or call.permissions == "auto"):
        return specific(call, permissionDecision="allow", permissionDecisionReason=reply.reason)
    if reply.context and call.name in _CLAUDE_SPOKEN_TO:
        return specific(call, additionalContext=reply.context)
    return None


def _claude_decision(call: HookCall, reply: HookReply) -> dict[str, Any] | None:
    if reply.approved:
        more = {} if reply.input is None else {"updatedInput": reply.input}
        return specific(call, decision={"behavior": "allow", **more})
    if reply.verdict == "deny":
        return specific(call, decision={"behavior": "deny", "message": reply.reason})
    return None


def answer_qwen(call: HookCall, reply: HookReply) -> dict[str, Any] | None:
    """Return Qwen Code's answer; when it calls before a tool, its own prompt is over."""
    if call.moment == "permission" or (call.moment == "before_tool" and reply.verdict):
        return answer_claude(call, reply._replace(stop=False))
    return specific(call, additionalContext=reply.context) if reply.context and call.moment == "batch" else None


def answer_codex(call: HookCall, reply: HookReply) -> dict[str, Any] | None:
    """Return Codex's answer; it has no `ask`, so a call that needs the person is denied with a reason."""
    if call.moment == "before_tool" and reply.verdict:
        return specific(call, permissionDecision="deny", permissionDecisionReason=reply.reason)
    if reply.context and call.name in _CODEX_SPOKEN_TO:
        return specific(call, additionalContext=reply.context)
    return None


def answer_gemini(call: HookCall, reply: HookReply) -> dict[str, Any] | None:
    """Return Gemini CLI's answer; it has no `ask`."""
    if call.moment == "before_tool" and reply.verdict:
        return {"decision": "deny", "reason": reply.reason}
    if reply.context and call.name in _GEMINI_SPOKEN_TO:
        return specific(call, additionalContext=reply.context)
    return None


def answer_copilot(call: HookCall, reply: HookReply) -> dict[str, Any] | None:
    """Return Copilot CLI's answer."""
    if call.moment == "before_tool" and reply.verdict:
        return {"permissionDecision": reply.verdict, "permissionDecisionReason": reply.reason}
    if reply.context and call.name in _COPILOT_SPOKEN_TO:
        return {"additionalContext": reply.context}
    return None
