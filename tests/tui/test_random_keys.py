"""Random keys pressed on every screen: nothing may break, and the session is still there afterwards."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tui.conftest import shown
from tui.app import NooscopeApp

KEYS = (
    *"abcdefghijklmnoprstuvwxyzABCFGILMNOPRSTWXY0123456789",
    *("left", "right", "up", "down", "shift+left", "shift+right", "home", "end", "pageup", "pagedown"),
    *("enter", "escape", "escape", "space", "tab", "shift+tab", "slash", "plus", "minus", "comma"),
    *("full_stop", "question_mark", "backspace", "f1", "ctrl+z"),
)
"""All but those that leave."""


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "size"), [(1, (80, 24)), (2, (120, 40))], ids=["80x24", "120x40"])
async def test_any_keys(log: Path, app_on: Callable[..., NooscopeApp], seed: int, size: tuple[int, int]) -> None:
    dice = random.Random(seed)  # noqa: S311 keys, not secrets
    app = app_on(log)
    async with app.run_test(size=size) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        for _ in range(60):
            await pilot.press(dice.choice(KEYS))
            await pilot.pause()
        for _ in range(12):
            await pilot.press("escape")
        view = await shown(app, pilot, lambda view: view.total > 0)
        assert app.is_running
        assert 0 <= view.index <= view.total
