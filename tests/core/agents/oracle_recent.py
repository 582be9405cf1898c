"""A naive count of what a real log of Droid, Kimi or Crush holds, sharing no code with the readers."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.core.agents.oracle_more import Count


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def droid(path: Path) -> Count:
    """Parts of messages by their type."""
    count, calls, answered = Count(), set(), set()
    for line in _lines(path):
        count.compactions += line["type"] == "compaction_state"
        content = line.get("message", {}).get("content", [])
        asked = [part for part in content if part["type"] == "text" and line["message"]["role"] == "user"]
        count.prompts += any("<system-reminder>" not in part["text"] for part in asked)
        calls |= {part["id"] for part in content if part["type"] == "tool_use"}
        for part in content:
            if part["type"] == "tool_result":
                answered.add(part["tool_use_id"])
                count.errors += part.get("is_error", False)
    count.tool_uses, count.pending = len(calls), len(calls - answered)
    return count


def kimi(path: Path) -> Count:
    """Events of the loop by their type."""
    count, calls, answered, children = Count(), set(), set(), set()
    for line in _lines(path):
        event = line.get("event", {})
        count.compactions += line["type"] == "context.apply_compaction"
        count.prompts += line["type"] == "turn.prompt" and line["origin"]["kind"] == "user"
        if event.get("type") == "tool.call":
            calls.add(event["toolCallId"])
        elif event.get("type") == "tool.result":
            answered.add(event["toolCallId"])
            count.errors += event["result"].get("isError", False)
            children |= set(re.findall(r"^agent_id: (\S+)", event["result"]["output"], re.MULTILINE))
    count.tool_uses, count.pending, count.subagents = len(calls), len(calls - answered), len(children)
    return count


def crush(path: Path) -> Count:
    """Parts of messages by their type, from a copy that is opened for writing."""
    count = Count()
    with tempfile.TemporaryDirectory() as folder:
        for file in path.parent.glob(path.name + "*"):
            shutil.copyfile(file, Path(folder, file.name))
        with closing(sqlite3.connect(Path(folder, path.name))) as database:
            roots = {
                name for name, above in database.execute("SELECT id, parent_session_id FROM sessions") if not above
            }
            told = database.execute("SELECT session_id, role, parts FROM messages").fetchall()
            known = database.execute("SELECT count(*) FROM sessions WHERE id NOT LIKE 'title-%'").fetchone()
    results = 0
    for session, role, written in told:
        parts = json.loads(written)
        count.prompts += role == "user" and session in roots
        count.tool_uses += sum(part["type"] == "tool_call" for part in parts)
        for part in parts:
            if part["type"] == "tool_result":
                results += 1
                code = re.search(r"Exit code (\d+)\s*(?:<cwd>[^<]*</cwd>)?\s*$", part["data"]["content"])
                count.errors += part["data"]["is_error"] or bool(code and int(code[1]))
    count.pending, count.subagents = count.tool_uses - results, known[0] - len(roots)
    return count
