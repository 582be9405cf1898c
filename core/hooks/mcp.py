"""A read-only protocol server on standard input and output: an agent may ask about its own state."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from core import __version__
from core.report.history import TOOLS as HISTORY_TOOLS
from core.report.history import SessionHistory

PROTOCOLS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
Ask = Callable[[str, dict[str, Any]], Any]  # Asks the hook server; returns None if there is none.
_LONGEST = 1_000_000
TOOLS: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("mcp_tools.json").read_text("utf-8"))


def serve(
    lines: Iterable[str], ask: Ask, project: str, session: str = "", history: SessionHistory | None = None
) -> Iterator[str]:
    """Yield the answers to JSON-RPC messages, one per line; `history` adds the tools for earlier sessions."""
    for line in lines:
        if len(line) > _LONGEST:
            yield _failed(None, -32600, "the message is too long")
            continue
        if not line.strip():
            continue
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            yield _failed(None, -32700, "not JSON")
            continue
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            yield _failed(None, -32600, "not a request")
            continue
        if "id" not in message:
            continue
        who = {"project": project, "session": session}
        answer = _answer(message["method"], message.get("params"), ask, who, history)
        if answer is None:
            is_call = message["method"] == "tools/call"
            yield _failed(message["id"], *((-32602, "no such tool") if is_call else (-32601, "no such method")))
        else:
            yield json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer})


def _answer(
    method: str, params: Any, ask: Ask, who: dict[str, str], history: SessionHistory | None
) -> dict[str, Any] | None:
    fields = params if isinstance(params, dict) else {}
    if method == "initialize":
        protocol = fields.get("protocolVersion")
        return {
            "protocolVersion": protocol if protocol in PROTOCOLS else PROTOCOLS[0],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "nooscope", "version": __version__},
        }
    if method == "ping":
        return {}
    if method == "tools/list":
        tools = {**TOOLS, **HISTORY_TOOLS} if history else TOOLS
        return {
            "tools": [{"name": name, **tool, "annotations": {"readOnlyHint": True}} for name, tool in tools.items()]
        }
    if method == "tools/call":
        name, arguments = str(fields.get("name")), fields.get("arguments")
        arguments = arguments if isinstance(arguments, dict) else {}
        if history is not None and name in HISTORY_TOOLS:
            text, failed = history.answer(name, arguments)
            return _text(text, failed=failed)
        return _call_tool(name, arguments, ask, who)
    return None


def _call_tool(name: str, arguments: dict[str, Any], ask: Ask, who: dict[str, str]) -> dict[str, Any] | None:
    if name not in TOOLS:
        return None
    path = arguments.get("path")
    state = ask("failed" if name == "what_failed_before" else "state", {**who, "path": str(path or "")})
    if not isinstance(state, dict) or not state.get("known"):
        return _text("No running nooscope knows this session.")
    if name == "why":
        return _text(f"{state.get('status')}: {state.get('why')}.")
    if name == "what_failed_before":
        return _text("\n".join(state.get("failed") or ()) or "Nothing failed there in this session.")
    if name == "notes":
        return _text(str(state.get("notes") or "") or "No notes so far.")
    if name == "budget_left":
        left = {key: state.get(key) for key in ("budget", "context", "turns_left", "cost") if key in state}
        return _text(json.dumps(left))
    names = ("status", "why", "axis", "value", "context", "turns_left", "cost", "governor")
    return _text(json.dumps({key: state.get(key) for key in names}))


def _text(text: str, *, failed: bool = False) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": failed}


def _failed(number: Any, code: int, sentence: str) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": sentence}})
