"""How each agent's hooks are installed, what their calls mean, and how each is answered."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from core.agents.calls import GEMINI_EXIT
from core.agents.codex.results import item_fact
from core.agents.copilot import COPILOT_EXIT
from core.agents.values import amount, decode, table, text
from core.events import MAIN
from core.logs.log_files import open_log

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


class HookFile(NamedTuple):
    """A file that holds hooks, and what is put there."""

    path: Path
    # Of a shared file, what is added to each list below `hooks`; of our own, the whole content.
    entries: Mapping[str, Any]
    own: bool = False  # The file is ours alone: taking the hooks out means deleting it.
    text: str = ""  # The content of a file that is ours and not JSON.


class Installing(NamedTuple):
    """For whom hooks are put where."""

    environment: Mapping[str, str]
    home: Path
    project: Path | None  # The project alone; None for all that the person does.
    mode: HookMode
    command: Callable[[str], str]  # Returns the command of an event, or a value of a plugin by its name.
    answer: bool = False  # Its own permission prompts may be answered from here.


class AgentHooks(NamedTuple):
    """All that is known of one agent's hooks."""

    name: str  # As the person names the agent.
    framework: str  # As its tool table is named.
    file: Callable[[Installing], HookFile]  # The file that is written.
    read: Callable[[Mapping[str, Any]], HookCall | None]
    answer: Callable[[HookCall, HookReply], dict[str, Any] | None]
    after: str = ""  # What the person must still do.
    limits: str = ""  # What it cannot do.
    before: str = "PreToolUse"  # Its name of the event before a call.
    answers: str = ""  # How its own permission prompts are answered from here; blank if they cannot be.
    answers_by_hook: bool = True  # Its hook waits for the answer; if not, prompts are answered by another way.
    hides_dialog: bool = False  # Its own dialog opens only when that hook is over.


def read_common(value: Mapping[str, Any], moments: Mapping[str, HookMoment]) -> HookCall | None:
    """A call in the form that Claude Code began and others took over."""
    name = text(value.get("hook_event_name"))
    moment, session = moments.get(name), text(value.get("session_id"))
    if moment is None or not session:
        return None
    response = value.get("tool_response")
    fields = table(response)
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
        failed=name == "PostToolUseFailure" or bool(fields.get("error")) or fields.get("is_error") is True,
        interrupted=value.get("is_interrupt") is True,
        duration=milliseconds / 1000.0 if milliseconds else None,
        said=next((words for key in ("prompt", "message", "reason") if (words := text(value.get(key)))), ""),
        permissions=text(value.get("permission_mode")),
        background=bool(value.get("background_tasks")),
        compacted=moment == "session_start" and value.get("source") == "compact",
    )


def _words(response: Any) -> str:
    if isinstance(response, str):
        return response
    fields = table(response)
    parts = (text(fields.get(key)) for key in ("llmContent", "stdout", "stderr", "output", "content", "text", "error"))
    return "\n".join(part for part in parts if part)


CLAUDE_MOMENTS: dict[str, HookMoment] = {
    "SessionStart": "session_start",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "before_tool",
    "PostToolUse": "after_tool",
    "PostToolUseFailure": "after_tool",
    "PostToolBatch": "batch",
    "PermissionRequest": "permission",
    "Notification": "attention",
    "Stop": "stop",
    "StopFailure": "stop",
    "SubagentStop": "stop",
    "SessionEnd": "session_end",
}
# Others use some of its names.
_SHARED = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PermissionRequest", "Stop", "SessionEnd")
CODEX_MOMENTS = {name: CLAUDE_MOMENTS[name] for name in _SHARED}
COPILOT_MOMENTS = {
    name: moment
    for name, moment in CLAUDE_MOMENTS.items()
    if name not in ("PostToolBatch", "PermissionRequest", "StopFailure", "SubagentStop")
}
PLUGIN_MOMENTS: dict[str, HookMoment] = {**CODEX_MOMENTS, "PermissionReplied": "batch"}

_PATIENT = 300  # How much longer than others a hook before a call may take under guard.
_PROGRAMS = Path(__file__).parent / "programs"


def hook_program(name: str, **values: str) -> str:
    """A program from the folder `programs`, with the values in place of their @NAMES@."""
    source = (_PROGRAMS / name).read_text("utf-8")
    return re.sub("@([A-Z]+)@", lambda match: values[match[1]], source)


def _module_file(path: Path, name: str, agent: str, to: Installing) -> HookFile:
    """A module of our own beside others."""
    values = {name: to.command(name) for name in ("FOLDER", "MODE", "DEADLINE")}
    source = hook_program("plugin.js", AGENT=json.dumps(agent), **values)
    return HookFile(path, {}, own=True, text=source + hook_program(name))


def _folder(to: Installing, folder: str, variable: str = "", of_project: str = "") -> Path:
    """The folder of settings: the project's, or the person's, which a variable may name."""
    if to.project is not None:
        return to.project / (of_project or folder)
    own = to.environment.get(variable)
    return Path(own) if own else to.home / folder


