"""The list of sessions: what is there, what is not, and opening one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import DataTable

from core.logs.found import Found
from tests.tui.conftest import shown
from tui.app import NooscopeApp
from tui.screens.picker import PickerScreen

Make = Callable[..., NooscopeApp]


@pytest.fixture(autouse=True)
def nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home without any agent's logs."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> list[Found]:
    """What the search finds, now and whenever the list looks again."""
    there: list[Found] = []
    monkeypatch.setattr("tui.screens.picker.find", lambda *_, **__: list(there))
    return there


async def listed(app: NooscopeApp, pilot: Pilot[None], names: list[str]) -> PickerScreen:
    """The list once it has looked again and shows just these sessions."""
    screen = app.screen
    assert isinstance(screen, PickerScreen)
    screen._look()
    for _ in range(400):
        await pilot.pause()
        if [str(row.value).rpartition("\n")[2] for row in screen.query_one(DataTable).rows] == names:
            return screen
    raise AssertionError("the list never came")


def found(path: Path, name: str, *, active: bool = False) -> Found:
    return Found("nooscope", name, f"/work/{name}", path, (path,), 1_760_000_000.0, 1000, 300, active)


async def test_nothing_there_says_what_to_do(app_on: Make) -> None:
    app = app_on(None)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert isinstance(app.screen, PickerScreen)
        assert app.screen.query_one("#nothing").display
        assert not app.screen.query_one(DataTable).display
        await pilot.press("escape", "enter", "space")
        assert isinstance(app.screen, PickerScreen)


async def test_the_list_is_narrowed_and_a_session_opened(log: Path, app_on: Make, disk: list[Found]) -> None:
    disk += [found(log, "api", active=True), found(log, "site")]
    app = app_on(None)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await listed(app, pilot, ["api", "site"])
        await pilot.press("slash", *"site")
        await listed(app, pilot, ["site"])
        await pilot.press("escape")
        await listed(app, pilot, ["api", "site"])
        screen.query_one(DataTable).move_cursor(row=0)
        await pilot.press("enter")
        view = await shown(app, pilot, lambda view: view.total == 300)
        assert view.mode == "live"
        assert not isinstance(app.screen, PickerScreen)


@pytest.mark.parametrize(("key", "live"), [("w", True), ("r", False)])
async def test_one_chooses_to_watch_or_to_replay(
    log: Path, app_on: Make, disk: list[Found], key: str, live: bool
) -> None:
    disk.append(found(log, "api"))
    app = app_on(None)
    async with app.run_test(size=(120, 40)) as pilot:
        await listed(app, pilot, ["api"])
        await pilot.press(key)
        await shown(app, pilot, lambda view: view.total == 300)
        assert app.feed is not None and app.feed.target.live is live


async def test_the_cursor_stays_on_its_session_when_the_list_changes(
    log: Path, app_on: Make, disk: list[Found]
) -> None:
    disk += [found(log, "a"), found(log, "b")]
    app = app_on(None)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await listed(app, pilot, ["a", "b"])
        await pilot.press("down")
        disk.insert(0, found(log, "new"))
        await listed(app, pilot, ["new", "a", "b"])
        table = screen.query_one(DataTable)
        key = table.coordinate_to_cell_key(table.cursor_coordinate).row_key.value
        assert str(key).endswith("\nb")


async def test_text_from_a_log_is_no_markup(log: Path, app_on: Make, disk: list[Found]) -> None:
    disk.append(found(log, "[bold]x[/"))
    app = app_on(None)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await listed(app, pilot, ["[bold]x[/"])
        assert "[bold]x[/" in str(screen.query_one(DataTable).get_row_at(0)[-1])
