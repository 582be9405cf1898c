"""Looking on at the intake from another thread: news come at once, and nobody serving is no fault."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path

import pytest

from core.hooks.connection import IntakeFolder
from core.hooks.link import NOBODY, IntakeLink, look
from core.live.hook_signs import HookBoard, HookSigns
from core.report.plan_limits import PlanLimit
from core.settings import Settings
from core.settings.layers import with_value
from tests.core.hooks.calls import hook, tool
from tests.core.hooks.test_server import ask, make


class Seen:
    """Boards as they come, from the link's thread."""

    def __init__(self) -> None:
        self.boards: list[HookBoard] = []
        self.news = threading.Event()

    def __call__(self, board: HookBoard) -> None:
        self.boards.append(board)
        self.news.set()


async def test_a_permission_and_a_question_are_told_at_once(tmp_path: Path) -> None:
    intake = make(tmp_path, with_value(Settings(), "response.guard.wait", 0.0))
    await intake.start()
    seen = Seen()
    link = IntakeLink(intake._place, seen)
    link.start()

    async def until(number: int, fits: str) -> None:
        async with asyncio.timeout(30):
            while not fits or len(seen.boards) < number or fits not in str(link.signs("s-1")):
                await asyncio.to_thread(seen.news.wait, 1.0)
                seen.news.clear()

    try:
        await ask(intake, "hook/claude/guard", tool("PreToolUse", 1, "make"))
        await until(1, "HookOpenCall")
        await ask(intake, "hook/claude/guard", tool("PermissionRequest", 1, "make"))
        await until(2, "Bash asks for permission")
        signs = link.signs("s-1")
        assert signs is not None and signs.mode == "guard"
        assert [(one.agent, one.call) for one in signs.asks] == [("main", "toolu_1")]
        await ask(intake, "hook/claude/guard", tool("PreToolUse", 2, "rm -rf x"))
        await until(3, "rm -rf x")
        (question,) = link.board.questions
        assert "has changed" in await asyncio.to_thread(link.decide, question.number, "once", at=question.at - 1)
        assert await asyncio.to_thread(link.decide, question.number, "once", at=question.at) == ""
        assert "no longer waiting" in await asyncio.to_thread(link.decide, question.number, "once")
        assert await asyncio.to_thread(link.steer, "s-1", "look") == ""
        assert "no hook" in await asyncio.to_thread(link.steer, "other", "look")
    finally:
        link.stop()
        await intake.close()


async def test_who_has_seen_all_waits_for_news(tmp_path: Path) -> None:
    intake = make(tmp_path, None)
    await intake.start()
    try:
        first = await asyncio.to_thread(look, intake._place)
        waiting = asyncio.create_task(asyncio.to_thread(look, intake._place, first.version, 30.0))
        await asyncio.sleep(0)
        assert not waiting.done()
        await ask(intake, "hook/claude/observe", hook("UserPromptSubmit", prompt="go"))
        assert "s-1" in (await waiting).sessions
    finally:
        await intake.close()


def test_nobody_serves(tmp_path: Path) -> None:
    place = IntakeFolder(tmp_path / "intake")
    assert look(place) == NOBODY and not NOBODY.serving
    link = IntakeLink(place)
    assert "listen" in link.decide(1, "once") and "listen" in link.steer("s", "x")


async def test_one_that_is_not_asked_to_take_over_stands_by(tmp_path: Path) -> None:
    first, second = make(tmp_path, None), make(tmp_path, None)
    await first.start()
    await second.start_behind()
    assert first.serving and not second.serving
    await second.close()
    await first.close()
    third = make(tmp_path, None)
    await third.start_behind()
    assert third.serving
    await third.close()


async def test_without_a_server_limits_come_from_the_logs_of_codex(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    log = tmp_path / "codex/sessions/2026/11/20/rollout-2026-11-20T00-00-00-t.jsonl"
    log.parent.mkdir(parents=True)
    window = {"used_percent": 42.0, "window_minutes": 300, "resets_at": 4e9}
    payload = {"type": "token_count", "rate_limits": {"limit_id": "codex", "primary": window}}
    line = {"timestamp": "2026-11-20T00:00:00Z", "type": "event_msg", "payload": payload}
    log.write_text(f"{json.dumps(line)}\n")
    seen = Seen()
    link = IntakeLink(IntakeFolder(tmp_path / "data" / "intake"), seen)
    link.start()
    try:
        assert await asyncio.to_thread(seen.news.wait, 30.0)
    finally:
        link.stop()
    signs = link.signs("any", "codex")
    assert signs is not None and [one.used for one in signs.limits] == [0.42]


def test_without_hooks_a_session_has_the_limits_of_its_agent() -> None:
    limit = PlanLimit("codex", 300, 0.5, 9000.0, 1.0)
    board = HookBoard(sessions={"s": HookSigns(heard=1.0)}, limits=(limit,))
    signs = board.of("t", "codex")
    assert signs is not None and signs.limits == (limit,) and not signs.heard
    assert board.of("t", "pi") is None and board.of("t") is None
    assert board.of("s", "codex") == HookSigns(heard=1.0)
