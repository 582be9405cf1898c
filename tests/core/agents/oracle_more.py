"""A second, naive count of what a log holds, with plain json and no code of the readers."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any


@dataclass
class Count:
    """What one session holds."""

    tool_uses: int = 0
    errors: int = 0
    """Calls that the log says failed, the person's own stops left out."""
    pending: int = 0
    prompts: int = 0
    subagents: int = 0
    compactions: int = 0


def gemini(path: Path) -> list[Count]:
    """Every call once, by its id, wherever it reached an end."""
    raw = path.read_text("utf-8")
    lines = [json.loads(line) for line in ([raw] if path.suffix == ".json" else raw.splitlines())]
    messages = []
    for line in lines:
        messages += line.get("messages", []) + line.get("$set", {}).get("messages", [])
        if "type" in line:
            messages.append(line)
    final, seen, people = {}, set(), {}
    for message in messages:
        for call in message.get("toolCalls") or []:
            seen.add(call["id"])
            if call["status"] in ("success", "error", "cancelled"):
                final[call["id"]] = call
        if message["type"] == "user":
            content = message["content"]
            people[message["id"]] = content if isinstance(content, str) else content[0].get("text", "")
    failed = 0
    for call in final.values():
        codes = re.findall(r"Exit Code: (\d+)", json.dumps(call.get("result")))
        failed += call["status"] == "error" or any(int(code) for code in codes)
    prompts = sum(1 for said in people.values() if said and said != "System: Please continue.")
    return [Count(len(seen), failed, len(seen) - len(final), prompts)]


def pi(path: Path) -> list[Count]:
    """Tool calls by id, and the error flag of their results."""
    count, calls, results = Count(), set(), set()
    for line in path.read_text("utf-8").splitlines():
        entry = json.loads(line)
        message = entry.get("message", {})
        if message.get("role") == "user":
            count.prompts += 1
        if message.get("role") == "assistant":
            called = {part["id"] for part in message["content"] if part["type"] == "toolCall"}
            calls |= called
            results |= called if message.get("stopReason") in ("aborted", "error") else set()
        if message.get("role") == "toolResult":
            results.add(message["toolCallId"])
            said = json.dumps(message["content"])
            count.errors += bool(message["isError"]) and "Command aborted" not in said[-40:]
        count.compactions += entry["type"] == "compaction"
    count.tool_uses, count.pending = len(calls), len(calls - results)
    return [count]


def copilot(path: Path) -> list[Count]:
    """Starts and completions by their ids."""
    count, calls, results, running = Count(), set(), set(), 0
    for line in path.read_text("utf-8").splitlines():
        event = json.loads(line)
        data = event["data"]
        match event["type"]:
            case "tool.execution_start":
                calls.add(data["toolCallId"])
            case "tool.execution_complete":
                results.add(data["toolCallId"])
                said = data["result"]["content"] if "result" in data else ""
                running += "is still running" in said[-300:]
                code = re.findall(r"<(?:exited|shellId: \d+ completed) with exit code (\d+)>", said)
                count.errors += not data["success"] or any(map(int, code))
            case "user.message":
                count.prompts += bool(data["content"].strip())
            case "subagent.started":
                count.subagents += 1
            case "session.compaction_complete":
                count.compactions += 1
    count.tool_uses, count.pending = len(calls), len(calls - results) + running
    return [count]


def swe_agent(path: Path) -> list[Count]:
    """A step of the trajectory is a tool use; phrases tell of failure."""
    document = json.loads(path.read_text("utf-8"))
    count = Count(prompts=1)
    for step in document["trajectory"]:
        count.tool_uses += 1
        words = step["action"].split()
        seen = step["observation"]
        phrases = ["introduced new syntax error", "No replacement was performed", "TIMED OUT"]
        if words and words[0] not in ("open", "edit", "create", "insert", "goto", "scroll_down", "scroll_up"):
            phrases += ["Traceback (most recent call last)", ": command not found"]
        count.errors += not words or any(phrase in seen for phrase in phrases)
    return [count]


def mini_swe_agent(path: Path) -> list[Count]:
    """An answer with one command is a call; what comes next is its result."""
    messages = json.loads(path.read_text("utf-8"))["messages"]
    count = Count(prompts=1)
    for answer, reply in pairwise(messages):
        if answer["role"] == "assistant" and answer["content"].count("```bash\n") == 1:
            count.tool_uses += 1
            codes = re.findall(r"^<returncode>(-?\d+)</returncode>", reply["content"])
            count.errors += any(int(code) for code in codes)
    return [count]


def openhands(path: Path) -> list[Count]:
    """Actions that do something, and the observations after them."""
    raw = path.read_text("utf-8")
    runs = [json.loads(raw)] if path.suffix == ".json" else [json.loads(x)["history"] for x in raw.splitlines()]
    tools = ("run", "run_ipython", "read", "edit", "write", "browse", "browse_interactive", "delegate")
    counts = []
    for run in runs:
        count = Count()
        for event in run:
            count.tool_uses += event.get("action") in tools
            count.prompts += event.get("action") == "message" and event.get("source") in ("user", None)
            if event.get("observation") in (*tools, "error"):
                extras = event.get("extras") or {}
                code = (extras.get("metadata") or {}).get("exit_code", event.get("exit_code"))
                text = event.get("content", "")
                told = text.startswith(("[Your proposed edit has introduced", "[No exact match found", "ERROR:"))
                count.errors += event["observation"] == "error" or told or (code or 0) > 0
                count.pending += code == -1
        counts.append(count)
    return counts


def chat_run(run: dict[str, Any]) -> Count:
    """Calls in `tool_calls` or in the text; results in tool turns or in the person's."""
    count = Count()
    ids: set[str] = set()
    written = 0
    for message in run["messages"]:
        said = message["content"]
        if message["role"] == "assistant":
            ids |= {call["id"] for call in message.get("tool_calls", [])}
            if not message.get("tool_calls"):
                written = len(re.findall(r"<function=[A-Za-z_][A-Za-z0-9_.-]*>", said))
                count.tool_uses += written
                count.pending += written
        elif message["role"] == "tool":
            ids.discard(message["tool_call_id"])
            count.tool_uses += 1
            count.errors += _failed(said)
            count.pending += _running(said)
        elif said.startswith("EXECUTION RESULT of ["):
            count.tool_uses += not written
            count.pending -= bool(written)
            written = max(0, written - 1)
            count.errors += _failed(said.split("\n", 1)[-1])
            count.pending += _running(said)
        elif said.endswith("[Error occurred in processing last action]"):
            count.tool_uses += not written
            count.pending -= bool(written)
            written = max(0, written - 1)
            count.errors += 1
        else:
            count.prompts += 1
    count.tool_uses += len(ids)
    count.pending += len(ids)
    return count


def _codes(text: str) -> list[str]:
    return re.findall(r"exit code (-?\d+)[.\]]", text[-400:])


def _failed(text: str) -> bool:
    codes = _codes(text)
    if codes:
        return int(codes[-1]) > 0
    return text.lstrip().startswith(("ERROR", "Traceback (most recent call last)", "Error:"))


def _running(text: str) -> bool:
    return _codes(text)[-1:] == ["-1"]
