"""Words of all sessions are found from the app, and what is chosen opens at its moment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.command import CommandInput, CommandList, CommandPalette

from core.report.log_tree import LogTree
from core.report.search import fill
from core.settings import Settings
from core.store.word_index import WordIndex
from tests.core.logs import log_lines as logs
from tests.tui.conftest import shown, until
from tui.app import NooscopeApp


async def test_a_place_is_found_and_opened(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    log: Path,
    app_on: Callable[..., NooscopeApp],
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    old = tmp_path / ".claude/projects/p/s-1.jsonl"
    old.parent.mkdir(parents=True)
    old.write_bytes(logs.session(3) + logs.prompt(60, "the needle is here") + logs.session(3, first=50))
    tree = LogTree(Settings(), None)
    fill(WordIndex(), tree, tree.sessions([old]), lambda _number, _total: None)
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        await pilot.press("F")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
        app.screen.query_one(CommandInput).value = "needle"
        await until(pilot, lambda: app.screen.query_one(CommandList).option_count > 0)
        await pilot.press("enter", "enter")
        view = await shown(app, pilot, lambda view: view.total != 300 and 0 < view.index < view.total)
        assert view.at == logs.START + 60
        assert not view.playing
