"""Extensions where a person meets them: guarded calls, advice, faulty panels, notices, kept sessions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from core.engine.response.reaction import Notice
from core.extension import Answer, Extension, Registry, ToolCall
from core.hooks.connection import IntakeFolder, call
from core.hooks.server import IntakeServer
from core.live.notices import Notifier, ShownNotice
from core.settings import Settings
from core.settings.layers import with_value
from core.settings.response import NoticeSettings
from tests.core.hooks.calls import tool
from tests.tui.screen_app import Stage, recorded
from tui.cli import main
from tui.draw.line import Line
from tui.feed.view import View
from tui.widgets.common.card import Card
from tui.widgets.model.agents import guarded_card


class Strict(Extension):
    """Blocks what speaks of production, asks about pushes, fails at one word."""

    name: ClassVar[str] = "strict"

    def __init__(self) -> None:
        self.calls: list[ToolCall] = []

    def on_tool_call(self, call: ToolCall) -> Answer:
        self.calls.append(call)
        if "explode" in call.what:
            raise RuntimeError("boom")
        return "block" if "production" in call.what else "ask" if "push" in call.what else "pass"


@pytest.fixture
async def intake(tmp_path: Path) -> AsyncIterator[tuple[IntakeServer, Strict]]:
    settings = with_value(Settings(), "response.guard.wait", 0.0)
    made = IntakeServer(settings, IntakeFolder(tmp_path / "intake"), lambda: 1000.0, {}, tmp_path)
    strict = Strict()
    made.handler._registry = Registry([strict])
    await made.start()
    yield made, strict
    await made.close()


def verdict(answer: Any) -> str:
    told = json.dumps(answer)
    return next((word for word in ("deny", "wait") if word in told), "" if answer == {} else told)


@pytest.mark.parametrize(
    ("command", "expected"), [("ls", ""), ("git push", "wait"), ("ls production", "deny"), ("explode now", "wait")]
)
async def test_an_extension_can_only_make_a_guarded_call_stricter(
    intake: tuple[IntakeServer, Strict], command: str, expected: str
) -> None:
    server, strict = intake
    place = server._place
    answer = await asyncio.to_thread(call, place, "hook/claude/guard", tool("PreToolUse", 1, command), 10.0)
    assert verdict(answer) == expected, answer
    assert len(strict.calls) == 1 and command.split()[-1] in strict.calls[0].what
    assert [each.tool for each in server.handler.guard.questions] == (["Bash"] if expected == "wait" else [])
    if "explode" in command:
        assert any("strict failed in on_tool_call" in sentence for sentence in server.handler.problems)


async def test_our_own_policy_still_asks_where_an_extension_lets_pass(intake: tuple[IntakeServer, Strict]) -> None:
    server, _ = intake
    removal = tool("PreToolUse", 1, "rm -rf x")
    answer = await asyncio.to_thread(call, server._place, "hook/claude/guard", removal, 10.0)
    assert answer != {}


class Breaking(Card):
    """Fails when it is drawn."""

    TITLE: ClassVar[str] = "Breaking"

    def brief(self, view: View, width: int) -> list[Line]:
        raise ZeroDivisionError("\x1b[31mred")


class Loud(Card):
    """Says what would harm a terminal."""

    TITLE: ClassVar[str] = "Loud"

    def brief(self, view: View, width: int) -> list[Line]:
        return [[("\x1b]0;x\x07[bold]hello[/bold]", "plain")]]


async def test_a_faulty_panel_says_so_in_its_place_and_is_left_alone() -> None:
    card = guarded_card("breaking", Breaking)()
    app = Stage(card, recorded(200, 1), 100)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        for _ in range(5):
            await pilot.press("right")
        await pilot.pause()
        text = "\n".join(strip.text for strip in app.screen._compositor.render_strips())
        assert "the extension breaking failed" in text and "ZeroDivisionError" in text
        assert "\x1b[31m" not in text
        assert card.faults <= 3  # type: ignore[attr-defined]


async def test_what_a_panel_says_is_plain_text() -> None:
    app = Stage(guarded_card("loud", Loud)(), recorded(200, 1), 100)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        text = "\n".join(strip.text for strip in app.screen._compositor.render_strips())
        assert "[bold]hello[/bold]" in text and "\x07" not in text and "\x1b" not in text


def test_a_faulty_channel_costs_no_other_and_is_left_alone_after_a_few() -> None:
    heard: list[ShownNotice] = []
    tries: list[int] = []

    def failing(notice: ShownNotice) -> None:
        tries.append(1)
        raise OSError("no paper")

    notifier = Notifier(NoticeSettings(), None, None, installed=[("bad", failing), ("good", heard.append)])
    for number in range(6):
        notifier.on_notice(Notice(float(number), "main", "risk", f"rule-{number}", "words", 0.0))
        notifier.flush()
    assert len(heard) == 6 and len(tries) == 3
    assert len(notifier.problems) == 3 and "switched off" in notifier.problems[-1]


STEP = """
from core.extension import Detection, StepExtension
class Step(StepExtension):
    name = "stepping"
    STATE = ("n",)
    def __init__(self): self.n = 0
    def find(self, event, step):
        self.n += 1
        return [Detection("tenth", f"event {self.n}")] if self.n % 10 == 0 else []
EXTENSION = Step
"""


def test_a_session_watched_with_one_is_replayed_with_it_and_says_when_it_is_gone(
    home: Path, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = home / "xdg_config_home" / "nooscope" / "extensions"
    folder.mkdir(parents=True)
    (folder / "stepping.py").write_text(STEP)
    assert main(["watch", str(log), "--headless", "--all", "--idle", "0"]) == 0
    assert "event 10" in capsys.readouterr().out
    assert main(["recap", str(log)]) == 0
    said = capsys.readouterr()
    assert "speaks: stepping.tenth" in said.out and "installed" not in said.err
    (folder / "stepping.py").unlink()
    assert main(["recap", str(log)]) == 0
    said = capsys.readouterr()
    assert "watched with stepping 1, which is no longer installed in that form" in said.err
    assert "stepping.tenth" not in said.out


def test_a_fault_in_the_step_is_said(home: Path, log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = home / "xdg_config_home" / "nooscope" / "extensions"
    folder.mkdir(parents=True)
    (folder / "stepping.py").write_text(STEP.replace("self.n += 1", "raise KeyError('lost')"))
    assert main(["watch", str(log), "--headless", "--idle", "0"]) == 0
    said = capsys.readouterr().err
    assert said.count("extension stepping failed in the step (KeyError: 'lost')") == 2
    assert said.count("it is switched off until nooscope restarts") == 1
