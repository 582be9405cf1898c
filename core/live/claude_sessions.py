"""Claude Code's own word on each running session: a small file per process, rewritten at every change."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from core.live.hook_signs import HookAsk, HookBoard, HookSigns
from core.logs.event_redaction import one_line

_LARGEST = 65_536
_MOST = 500
"""Files looked at; a folder with more is not Claude Code's."""
_WAITS = {
    "permission prompt": "asks for permission in its terminal",
    "input needed": "asks you a question in its terminal",
    "dialog open": "a dialog is open in its terminal",
    "sandbox request": "asks to leave the sandbox, in its terminal",
    "goal proposal": "proposes a goal in its terminal",
}


class ClaudeSession(NamedTuple):
    """What one running process of Claude Code says of itself."""

    pid: int
    session: str
    project: str
    status: str
    """busy, shell, idle or waiting."""
    waiting_for: str
    since: float
    """When this status began."""
    attended: bool
    """A person can see its dialogs; not so under `claude -p`."""


def claude_sessions(environment: Mapping[str, str], home: Path) -> dict[str, ClaudeSession]:
    """The sessions of processes that are alive, by session id."""
    own = environment.get("CLAUDE_CONFIG_DIR")
    folder = (Path(own) if own else home / ".claude") / "sessions"
    sessions: dict[str, ClaudeSession] = {}
    try:
        paths = sorted(folder.glob("*.json"))[:_MOST]
    except OSError:
        return sessions
    for path in paths:
        state = _read(path)
        if state is not None:
            sessions[state.session] = state
    return sessions


def _read(path: Path) -> ClaudeSession | None:
    try:
        with path.open("rb") as file:
            value: Any = json.loads(file.read(_LARGEST))
        pid, session, status = value["pid"], value["sessionId"], value["status"]
        since = float(value.get("statusUpdatedAt", 0)) / 1000.0
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
    named = isinstance(pid, int) and isinstance(session, str) and isinstance(status, str)
    if not named or value.get("parkedJobId") or not _alive(pid, str(value.get("procStart") or "")):
        return None
    waits = str(value.get("waitingFor") or "")
    attended = value.get("entrypoint") != "sdk-cli"
    return ClaudeSession(pid, session, str(value.get("cwd") or ""), status, waits, since, attended)


def _alive(pid: int, start: str) -> bool:
    """Whether the very process that wrote a file still runs; a killed one leaves its file behind."""
    if pid <= 0:
        return False
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        return not start or not start.isdecimal() or fields[19] == start
    except (OSError, IndexError):
        pass
    if Path("/proc/self/stat").exists():
        return False
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def first_hand(board: HookBoard, sessions: Mapping[str, ClaudeSession]) -> HookBoard:
    """A board with what each session says of itself: it waits, or it no longer does."""
    changed = {name: _merge(board.of(name), state) for name, state in sessions.items()}
    return replace(board, sessions={**board.sessions, **{k: v for k, v in changed.items() if v is not None}})


def _merge(signs: HookSigns | None, state: ClaudeSession) -> HookSigns | None:
    if state.status == "waiting":
        signs = signs or HookSigns(heard=state.since)
        if signs.asks or signs.questions:
            return signs
        why = _WAITS.get(state.waiting_for) or one_line(state.waiting_for, 80) or "waits in its terminal"
        return replace(signs, asks=(HookAsk(state.since, why, "main"),))
    if signs is None or not signs.asks:
        return signs
    return replace(signs, asks=tuple(ask for ask in signs.asks if ask.since > state.since))
