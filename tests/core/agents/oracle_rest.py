"""A naive count of prompts, of times, and of the logs that the other oracles leave."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.core.agents.oracle import lines_of
from tests.core.agents.oracle_more import Count

_NOT_SAID = re.compile(
    r"\s*(?:<command-name|<local-command|<bash-|<user-memory|<system-reminder>|<task-notification>|<ide_"
    r"|\[Request interrupted|Caveat:|This session is being continued)"
)


def claude_prompts(path: Path) -> int:
    """The person's lines: no results, no notes of the program, and what was queued while it worked."""
    found = 0
    for line in lines_of(path):
        if line.get("isSidechain") or line.get("isMeta") or line.get("isCompactSummary"):
            continue
        queued = line.get("attachment") or {}
        if queued.get("type") == "queued_command":
            found += _typed(queued.get("prompt"))
        elif line.get("type") == "user":
            found += _typed(line["message"]["content"])
    return found


def _typed(content: Any) -> bool:
    """Whether some part of a message is the person's own, a command of theirs included."""
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    if any(part.get("type") == "tool_result" for part in parts):
        return False
    texts = [str(part.get("text")) for part in parts if part.get("type") == "text"]
    pictures = any(part.get("type") == "image" for part in parts)
    return pictures or any(text.strip() and not _NOT_SAID.match(text) for text in texts)


def codex_prompts(path: Path) -> int:
    """What the log itself calls the person's message."""
    payloads = [line.get("payload") or {} for line in lines_of(path) if line.get("type") == "event_msg"]
    said = [
        payload
        for payload in payloads
        if payload.get("type") == "user_message" or (payload.get("item") or {}).get("type") == "UserMessage"
    ]
    return len(said)


def opencode(path: Path) -> list[Count]:
    """Parts of an export that are calls, and what became of them."""
    count = Count()
    for message in json.loads(path.read_text("utf-8"))["messages"]:
        texts = [part for part in message["parts"] if part["type"] == "text" and not part.get("synthetic")]
        count.prompts += message["info"]["role"] == "user" and bool(texts)
        for part in message["parts"]:
            count.compactions += part["type"] == "compaction"
            if part["type"] == "tool":
                state = part["state"]
                count.tool_uses += 1
                exited = (state.get("metadata") or {}).get("exit") or 0
                count.errors += state["status"] == "error" or part["tool"] == "invalid" or exited != 0
                count.pending += state["status"] in ("pending", "running")
                count.subagents += "sessionId" in (state.get("metadata") or {})
    return [count]


def aider(path: Path) -> list[Count]:
    """Lines by how they begin; a run of prompt lines is one, commands and answers to questions are none."""
    counts: list[Count] = []
    before = ""
    for line in path.read_text("utf-8", errors="replace").splitlines():
        if line.startswith("# aider chat started at "):
            counts.append(Count())
        elif counts:
            now = counts[-1]
            typed = line.startswith("####") and not before.startswith("####")
            now.prompts += typed and not re.match(r"#### (?:/|.*\(Y\)es/\(N\)o)", line)
            edited = line.startswith("> Applied edit to ") or bool(re.match(r"> Added .* to the chat", line))
            failed = line.startswith("> The LLM did not conform")
            running = line.startswith("> Running ")
            now.tool_uses += edited or failed or running
            now.errors += failed
            now.pending += running
        before = line
    return [count for count in counts if count != Count()]


def antigravity(path: Path) -> list[Count]:
    """Steps by their types: every one of the model's that is no answer is a result."""
    count, asked, told = Count(), 0, 0
    for step in lines_of(path):
        kind = step.get("type")
        count.prompts += kind == "USER_INPUT"
        count.compactions += kind == "CHECKPOINT"
        if kind == "PLANNER_RESPONSE":
            asked += len(step.get("tool_calls") or [])
        elif step.get("source") == "MODEL" and step.get("status") != "RUNNING" and kind != "CHECKPOINT":
            told += kind != "GENERIC" or asked > told
            count.errors += step.get("status") == "ERROR" or "failed with exit code" in str(step.get("content"))
    count.tool_uses, count.pending = max(asked, told), max(0, asked - told)
    return [count]


def cline(path: Path) -> list[Count]:
    """Blocks of messages by their types."""
    count, calls, answered = Count(), set(), set()
    for message in json.loads(path.read_text("utf-8"))["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        results = [block for block in blocks if block["type"] == "tool_result"]
        calls |= {block["id"] for block in blocks if block["type"] == "tool_use"}
        answered |= {block["tool_use_id"] for block in results}
        count.errors += sum(bool(block.get("is_error")) or '"success": false' in json.dumps(block) for block in results)
        count.prompts += message["role"] == "user" and not results
    count.tool_uses, count.pending = len(calls), len(calls - answered)
    return [count]


def qwen(path: Path) -> list[Count]:
    """Parts of messages by their names."""
    count, calls, answered = Count(), set(), set()
    for line in lines_of(path):
        parts = (line.get("message") or {}).get("parts") or []
        count.prompts += line["type"] == "user" and line.get("subtype") not in ("notification", "cron")
        count.compactions += line.get("subtype") == "chat_compression"
        calls |= {part["functionCall"]["id"] for part in parts if "functionCall" in part}
        answered |= {part["functionResponse"]["id"] for part in parts if "functionResponse" in part}
        count.errors += (line.get("toolCallResult") or {}).get("status") == "error"
    count.tool_uses, count.pending = len(calls), len(calls - answered)
    return [count]


def openhands_v1(path: Path) -> list[Count]:
    """Events by their kinds."""
    count, calls, answered = Count(), set(), set()
    for line in lines_of(path):
        kind = line.get("kind")
        count.prompts += kind == "MessageEvent" and line.get("source") == "user"
        if kind == "ActionEvent" and (line.get("action") or {}).get("kind") not in ("FinishAction", "ThinkAction"):
            calls.add(line["tool_call_id"])
        elif kind in ("ObservationEvent", "AgentErrorEvent") and line["tool_call_id"] in calls:
            answered.add(line["tool_call_id"])
            seen = line.get("observation") or {}
            exited = seen.get("exit_code") or (seen.get("metadata") or {}).get("exit_code") or 0
            count.errors += kind == "AgentErrorEvent" or bool(seen.get("is_error")) or exited > 0
    count.tool_uses, count.pending = len(calls), len(calls - answered)
    return [count]


_TIMES = ("timestamp", "created_at", "time", "ts", "startTime", "lastUpdated", "created", "completed", "start", "end")


def span(path: Path) -> tuple[float, float]:
    """The earliest and the latest time a log tells: of lines their own, of a document anywhere in it."""
    found: list[float] = []
    if path.suffix == ".jsonl":
        for line in lines_of(path):
            found += [at for name in _TIMES if (at := _seconds(line.get(name))) is not None]
    else:
        _gather(json.loads(path.read_text("utf-8")), found)
    return min(found), max(found)


def _gather(value: Any, found: list[float]) -> None:
    if isinstance(value, dict):
        found += [at for name in _TIMES if (at := _seconds(value.get(name))) is not None]
        for inner in value.values():
            _gather(inner, found)
    elif isinstance(value, list):
        for inner in value:
            _gather(inner, found)


def _seconds(value: Any) -> float | None:
    if isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\dT", value):
        at = datetime.fromisoformat(value.replace("Z", "+00:00"))
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, int | float) and value > 1e9:
        return value / 1000.0 if value > 1e11 else float(value)
    return None
