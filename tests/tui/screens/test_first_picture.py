"""While a session opens nothing is painted; its first picture is whole, or empty where nothing comes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from textual._compositor import Compositor

from tests.tui.conftest import shown, until
from tui.app import NooscopeApp
from tui.screens import main
from tui.screens.main import MainScreen

Make = Callable[..., NooscopeApp]


@pytest.fixture
def painted(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether there were events to be seen, for each picture of the main screen."""
    pictures: list[bool] = []
    render = MainScreen._compositor_refresh

    def noted(self: MainScreen) -> None:
        before = len(updates)
        render(self)
        if len(updates) > before:
            pictures.append(self.view is not None)

    updates: list[None] = []
    update = Compositor.render_update

    def counted(self: Compositor, *words: object, **more: object) -> object:
        updates.append(None)
        return update(self, *words, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Compositor, "render_update", counted)
    monkeypatch.setattr(MainScreen, "_compositor_refresh", noted)
    return pictures


async def test_no_empty_picture_comes_before_the_first(
    log: Path, app_on: Make, painted: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(main, "_HELD", 600.0)
    app = app_on(log)
    async with app.run_test() as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        assert painted and all(painted)


async def test_empty_panels_are_painted_where_nothing_comes(
    tmp_path: Path, app_on: Make, painted: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(main, "_HELD", 0.01)
    monkeypatch.setattr("tui.feed.feed.Feed.run", lambda feed: None)
    async with app_on(tmp_path / "later.jsonl").run_test() as pilot:
        await until(pilot, lambda: bool(painted))
        assert not any(painted)
