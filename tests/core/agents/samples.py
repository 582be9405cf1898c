"""Tiny logs, written by hand, and what is needed to read them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from zlib import crc32

from core.agents.models import Models
from core.agents.normalizer import AgentKit, Normalizer
from core.events import Event, ToolUse, Where
from core.logs.format import Diagnostics, Reader

NORMALIZER = Normalizer.load()
MODELS = Models.load()


def new_kit() -> AgentKit:
    """Shared tables and a fault counter of its own."""
    return AgentKit(NORMALIZER, MODELS, Diagnostics())


def encoded(value: Any) -> bytes:
    """One line as it stands in a log."""
    return json.dumps(value, separators=(",", ":")).encode()


def feed(reader: Reader, lines: Iterable[Any]) -> list[Event]:
    """All events of some lines, given as bytes or as values."""
    events: list[Event] = []
    offset = 0
    for number, line in enumerate(lines, 1):
        record = line if isinstance(line, bytes) else encoded(line)
        events += reader.feed(record, Where("log", offset, len(record)), number)
        offset += len(record) + 1
    return events + reader.finish()


def uses(events: Iterable[Event]) -> list[ToolUse]:
    """The tool uses among some events."""
    return [event for event in events if isinstance(event, ToolUse)]


def stamp(second: int) -> str:
    """A time some seconds into a log."""
    return f"2026-03-01T10:{second // 60:02}:{second % 60:02}.000Z"


def claude(kind: str, second: int, **fields: Any) -> dict[str, Any]:
    """A line of Claude Code."""
    return {
        "parentUuid": None,
        "isSidechain": False,
        "cwd": "/home/me/app",
        "sessionId": "s1",
        "version": "2.1.0",
        "gitBranch": "main",
        "type": kind,
        "uuid": f"{kind}-{second}-{crc32(repr(fields).encode())}",
        "timestamp": stamp(second),
        **fields,
    }


def asks(second: int, call: str, tool: str, arguments: Any, message: str = "", **fields: Any) -> dict[str, Any]:
    """The model calls a tool."""
    return claude(
        "assistant",
        second,
        message={
            "id": message or f"msg-{call}",
            "model": "claude-sonnet-4-5-20250929",
            "content": [{"type": "tool_use", "id": call, "name": tool, "input": arguments}],
            "usage": {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 1000},
            "stop_reason": None,
        },
        **fields,
    )


def answers(second: int, call: str, content: Any, *, error: bool = False, **fields: Any) -> dict[str, Any]:
    """A tool's result."""
    block = {"type": "tool_result", "tool_use_id": call, "content": content, "is_error": error}
    return claude("user", second, message={"role": "user", "content": [block]}, **fields)


def says(second: int, text: Any, **fields: Any) -> dict[str, Any]:
    """A user line."""
    return claude("user", second, message={"role": "user", "content": text}, **fields)


def codex(kind: str, second: int, **payload: Any) -> dict[str, Any]:
    """A line of Codex."""
    return {"timestamp": stamp(second), "type": kind, "payload": payload}


def codex_meta(second: int, thread: str = "t1", **fields: Any) -> dict[str, Any]:
    """The first line of a rollout."""
    return codex("session_meta", second, id=thread, cwd="/home/me/app", cli_version="0.50.0", **fields)


def codex_call(second: int, call: str, name: str, arguments: Any) -> dict[str, Any]:
    """A function call."""
    return codex(
        "response_item", second, type="function_call", name=name, arguments=json.dumps(arguments), call_id=call
    )


def codex_output(second: int, call: str, output: Any) -> dict[str, Any]:
    """A function call's output."""
    return codex("response_item", second, type="function_call_output", call_id=call, output=output)


def codex_tokens(second: int, sent: int, cached: int, answered: int, **info: Any) -> dict[str, Any]:
    """A running total of tokens."""
    total = {"input_tokens": sent, "cached_input_tokens": cached, "output_tokens": answered}
    return codex("event_msg", second, type="token_count", info={"total_token_usage": total, **info})