def _entries(moments: Iterable[str], to: Installing, timeout: int, before: str, **others: int) -> dict[str, Any]:
    """Our entries for events, with the time each may take; a guarded call may wait for the person."""
    patient = {before: _PATIENT * timeout} if to.mode == "guard" else {}
    timeouts = {**dict.fromkeys(moments, timeout), **patient, **others}
    return {
        name: {"hooks": [{"type": "command", "command": to.command(name), "timeout": timeouts[name]}]}
        for name in moments
    }


def read_plugin_call(value: Mapping[str, Any]) -> HookCall | None:
    """Read a call of a plugin written by nooscope."""
    return read_common(value, PLUGIN_MOMENTS)


# The notifications that begin or end a wait for the person; all others mean no wait.
_CLAUDE_WAITS = ("", "permission_prompt", "worker_permission_prompt", "agent_needs_input", "elicitation_dialog")
_CLAUDE_NOTICES: dict[str, HookMoment] = {
    **dict.fromkeys((*_CLAUDE_WAITS, "elicitation_url_dialog"), "attention"),
    **dict.fromkeys(("elicitation_response", "elicitation_complete"), "batch"),
}
_CLAUDE_BESIDE = 3600  # Seconds a permission prompt may be answered from here; its dialog is open all the time.


def claude_hook_file(to: Installing) -> HookFile:
    """The person's settings, or the project's that are not shared."""
    name = "settings.json" if to.project is None else "settings.local.json"
    path = _folder(to, ".claude", "CLAUDE_CONFIG_DIR") / name
    beside = {"PermissionRequest": _CLAUDE_BESIDE} if to.answer else {}
    return HookFile(path, _entries(CLAUDE_MOMENTS, to, 2, "PreToolUse", **beside))


def read_claude_call(value: Mapping[str, Any]) -> HookCall | None:
    """Read a call of Claude Code."""
    call = read_common(value, CLAUDE_MOMENTS)
    if call is None or call.name not in ("Notification", "StopFailure"):
        return call
    if call.name == "StopFailure":
        return call._replace(failed=True, said=text(value.get("error")))
    moment = _CLAUDE_NOTICES.get(text(value.get("notification_type")))
    return None if moment is None else call._replace(moment=moment)


CLAUDE_HOOKS = AgentHooks(
    "claude",
    "claude-code",
    claude_hook_file,
    read_claude_call,
    answer_claude,
    answers="its own dialog stays open too, and the first answer wins; in auto mode it may not ask nooscope",
)


_CODEX_TAIL = 65_536  # Bytes at the end of a rollout that are searched for an exit code.


def codex_hook_file(to: Installing) -> HookFile:
    """The person's hooks file, or the project's."""
    path = _folder(to, ".codex", "CODEX_HOME") / "hooks.json"
    return HookFile(path, _entries(CODEX_MOMENTS, to, 2, "PreToolUse", SessionEnd=1))


def read_codex_call(value: Mapping[str, Any]) -> HookCall | None:
    """Read a call of Codex; the exit code of a command is only in its rollout."""
    call = read_common(value, CODEX_MOMENTS)
    if call is None or call.moment != "after_tool" or not call.transcript:
        return call
    code = codex_rollout_exit_code(Path(call.transcript), call.id)
    return call._replace(failed=call.failed or bool(code))


def codex_rollout_exit_code(rollout: Path, call: str) -> int | None:
    """The exit code that the end of a rollout gives for a call."""
    try:
        with open_log(rollout) as stream:
            stream.seek(max(0, rollout.stat().st_size - _CODEX_TAIL))
            lines = stream.read(_CODEX_TAIL).split(b"\n")
    except (OSError, ValueError):
        return None
    for line in reversed(lines):
        if b"item_completed" in line and call.encode("utf-8", "replace") in line:
            item = table(table(table(decode(line)).get("payload")).get("item"))
            fact = item_fact(item) if item.get("id") == call else None
            if fact is not None:
                return fact.exit_code if fact.exit_code is not None else int(fact.error)
    return None


CODEX_HOOKS = AgentHooks(
    "codex",
    "codex",
    codex_hook_file,
    read_codex_call,
    answer_codex,
    after="open Codex and approve the new hooks with /hooks; until then it skips them",
    limits="it cannot show a question: a call that needs you is denied and may be tried again",
    answers="through the daemon that its screen starts; its dialog stays open, and the first answer wins",
    answers_by_hook=False,
)


_QWEN_PATIENT = 600_000  # Milliseconds a permission prompt may wait for an answer from here.


def qwen_hook_file(to: Installing) -> HookFile:
    """The person's settings, or the project's."""
    path = _folder(to, ".qwen") / "settings.json"
    waiting = {"PermissionRequest": _QWEN_PATIENT} if to.answer else {}
    return HookFile(path, _entries(CLAUDE_MOMENTS, to, 2000, "PreToolUse", **waiting))


