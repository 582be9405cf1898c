"""Pictures of the comparison of two sessions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from core.live.source import Target
from core.settings import Settings
from core.store.bookmarks import Bookmarks
from tests.snapshots.test_words import SIZES, story, talk
from tests.tui.conftest import until
from tui.app import NooscopeApp
from tui.screens.compare import CompareScreen

Compare = Callable[..., bool]


@pytest.mark.parametrize("size", SIZES)
def test_compare(snap_compare: Compare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: str) -> None:
    monkeypatch.chdir(tmp_path)
    first, second = Path("first.jsonl"), Path("second.jsonl")
    first.write_bytes(story())
    second.write_bytes(b"".join(story().splitlines(keepends=True)[:7]) + talk(540, "Done."))
    plain = Settings()
    still = plain.replace(screen=plain.screen.replace(motion=False))
    shelf = tmp_path / "bookmarks"
    app = NooscopeApp(
        Target(first, False), still, theme_folder=tmp_path / "t", bookmarks=lambda name: Bookmarks(name, shelf)
    )

    async def go(pilot: Pilot[None]) -> None:
        app.push_screen(CompareScreen((str(first), str(second)), ("", ""), still))
        await until(pilot, lambda: isinstance(app.screen, CompareScreen) and app.screen.compared is not None)
        await pilot.pause()

    assert snap_compare(app, run_before=go, terminal_size=SIZES[size])
