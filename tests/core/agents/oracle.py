"""A second, naive count of Claude Code and Codex logs, with plain json and no code of the readers."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass
class Tally:
    """What one file holds."""

    tool_uses: int = 0
    failures: int = 0
    pending: int = 0
    subagents: int = 0
    compactions: int = 0
    turns: int = 0
    output_tokens: int = 0


_REFUSED = ("doesn't want to proceed", "was aborted", "chose to stay in plan mode", "Sibling tool call errored")


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The JSON objects of a file's lines."""
    found = []
    for line in path.read_bytes().splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def claude_code(path: Path) -> Tally:
    """Calls by id; failures by flag, refusals left out; turns by message id with the last usage."""
    calls: dict[str, str] = {}
    results: dict[str, tuple[bool, str, Any]] = {}
    tally = Tally()
    spent: dict[str, int] = {}
    for line in lines_of(path):
        if line.get("type") == "system" and line.get("subtype") == "compact_boundary":
            tally.compactions += 1
        if line.get("type") not in ("user", "assistant"):
            continue
        message = line["message"]
        if line["type"] == "assistant" and message["model"] != "<synthetic>":
            spent[message["id"]] = message["usage"].get("output_tokens", 0)
        for part in message["content"] if isinstance(message["content"], list) else []:
            if part["type"] == "tool_use":
                calls.setdefault(part["id"], part["name"])
            elif part["type"] == "tool_result":
                text = part["content"] if isinstance(part["content"], str) else json.dumps(part["content"])
                failed = bool(part.get("is_error")) and not any(phrase in text for phrase in _REFUSED)
                results.setdefault(part["tool_use_id"], (failed, text, line.get("toolUseResult")))
    tally.tool_uses = len(calls)
    tally.turns = len(spent)
    tally.output_tokens = sum(spent.values())
    for call, name in calls.items():
        failed, _, told = results.get(call, (False, "", None))
        running = isinstance(told, dict) and (told.get("task") or {}).get("status") == "running"
        tally.pending += call not in results or running
        tally.failures += failed
        tally.subagents += name in ("Task", "Agent") and call in results and not failed
    return tally


def codex(path: Path) -> Tally:
    """Calls by id; failures by the exit code or the first words of the output."""
    tally = Tally()
    calls: set[str] = set()
    answered: set[str] = set()
    total = searches = running = 0
    for line in lines_of(path):
        payload = line.get("payload", line)
        kind = payload.get("type")
        tally.compactions += line.get("type") == "compacted"
        if kind in ("function_call", "custom_tool_call"):
            calls.add(payload["call_id"])
            tally.subagents += payload["name"] == "spawn_agent"
        elif kind in ("function_call_output", "custom_tool_call_output"):
            answered.add(payload["call_id"])
            said = payload["output"]
            head = said.partition("\nOutput:\n")[0] if said.startswith("Chunk ID") else said
            code = re.search(r'"exit_code":\s*(-?\d+)|Process exited with code (\d+)', head)
            bad = said.startswith(("apply_patch verification failed", "patch rejected: empty"))
            tally.failures += bad or bool(code and int(code[1] or code[2]))
            running += "\nProcess running with session ID" in head
        elif kind == "web_search_call":
            searches += 1
        elif kind == "token_count" and payload["info"]:
            used = payload["info"]["total_token_usage"]
            if used["total_tokens"] != total:
                tally.turns += 1
                total = used["total_tokens"]
                tally.output_tokens = used["output_tokens"]
    tally.tool_uses = len(calls) + searches
    tally.pending = len(calls - answered) + running
    return tally
