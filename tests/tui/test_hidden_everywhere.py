"""While words are hidden none of the log's stands on any screen."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from core.live.fleet.roster import Roster
from core.live.source import Target
from core.settings import Settings
from tests.core.logs.log_lines import START, call, line, prompt, result
from tests.tui.conftest import press_each, shown, until
from tui.app import NooscopeApp
from tui.screens.fleet import FleetScreen
from tui.screens.main import MainScreen

WORDS = ("quokka", "wombat", "numbat", "potoroo", "bandicoot", "bilby")
"""One for each: prompt, command, output, task, title, answer."""
SCREENS = {
    "transcript": "e",
    "agents": "S",
    "mind": "m",
    "recap": "l",
    "tuning": "t",
    "fleet": "f",
    "search": "slash",
    "palette": "ctrl+p",
    "find": "F",
}


def _said(second: float, text: str) -> bytes:
    message = {"id": f"m{second}", "role": "assistant", "model": "claude-opus-4", "stop_reason": "end_turn"}
    usage = {"input_tokens": 5, "output_tokens": 7}
    told: dict[str, Any] = {**message, "content": [{"type": "text", "text": text}], "usage": usage}
    return line(second, type="assistant", message=told)


def _write(home: Path) -> Path:
    """A session in which every kind of word stands."""
    log = home / ".claude" / "projects" / "p" / "s-1.jsonl"
    log.parent.mkdir(parents=True)
    task = {"description": "potoroo", "prompt": "find the potoroo", "subagent_type": "explorer"}
    parts = [
        json.dumps({"type": "summary", "summary": "bandicoot day", "leafUuid": "u0"}).encode() + b"\n",
        prompt(0.0, "tame the quokka"),
        *(
            part
            for number in range(1, 5)
            for part in (
                call(10.0 * number, f"t{number}", arguments={"command": "feed wombat --now"}),
                result(10.0 * number + 2, f"t{number}", "Error: numbat is missing", error=True),
            )
        ),
        call(60.0, "a1", "Task", task),
        result(70.0, "a1", "the potoroo is here"),
        _said(80.0, "I looked for the bilby everywhere."),
    ]
    log.write_bytes(b"".join(parts))
    return log


def _text(app: NooscopeApp) -> str:
    toasts = " ".join(f"{each.title} {each.message}" for each in app._notifications)
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips()) + toasts


def _leaks(app: NooscopeApp) -> list[str]:
    text = _text(app).lower()
    return [word for word in WORDS if word in text]


@pytest.fixture
def app(home: Path, still: Settings, monkeypatch: pytest.MonkeyPatch) -> NooscopeApp:
    monkeypatch.setenv("HOME", str(home))
    log = _write(home)
    os.utime(log, (START + 80, START + 80))
    fleet = Roster(still, {}, home, wall=lambda: START + 100)
    return NooscopeApp(Target(log), still, theme_folder=home / "themes", live=True, fleet=fleet)


async def test_none_stands_on_any_screen(app: NooscopeApp) -> None:
    async with app.run_test(size=(160, 48)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, FleetScreen) and "bilby" in _text(app))
        await press_each(pilot, "h")
        assert _leaks(app) == []
        assert "show words" in _text(app)
        await press_each(pilot, "h")
        assert "bilby" in _leaks(app)
        await press_each(pilot, "enter")
        await shown(app, pilot, lambda view: bool(view.now.said))
        await press_each(pilot, "h")
        await shown(app, pilot, lambda view: not view.words)
        assert "show words" in _text(app)
        for name, key in {"main": "", **SCREENS}.items():
            if key:
                await press_each(pilot, key)
            await until(pilot, lambda: all(each.group == "feed" or each.is_finished for each in app.workers))
            await pilot.pause()
            assert _leaks(app) == [], name
            if key and not isinstance(app.screen, MainScreen):
                await press_each(pilot, "escape")
