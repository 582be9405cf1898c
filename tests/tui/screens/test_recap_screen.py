"""Since I last looked: said on opening, told on one key, and remembered on leaving."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bench.workload import session
from core.settings import Settings
from core.settings.layers import with_value
from core.store.bookmarks import LastLook, Look
from tests.tui.conftest import lines, shown, until
from tui.app import NooscopeApp
from tui.screens.recap import RecapScreen

Make = Callable[..., NooscopeApp]


def page(app: NooscopeApp) -> str:
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


async def test_what_came_since_is_said_and_told(tmp_path: Path, app_on: Make) -> None:
    log = tmp_path / "log.jsonl"
    events = session(300)
    log.write_bytes(lines(events[:200]))
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 200)
        assert not any("since you last looked" in note.message for note in app._notifications)
        assert app.feed is not None
        app.feed.stop()
        await until(pilot, lambda: any((tmp_path / "bookmarks" / "looks").glob("*.json")))
    log.write_bytes(lines(events))
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        await until(pilot, lambda: any("100 events since" in note.message for note in app._notifications))
        await pilot.press("l")
        await until(pilot, lambda: isinstance(app.screen, RecapScreen) and "What failed" in page(app))
        assert "Since you last looked" in page(app) and "100 events" in page(app)
        await pilot.press("o")
        await until(pilot, lambda: "300 events" in page(app))
        assert "The whole session" in page(app)
        await pilot.press("l")
        await pilot.pause()
        assert not isinstance(app.screen, RecapScreen)


@pytest.mark.parametrize(
    "content", [b"", b"{", b'{"events": "many", "when": 1}', b'{"events": -1, "when": 1}', b"\xff"]
)
def test_a_broken_look_counts_as_none(tmp_path: Path, content: bytes) -> None:
    store = LastLook(tmp_path, "key")
    store.path.parent.mkdir()
    store.path.write_bytes(content)
    assert store.read() is None
    store.keep(Look(7, 1.0))
    assert store.read() == Look(7, 1.0)


def test_a_folder_that_cannot_be_written_loses_nothing(tmp_path: Path) -> None:
    (tmp_path / "looks").write_text("in the way")
    store = LastLook(tmp_path, "key")
    store.keep(Look(7, 1.0))
    assert store.read() is None


async def test_the_app_says_that_a_model_is_on_and_tells_prose_on_a_key(tmp_path: Path, app_on: Make) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(lines(session(120)))
    app = app_on(log, settings=with_value(Settings(), "narrator.on", True))

    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot, lambda view: view.total == 120)
        await until(pilot, lambda: "✎ model on" in page(app))
        await pilot.press("l")
        await until(pilot, lambda: isinstance(app.screen, RecapScreen) and "What failed" in page(app))
        assert "✎ model on" in page(app)
        await pilot.press("v")
        await until(pilot, lambda: "What happened" in page(app))
        await pilot.press("end")
        await until(pilot, lambda: "written by templates (T0); no small model is configured" in page(app))
        await pilot.press("escape")
        app.action_show("extensions")
        await until(pilot, lambda: "Extensions" in page(app))
