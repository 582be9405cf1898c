"""Looks on at the running hook server from a thread, whichever process serves it, and answers questions over MCP."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from core import __version__
from core.hooks.connection import IntakeFolder, call, decision
from core.live.hook_signs import HookBoard, HookSigns, claude_sessions, first_hand
from core.report.plan_limits import LimitHistory, read_limits

if TYPE_CHECKING:
    from core.report.history import SessionHistory

_PATIENCE = 30.0  # Seconds one look may take; the intake answers sooner.
_PAUSE = 0.1  # Seconds between two looks, so that busy agents do not keep everyone busy.
_ABSENT = 1.0  # Seconds until the next look if no server runs.
_LIMITS = 60.0  # Seconds until the Codex logs are read again for their limits if no server does it.
NOBODY = HookBoard()


class IntakeLink:
    """Keeps the newest board; what it hands out is immutable and may be asked for from any thread."""

    def __init__(self, place: IntakeFolder, show: Callable[[HookBoard], object] = lambda _: None) -> None:
        self._place = place
        self.show = show  # Called with every new board, from the thread.
        self.board = NOBODY
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Look on until stopped."""
        self._thread = threading.Thread(target=self._run, name="nooscope-link", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Let the thread end by itself; a look that waits is not waited for."""
        self._stopped.set()

    def signs(self, session: str, agent: str = "") -> HookSigns | None:
        """The hook state of a session of an agent."""
        return self.board.of(session, agent)

    def decide(
        self,
        number: int,
        choice: str,
        reason: str = "",
        where: str = "",
        answers: Sequence[str] = (),
        at: float | None = None,
    ) -> str:
        """Answer the question put at a time; blank, or why that did not come through."""
        request = decision(number, choice, reason, where, answers)
        answer = call(self._place, "decide", request if at is None else {**request, "at": at})
        if isinstance(answer, dict) and answer.get("why"):
            return str(answer["why"])
        return self._why(answer, f"question {number} is no longer waiting")

    def steer(self, session: str, message: str) -> str:
        """Have something said to an agent at its next moment; blank, or why that did not come through."""
        answer = call(self._place, "steer", {"session": session, "message": message})
        return self._why(answer, "no hook of this session has called yet")

    @staticmethod
    def _why(answer: Any, otherwise: str) -> str:
        if not isinstance(answer, dict):
            return "nooscope is not serving hooks; run `nooscope hooks listen`"
        return "" if answer.get("done") else otherwise

    def _run(self) -> None:
        due = 0.0
        while not self._stopped.is_set():
            if not self.board.serving and time.monotonic() >= due:
                due = time.monotonic() + _LIMITS
                read_limits(self._place.folder.parent, os.environ, Path.home())
            board = look(self._place, self.board.version, _PATIENCE)
            if self._stopped.is_set():
                return
            if board != self.board:
                self.board = board
                self.show(board)
            self._stopped.wait(_PAUSE if board.serving else _ABSENT)


def look(place: IntakeFolder, since: int = 0, patience: float = 1.0) -> HookBoard:
    """Fetch the state of all sessions; without a server, only what Claude Code's own files report."""
    try:
        return msgspec.convert(call(place, "board", {"since": since}, patience), HookBoard)
    except msgspec.ValidationError:
        history = LimitHistory(place.folder.parent / "limits.jsonl")
        limits = history.limits(time.time())
        return first_hand(HookBoard(limits=limits), claude_sessions(os.environ, Path.home()))


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
        tools = {**TOOLS, **history.tools} if history else TOOLS
        return {
            "tools": [{"name": name, **tool, "annotations": {"readOnlyHint": True}} for name, tool in tools.items()]
        }
    if method == "tools/call":
        name, arguments = str(fields.get("name")), fields.get("arguments")
        arguments = arguments if isinstance(arguments, dict) else {}
        if history is not None and name in history.tools:
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
        return _text("nooscope is not watching this session.")
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