def read_qwen_call(value: Mapping[str, Any]) -> HookCall | None:
    """Read a call of Qwen Code; before every request after the first it submits an empty prompt."""
    call = read_claude_call({**value, "tool_use_id": value.get("tool_call_id")})
    return None if call is None or (call.moment == "prompt" and not call.said) else call


QWEN_HOOKS = AgentHooks(
    "qwen",
    "qwen",
    qwen_hook_file,
    read_qwen_call,
    answer_qwen,
    answers="its own dialog opens only if you do not answer within response.guard.wait",
    hides_dialog=True,
)


# Never AfterModel: it runs for every piece of an answer.
GEMINI_MOMENTS: dict[str, HookMoment] = {
    "SessionStart": "session_start",
    "BeforeAgent": "prompt",
    "BeforeTool": "before_tool",
    "AfterTool": "after_tool",
    "AfterAgent": "stop",
    "Notification": "attention",
    "SessionEnd": "session_end",
}


def gemini_hook_file(to: Installing) -> HookFile:
    """The person's settings, or the project's."""
    path = _folder(to, ".gemini") / "settings.json"
    return HookFile(path, _entries(GEMINI_MOMENTS, to, 2000, "BeforeTool"))


def read_gemini_call(value: Mapping[str, Any]) -> HookCall | None:
    """Read a call of Gemini CLI; the exit code is in the output, and calls have no ids."""
    call = read_common(value, GEMINI_MOMENTS)
    if call is None or call.moment not in ("before_tool", "after_tool"):
        return call
    exited = GEMINI_EXIT.search(call.result)
    return call._replace(failed=call.failed or bool(exited and int(exited.group(1))))


GEMINI_HOOKS = AgentHooks(
    "gemini",
    "gemini",
    gemini_hook_file,
    read_gemini_call,
    answer_gemini,
    before="BeforeTool",
    limits="it cannot show a question: a call that needs you is denied and may be tried again",
)


def copilot_hook_file(to: Installing) -> HookFile:
    """A file beside others, for the person or the project."""
    folder = _folder(to, ".copilot", "COPILOT_HOME", ".github") / "hooks"
    hooks = {
        name: [{"type": "command", "bash": to.command(name), "timeoutSec": 600 if patient else 2}]
        for name in COPILOT_MOMENTS
        if to.mode == "guard" or name != "PreToolUse"
        for patient in (to.mode == "guard" and name == "PreToolUse",)
    }
    return HookFile(folder / "nooscope.json", {"version": 1, "hooks": hooks}, own=True)


def read_copilot_call(value: Mapping[str, Any]) -> HookCall | None:
    """Read a call of Copilot CLI; the exit code is at the end of the output."""
    result = table(value.get("tool_result"))
    if result:
        failed = text(result.get("result_type")) not in ("", "success")
        response = {"output": text(result.get("text_result_for_llm")), "is_error": failed}
        value = {**value, "tool_response": response}
    call = read_common(value, COPILOT_MOMENTS)
    if call is None or call.moment != "after_tool":
        return call
    exited = COPILOT_EXIT.search(call.result[-100:])
    return call._replace(failed=call.failed or bool(exited and int(exited.group(1))))


COPILOT_HOOKS = AgentHooks(
    "copilot",
    "copilot",
    copilot_hook_file,
    read_copilot_call,
    answer_copilot,
    limits="its hooks have no call ids, so calls are matched with its log by their order",
)


def opencode_hook_file(to: Installing) -> HookFile:
    """A module beside others, for the person or the project."""
    plugins = "opencode/plugins" if to.project is None else "plugins"
    folder = _folder(to, ".config", "XDG_CONFIG_HOME", ".opencode") / plugins
    return _module_file(folder / "nooscope.js", "opencode.js", "opencode", to)


OPENCODE_HOOKS = AgentHooks(
    "opencode",
    "opencode",
    opencode_hook_file,
    read_plugin_call,
    answer_plugin,
    limits="advice is appended to a tool's output; a call that needs you is denied at first",
    answers="its own dialog stays open too, and the first answer wins",
)


def pi_hook_file(to: Installing) -> HookFile:
    """A module beside others, for the person or the project."""
    return _module_file(_folder(to, ".pi/agent", of_project=".pi") / "extensions" / "nooscope.ts", "pi.js", "pi", to)


PI_HOOKS = AgentHooks(
    "pi",
    "pi",
    pi_hook_file,
    read_plugin_call,
    answer_plugin,
    limits="a call that needs you is denied at first and may be tried again",
)


# Every agent whose hooks are known, by the name a person gives it.
HOOKS: dict[str, AgentHooks] = {
    hooks.name: hooks
    for hooks in (CLAUDE_HOOKS, CODEX_HOOKS, GEMINI_HOOKS, QWEN_HOOKS, COPILOT_HOOKS, OPENCODE_HOOKS, PI_HOOKS)
}
