"""Claude Code: a file for the session and one for each sub-agent."""

from __future__ import annotations

from typing import Any

from sample_sessions.stage.deeds import (
    MAIN,
    Answered,
    Call,
    Compacted,
    Deed,
    Order,
    Returned,
    Said,
    Sent,
    Stopped,
    Usage,
    Used,
)
from sample_sessions.stage.dice import Dice
from sample_sessions.stage.stage import Stage
from sample_sessions.writers.line import iso, lines, numbered

_LONG = 6.0  # Seconds after which a running command shows signs of life.
_REFUSED = "User rejected tool use"


def write(stage: Stage) -> dict[str, bytes]:
    """The session's file first."""
    folder = "projects/" + stage.world.root.replace("/", "-")
    files = {f"{folder}/{stage.session}.jsonl": lines(_Log(stage, MAIN, stage.program.model).records())}
    for order in (order for deed in stage.deeds if isinstance(deed, Sent) for order in deed.orders):
        name = f"{folder}/{stage.session}/subagents/agent-{order.child}.jsonl"
        files[name] = lines(_Log(stage, order.child, order.model).records())
    return files


class _Log:
    """The lines of one agent."""

    def __init__(self, stage: Stage, agent: str, model: str) -> None:
        self._stage = stage
        self._root = stage.world.root
        self._agent = agent
        self._model = model
        self._dice = Dice(f"{stage.name}/{agent}/claude")
        self._last: str | None = None
        self._lines: list[dict[str, Any]] = []
        self._calls: dict[str, tuple[str, Order]] = {}

    def records(self) -> list[dict[str, Any]]:
        for deed in self._stage.of(self._agent):
            self._tell(deed)
        return self._lines

    def _tell(self, deed: Deed) -> None:
        match deed:
            case Said():
                more = {} if self._agent != MAIN else {"permissionMode": "acceptEdits", "todos": []}
                self._line("user", deed.at, {"role": "user", "content": deed.text}, **more)
            case Stopped():
                text = [{"type": "text", "text": "[Request interrupted by user]"}]
                self._line("user", deed.at, {"role": "user", "content": text})
            case Answered():
                self._message(deed.at, [{"type": "text", "text": deed.text}], deed.usage, "end_turn")
                if self._agent == MAIN:
                    self._line("system", deed.at + 0.05, None, subtype="turn_duration", durationMs=41_000, isMeta=False)
            case Used():
                self._use(deed)
            case Compacted():
                self._compact(deed)
            case Sent():
                self._send(deed)
            case Returned():
                self._return(deed)

    def _line(self, kind: str, at: float, message: Any, **more: Any) -> None:
        uuid = self._dice.uuid()
        agent = {} if self._agent == MAIN else {"agentId": self._agent}
        record = {
            "parentUuid": self._last,
            "isSidechain": self._agent != MAIN,
            "userType": "external",
            "cwd": self._root,
            "sessionId": self._stage.session,
            "version": self._stage.program.version,
            "gitBranch": "main",
            **agent,
            "type": kind,
            **({} if message is None else {"message": message}),
            **more,
            "uuid": uuid,
            "timestamp": iso(at),
        }
        self._last = uuid
        self._lines.append(record)

    def _message(self, at: float, parts: list[dict[str, Any]], usage: Usage, stop: str | None = None) -> None:
        """One answer: a line for each of its parts, all with one id."""
        name, request = f"msg_01{self._dice.word(22)}", f"req_011{self._dice.word(21)}"
        for place, part in enumerate(parts):
            message = {
                "model": self._model,
                "id": name,
                "type": "message",
                "role": "assistant",
                "content": [part],
                "stop_reason": stop,
                "stop_sequence": None,
                "usage": {
                    "input_tokens": usage.fresh,
                    "cache_creation_input_tokens": usage.written,
                    "cache_read_input_tokens": usage.cached,
                    "output_tokens": usage.output if place == len(parts) - 1 else 3,
                    "service_tier": "standard",
                },
            }
            self._line("assistant", at - 0.2 * (len(parts) - 1 - place), message, requestId=request)

    def _use(self, deed: Used) -> None:
        call = f"toolu_01{self._dice.word(22)}"
        tool, arguments = _asked(deed.call, self._root)
        parts: list[dict[str, Any]] = [{"type": "text", "text": deed.thought}] if deed.thought else []
        parts.append({"type": "tool_use", "id": call, "name": tool, "input": arguments})
        self._message(deed.asked, parts, deed.usage)
        if tool == "Bash" and deed.at - deed.asked > _LONG:
            last = self._last
            data = {"type": "bash_progress", "output": "", "fullOutput": "", "elapsedTimeSeconds": 2, "totalLines": 0}
            self._line("progress", deed.asked + 2, None, data=data, toolUseID="bash-progress-0", parentToolUseID=call)
            self._last = last
        self._result(deed.at, call, *_answered(deed, self._root))

    def _result(self, at: float, call: str, content: Any, failed: bool, told: Any) -> None:
        block = {"tool_use_id": call, "type": "tool_result", "content": content, "is_error": failed}
        self._line("user", at, {"role": "user", "content": [block]}, toolUseResult=told)

    def _compact(self, deed: Compacted) -> None:
        logical, self._last = self._last, None
        self._line(
            "system",
            deed.at,
            None,
            subtype="compact_boundary",
            content="Conversation compacted",
            isMeta=False,
            level="info",
            logicalParentUuid=logical,
            compactMetadata={"trigger": "auto", "preTokens": deed.before, "postTokens": deed.after},
        )
        self._line(
            "user",
            deed.at + 0.01,
            {"role": "user", "content": deed.summary},
            isCompactSummary=True,
            isVisibleInTranscriptOnly=True,
        )

    def _send(self, deed: Sent) -> None:
        parts: list[dict[str, Any]] = [{"type": "text", "text": deed.thought}]
        for order in deed.orders:
            call = f"toolu_01{self._dice.word(22)}"
            self._calls[order.child] = (call, order)
            arguments = {"description": order.title, "prompt": order.task, "subagent_type": order.role}
            parts.append({"type": "tool_use", "id": call, "name": "Task", "input": arguments})
        self._message(deed.at, parts, deed.usage)
        last = self._last
        for place, order in enumerate(deed.orders):
            data = {"type": "agent_progress", "prompt": order.task, "agentId": order.child}
            call = self._calls[order.child][0]
            self._line(
                "progress",
                deed.at + 0.4 * place + 0.3,
                None,
                data=data,
                toolUseID=f"agent_{call}",
                parentToolUseID=call,
            )
        self._last = last

    def _return(self, deed: Returned) -> None:
        call, order = self._calls[deed.child]
        content = [{"type": "text", "text": deed.text}]
        told = {
            "status": "completed",
            "prompt": order.task,
            "agentId": deed.child,
            "content": content,
            "totalDurationMs": round(deed.seconds * 1000),
            "totalTokens": deed.tokens,
            "totalToolUseCount": deed.uses,
        }
        self._result(deed.at, call, content, False, told)


