"""Looks on at the person's running intake from a thread of its own, whichever process serves it."""

from __future__ import annotations

import os
import pwd
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from core.hooks.connection import IntakeFolder, call
from core.live.hook_signs import HookBoard, HookSigns, claude_sessions, first_hand
from core.report.plan_limits import LimitHistory

_PATIENCE = 30.0  # Seconds one look may take; the intake answers sooner.
_PAUSE = 0.1  # Seconds between two looks, so that busy agents do not keep everyone busy.
_ABSENT = 1.0  # Seconds until the next look if no server runs.
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
        return self._why(answer, "no hook has called for this session yet")

    @staticmethod
    def _why(answer: Any, otherwise: str) -> str:
        if not isinstance(answer, dict):
            return "no nooscope is serving hooks; start one with `nooscope hooks listen`"
        return "" if answer.get("done") else otherwise

    def _run(self) -> None:
        while not self._stopped.is_set():
            board = look(self._place, self.board.version, _PATIENCE)
            if self._stopped.is_set():
                return
            if board != self.board:
                self.board = board
                self.show(board)
            self._stopped.wait(_PAUSE if board.serving else _ABSENT)


def decision(
    number: int, choice: str, reason: str = "", where: str = "", answers: Sequence[str] = ()
) -> dict[str, Any]:
    """An answer as it is sent, with who gave it and from where."""
    try:
        who = pwd.getpwuid(os.getuid()).pw_name
    except (KeyError, OSError):
        who = "unknown"
    by = f"{who}, {where}" if where else who
    return {"number": number, "choice": choice, "reason": reason, "by": by, "answers": list(answers)}


def look(place: IntakeFolder, since: int = 0, patience: float = 1.0) -> HookBoard:
    """Fetch the state of all sessions; without a server, only what Claude Code's own files report."""
    try:
        return msgspec.convert(call(place, "board", {"since": since}, patience), HookBoard)
    except msgspec.ValidationError:
        history = LimitHistory(place.folder.parent / "limits.jsonl")
        limits = history.limits(time.time())
        return first_hand(HookBoard(limits=limits), claude_sessions(os.environ, Path.home()))
