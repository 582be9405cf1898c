"""Gemini CLI: a log of updates, in which an answer is written again once its calls are done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sample_sessions.stage.deeds import Answered, Call, Compacted, Deed, Said, Stopped, Usage, Used
from sample_sessions.stage.dice import Dice
from sample_sessions.stage.stage import Stage
from sample_sessions.writers.line import day, iso, lines


def write(stage: Stage) -> dict[str, bytes]:
    """The one chat."""
    folder = Dice(stage.world.root).word(64, "0123456789abcdef")
    name = f"session-{day(stage.start, '%Y-%m-%dT%H-%M')}-{stage.session[:8]}.jsonl"
    return {f"tmp/{folder}/chats/{name}": lines(_Chat(stage, folder).records())}


class _Chat:
    def __init__(self, stage: Stage, project: str) -> None:
        self._stage = stage
        self._project = project
        self._dice = Dice(f"{stage.name}/gemini")

    def records(self) -> Iterator[dict[str, Any]]:
        start = iso(self._stage.start)
        yield {
            "sessionId": self._stage.session,
            "projectHash": self._project,
            "startTime": start,
            "lastUpdated": start,
            "kind": "main",
        }
        for deed in self._stage.of():
            yield from self._tell(deed)
            yield {"$set": {"lastUpdated": iso(deed.at)}}

    def _tell(self, deed: Deed) -> Iterator[dict[str, Any]]:
        match deed:
            case Said():
                yield self._message(deed.at, "user", [{"text": deed.text}])
            case Stopped():
                yield self._message(deed.at, "info", "Request cancelled.")
            case Answered():
                yield self._answer(deed.at, deed.text, "", deed.usage)
            case Used():
                answer = self._answer(deed.asked, "", deed.thought, deed.usage)
                yield answer
                yield answer | {"toolCalls": [self._call(deed)]}
            case Compacted():
                text = f"Chat history compressed from {deed.before} to {deed.after} tokens."
                yield self._message(deed.at, "info", text)
            case _:
                raise ValueError(f"no sub-agents in this writer: {deed}")

    def _message(self, at: float, kind: str, content: Any) -> dict[str, Any]:
        return {"id": self._dice.uuid(), "timestamp": iso(at), "type": kind, "content": content}

    def _answer(self, at: float, text: str, thought: str, usage: Usage) -> dict[str, Any]:
        thoughts = (
            [{"subject": "Thinking it through", "description": thought, "timestamp": iso(at - 1.5)}] if thought else []
        )
        spent = usage.output // 2
        tokens = {
            "input": usage.context,
            "output": usage.output - spent,
            "cached": usage.cached,
            "thoughts": spent,
            "tool": 0,
            "total": usage.context + usage.output,
        }
        return self._message(at, "gemini", text) | {
            "thoughts": thoughts,
            "tokens": tokens,
            "model": self._stage.program.model,
        }

    def _call(self, deed: Used) -> dict[str, Any]:
        name = self._dice.word(8, "0123456789abcdefghijklmnopqrstuvwxyz")
        tool, shown, arguments = _asked(deed.call)
        failed = bool(deed.code) and deed.call.kind != "run"
        told = {"error": deed.result} if failed else {"output": _output(deed)}
        response = {"functionResponse": {"id": name, "name": tool, "response": told}}
        return {
            "id": name,
            "name": tool,
            "args": arguments,
            "result": [response],
            "status": "cancelled" if deed.refused else "error" if failed else "success",
            "timestamp": iso(deed.at),
            "resultDisplay": "",
            "description": deed.call.path or deed.call.pattern or deed.call.command,
            "displayName": shown,
            "renderOutputAsMarkdown": True,
        }


def _asked(call: Call) -> tuple[str, str, dict[str, Any]]:
    """A tool's name, the name it is shown by, and its arguments."""
    match call.kind:
        case "read":
            return "read_file", "ReadFile", {"file_path": call.path}
        case "search":
            where = {"dir_path": call.path} if call.path else {}
            return "grep_search", "SearchText", {"pattern": call.pattern, **where}
        case "find":
            return "glob", "FindFiles", {"pattern": call.pattern}
        case "edit":
            edit = {"file_path": call.path, "instruction": "Change it as planned.", "old_string": call.old}
            return "replace", "Edit", edit | {"new_string": call.new}
        case "write":
            return "write_file", "WriteFile", {"file_path": call.path, "content": call.new}
        case "run":
            return "run_shell_command", "Shell", {"command": call.command, "description": "Runs it."}
        case "web":
            return "google_web_search", "GoogleSearch", {"query": call.pattern}
        case "plan":
            todos = [
                {"description": step.lstrip("✓"), "status": "completed" if step.startswith("✓") else "pending"}
                for step in call.steps
            ]
            return "write_todos", "WriteTodos", {"todos": todos}


def _output(deed: Used) -> str:
    call, text = deed.call, deed.result
    match call.kind:
        case "read":
            return text
        case "search":
            count = text.count("\n") + 1
            where = f' in path "{call.path or "."}"'
            if not text:
                return f'No matches found for pattern "{call.pattern}"{where}.'
            return f'Found {count} matches for pattern "{call.pattern}"{where}:\n---\n{text}\n---'
        case "find":
            return f"Found {len(deed.hits)} file(s):\n{text}" if text else "No files found"
        case "edit":
            return f"Successfully modified file: {call.path} (1 replacements)."
        case "write":
            return f"Successfully created and wrote to new file: {call.path}."
        case "run":
            header = f"Command: {call.command}\nDirectory: (root)\nOutput: {text or '(empty)'}"
            return f"{header}\nError: (none)\nExit Code: {deed.code}\nSignal: (none)"
        case "web":
            return text or "No results found"
        case "plan":
            return "Successfully updated the todo list."
