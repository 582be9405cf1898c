"""An agent asks how it stands; nothing it can ask changes anything."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.hooks.link import TOOLS, serve

STATE = {"known": True, "status": "looping", "why": "npm failed", "axis": "frustration", "budget": 0.5}


def answers(*messages: Any, told: Any = STATE) -> list[Any]:
    asked: list[tuple[str, dict[str, Any]]] = []

    def ask(what: str, body: dict[str, Any]) -> Any:
        asked.append((what, body))
        return told

    lines = [one if isinstance(one, str) else json.dumps(one) for one in messages]
    found = [json.loads(line) for line in serve(lines, ask, "/project")]
    assert all(what in ("state", "failed") and body["project"] == "/project" for what, body in asked)
    return found


def call(name: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def test_it_introduces_itself_and_lists_its_tools() -> None:
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-03-26"}}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    found = answers(hello, ready, {"id": 1, "method": "tools/list"}, {"id": 2, "method": "ping"})
    assert [one["id"] for one in found] == [0, 1, 2]
    assert found[0]["result"]["protocolVersion"] == "2025-03-26"
    tools = found[1]["result"]["tools"]
    assert [tool["name"] for tool in tools] == list(TOOLS)
    assert all(tool["annotations"] == {"readOnlyHint": True} for tool in tools)


@pytest.mark.parametrize(
    ("asked", "told", "said"),
    [
        (call("why"), STATE, "looping: npm failed."),
        (call("budget_left"), STATE, '{"budget": 0.5}'),
        (call("notes"), {"known": True, "notes": "read src/a.py"}, "read src/a.py"),
        (call("what_failed_before", path="a"), {"known": True, "failed": ["x", "y"]}, "x\ny"),
        (call("what_failed_before"), {"known": True, "failed": []}, "Nothing failed there in this session."),
        (call("my_state"), None, "nooscope is not watching this session."),
        (call("my_state"), {"known": False}, "nooscope is not watching this session."),
    ],
)
def test_its_tools(asked: dict[str, Any], told: Any, said: str) -> None:
    (found,) = answers(asked, told=told)
    assert found["result"]["content"] == [{"type": "text", "text": said}]


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("not json", -32700),
        ("[]", -32600),
        ({"id": 1}, -32600),
        ({"id": 1, "method": "resources/list"}, -32601),
        ({"id": 1, "method": "tools/call", "params": {"name": "remove"}}, -32602),
        ("[" * 100_000, -32700),
        ("x" * 1_000_001, -32600),
    ],
)
def test_what_it_does_not_understand_is_said(message: Any, code: int) -> None:
    assert answers(message)[0]["error"]["code"] == code