def _asked(call: Call, root: str) -> tuple[str, dict[str, Any]]:
    """The tool and its arguments."""
    path = f"{root}/{call.path}"
    match call.kind:
        case "read":
            return "Read", {"file_path": path}
        case "search":
            where = {"path": path} if call.path else {}
            return "Grep", {"pattern": call.pattern, **where, "output_mode": "content", "-n": True}
        case "find":
            return "Glob", {"pattern": call.pattern}
        case "edit":
            return "Edit", {"file_path": path, "old_string": call.old, "new_string": call.new, "replace_all": False}
        case "write":
            return "Write", {"file_path": path, "content": call.new}
        case "run":
            return "Bash", {"command": call.command, "description": call.command.partition(" ")[0]}
        case "web":
            return "WebSearch", {"query": call.pattern}
        case "plan":
            todos = [
                {
                    "content": step.lstrip("✓"),
                    "status": "completed" if step.startswith("✓") else "pending",
                    "activeForm": step.lstrip("✓"),
                }
                for step in call.steps
            ]
            return "TodoWrite", {"todos": todos}


def _answered(deed: Used, root: str) -> tuple[Any, bool, Any]:
    """A result's content, whether it is an error, and what stands beside it."""
    call, text = deed.call, deed.result
    path = f"{root}/{call.path}"
    if deed.refused:
        return _REFUSED, True, _REFUSED
    if deed.code and call.kind != "run":
        return f"<tool_use_error>{text}</tool_use_error>", True, f"Error: {text}"
    match call.kind:
        case "read":
            count = text.count("\n") + 1
            file = {"filePath": path, "content": text, "numLines": count, "startLine": 1, "totalLines": count}
            return numbered(text), False, {"type": "text", "file": file}
        case "search":
            told = {
                "mode": "content",
                "numFiles": 0,
                "filenames": [],
                "content": text,
                "numLines": text.count("\n") + 1,
            }
            return text or "No matches found", False, told if text else told | {"numLines": 0}
        case "find":
            names = [f"{root}/{name}" for name in deed.hits]
            told = {"filenames": names, "durationMs": 41, "numFiles": len(names), "truncated": False}
            return "\n".join(names) or "No files found", False, told
        case "edit":
            patch = [*(f"-{row}" for row in call.old.split("\n")), *(f"+{row}" for row in call.new.split("\n"))]
            told = {
                "filePath": path,
                "oldString": call.old,
                "newString": call.new,
                "structuredPatch": [{"lines": patch}],
            }
            return f"The file {path} has been updated.", False, told
        case "write":
            told = {"type": "create", "filePath": path, "content": call.new, "structuredPatch": []}
            return f"File created successfully at: {path}", False, told
        case "run":
            if deed.code:
                content = f"Exit code {deed.code}\n{text}"
                return content, True, f"Error: {content}"
            return text, False, {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
        case "web":
            said = f'Web search results for query: "{call.pattern}"\n\n{text}' if text else "No results found"
            return (said, False, {"query": call.pattern, "results": [text], "durationSeconds": deed.at - deed.asked})
        case "plan":
            return "Todos have been modified successfully.", False, {"newTodos": list(call.steps)}
