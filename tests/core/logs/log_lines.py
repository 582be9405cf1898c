"""Small logs in the real formats, written line by line."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

START = 1_750_000_000.0


def stamp(second: float) -> str:
    """A time as Claude Code writes it."""
    moment = datetime.fromtimestamp(START + second, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def line(second: float, session: str = "s-1", **fields: Any) -> bytes:
    """One line of a Claude Code log."""
    envelope = {
        "uuid": f"u{second}",
        "sessionId": session,
        "timestamp": stamp(second),
        "cwd": "/srv/project",
        "version": "2.1.0",
        "isSidechain": False,
    }
    return json.dumps(envelope | fields).encode() + b"\n"


def prompt(second: float, text: str = "go on", **fields: Any) -> bytes:
    """The person speaks."""
    return line(second, type="user", message={"role": "user", "content": text}, **fields)


def call(second: float, name: str, tool: str = "Bash", arguments: Any = None, **fields: Any) -> bytes:
    """The model calls a tool."""
    part = {"type": "tool_use", "id": name, "name": tool, "input": arguments or {"command": f"echo {name}"}}
    usage = {"input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 0}
    message = {"id": f"m-{name}", "role": "assistant", "model": "claude-opus-4", "content": [part], "usage": usage}
    return line(second, type="assistant", message=message, **fields)


def result(second: float, name: str, text: str = "done", error: bool = False, **fields: Any) -> bytes:
    """A tool answers."""
    part = {"type": "tool_result", "tool_use_id": name, "content": text, "is_error": error}
    return line(second, type="user", message={"role": "user", "content": [part]}, **fields)


def session(calls: int = 3, first: int = 0, **fields: Any) -> bytes:
    """A prompt and some answered calls."""
    parts = [prompt(first, **fields)]
    for number in range(first, first + calls):
        parts.append(call(2 * number + 1, f"t{number}", **fields))
        parts.append(result(2 * number + 2, f"t{number}", **fields))
    return b"".join(parts)


def gemini(calls: int, running: bool = False) -> bytes:
    """A chat of Gemini CLI as one document."""
    states = ["success"] * calls + ["executing"] * running
    return json.dumps(
        {
            "sessionId": "g-1",
            "projectHash": "ab" * 32,
            "startTime": stamp(0),
            "messages": [
                {"id": "u", "timestamp": stamp(1), "type": "user", "content": "go"},
                *(
                    {
                        "id": f"m{number}",
                        "timestamp": stamp(10 + number),
                        "type": "gemini",
                        "model": "gemini-2.5-pro",
                        "content": "",
                        "tokens": {"input": 10, "output": 2, "cached": 0, "total": 12},
                        "toolCalls": [
                            {
                                "id": f"c{number}",
                                "name": "read_file",
                                "args": {"path": "a"},
                                "status": state,
                                "timestamp": stamp(10 + number),
                                "result": [{"functionResponse": {"response": {"output": "text"}}}],
                            }
                        ],
                    }
                    for number, state in enumerate(states)
                ),
            ],
        }
    ).encode()
