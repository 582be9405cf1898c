"""Keys on a session in which nothing has happened yet say so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tui.conftest import shown, until
from tui.app import NooscopeApp


@pytest.mark.parametrize("key", ["l", "b"])
async def test_a_key_says_that_nothing_is_recorded_yet(
    key: str, tmp_path: Path, app_on: Callable[..., NooscopeApp]
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"")
    app = app_on(log)
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot, lambda view: view.total == 0)
        await pilot.press(key)
        await until(pilot, lambda: bool(len(app._notifications)))
        assert [notice.message for notice in app._notifications] == ["nothing is recorded yet"]
        assert len(app.screen_stack) == 1
