"""What an agent tells its hooks, and what it may be answered, in one vocabulary for all agents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from core.agents.loose import amount, table, text
from core.events import MAIN

HookMoment = Literal[
    "session_start",
    "prompt",
    "before_tool",
    "after_tool",
    "batch",
    "permission",
    "attention",
    "stop",
    "session_end",
]
"""`batch` comes after all calls of one answer; `permission` and `attention` wait for the person."""
HookMode = Literal["observe", "advise", "guard"]
MODES: tuple[HookMode, ...] = ("observe", "advise", "guard")


class HookCall(NamedTuple):
    """One call of a hook."""

    moment: HookMoment
    name: str
    """The agent's own name of the event."""
    session: str
    agent: str = MAIN
    project: str = ""
    transcript: str = ""
    tool: str = ""
    arguments: Any = None
    id: str = ""
    """Of a tool's call, as the agent's log has it."""
    result: str = ""
    failed: bool = False
    interrupted: bool = False
    duration: float | None = None
    said: str = ""
    """A prompt, a question or a reason."""
    unattended: bool = False
    """Nobody is there whom the agent could ask."""
    compacted: bool = False
    """The context was cut just now, and the model starts again with what it is told here."""


class HookReply(NamedTuple):
    """What is answered."""

    context: str = ""
    """A sentence for the agent's model."""
    verdict: Literal["", "deny", "ask"] = ""
    reason: str = ""
    approved: bool = False
    """The person let this very call pass, so the agent need not ask again."""


SILENCE = HookReply()


class HookFile(NamedTuple):
    """A file that holds hooks, and what is put there."""

    path: Path
    entries: Mapping[str, Any]
    """Of a shared file, what is added to each list below `hooks`; of our own, the whole content."""
    own: bool = False
    """The file is ours alone: taking the hooks out means deleting it."""
    text: str = ""
    """Of a file of ours that is no JSON, its content."""


class Installing(NamedTuple):
    """For whom hooks are put where."""

    environment: Mapping[str, str]
    home: Path
    project: Path | None
    """The project alone; None for all that the person does."""
    mode: HookMode
    command: Callable[[str], str]
    """The command of an event; of a module of ours, its values by name."""


class AgentHooks(NamedTuple):
    """All that is known of one agent's hooks."""

    name: str
    """As the person names the agent."""
    framework: str
    """As its tool table is named."""
    file: Callable[[Installing], HookFile]
    """What is written, and where."""
    read: Callable[[Mapping[str, Any]], HookCall | None]
    answer: Callable[[HookCall, HookReply], dict[str, Any] | None]
    after: str = ""
    """What the person must still do."""
    limits: str = ""
    """What it cannot do."""


def read_common(value: Mapping[str, Any], moments: Mapping[str, HookMoment]) -> HookCall | None:
    """A call in the form that Claude Code began and others took over."""
    name = text(value.get("hook_event_name"))
    moment, session = moments.get(name), text(value.get("session_id"))
    if moment is None or not session:
        return None
    response = value.get("tool_response")
    error = text(value.get("error"))
    milliseconds = amount(value.get("duration_ms"))
    return HookCall(
        moment,
        name,
        session[:200],
        agent=text(value.get("agent_id")) or MAIN,
        project=text(value.get("cwd")),
        transcript=text(value.get("transcript_path")),
        tool=text(value.get("tool_name")),
        arguments=value.get("tool_input"),
        id=text(value.get("tool_use_id")),
        result=error or _words(response),
        failed=name == "PostToolUseFailure" or _told_error(response),
        interrupted=value.get("is_interrupt") is True,
        duration=milliseconds / 1000.0 if milliseconds else None,
        said=next((said for key in ("prompt", "message", "reason") if (said := text(value.get(key)))), ""),
        unattended=value.get("permission_mode") in ("bypassPermissions", "dontAsk"),
        compacted=moment == "session_start" and value.get("source") == "compact",
    )


def _words(response: Any) -> str:
    if isinstance(response, str):
        return response
    told = table(response)
    parts = (
        text(told.get(key))
        for key in ("llmContent", "stdout", "stderr", "output", "content", "text", "error")
    )
    return "\n".join(part for part in parts if part)


def _told_error(response: Any) -> bool:
    told = table(response)
    return bool(told.get("error")) or told.get("is_error") is True


def specific(call: HookCall, **fields: Any) -> dict[str, Any]:
    """An answer that belongs to one event."""
    return {"hookSpecificOutput": {"hookEventName": call.name, **fields}}
