"""Pictures of the fleet, small and large, by night and by day."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

from core.settings import Settings
from tests.tui.conftest import until
from tests.tui.fleet_app import FleetApp, read
from tests.tui.fleet_sessions import begin, tell

Compare = Callable[..., bool]
SIZES = {"80x24": (80, 24), "120x40": (120, 40), "200x60": (200, 60)}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home of stories, under a clock that shows the same everywhere."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    tell(tmp_path)
    begin(tmp_path, "asks", 20, 50).write()
    yield tmp_path
    monkeypatch.undo()
    time.tzset()


def app_in(home: Path, theme: str = "nocturne") -> FleetApp:
    plain = Settings()
    screen = plain.screen.replace(motion=False, theme=theme)
    return FleetApp(home, plain.replace(screen=screen), grouped=True)


def caught_up(app: FleetApp, *keys: str) -> Callable[[Pilot[None]], Awaitable[None]]:
    async def wait(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: read(app, 10))
        await pilot.press(*keys)

    return wait


@pytest.mark.parametrize("theme", ["nocturne", "daylight"])
@pytest.mark.parametrize("size", SIZES)
def test_fleet(snap_compare: Compare, home: Path, size: str, theme: str) -> None:
    app = app_in(home, theme)
    assert snap_compare(app, run_before=caught_up(app), terminal_size=SIZES[size])


@pytest.mark.parametrize("size", ["80x24", "120x40"])
def test_by_need(snap_compare: Compare, home: Path, size: str) -> None:
    app = app_in(home)
    assert snap_compare(app, run_before=caught_up(app, "v", "down"), terminal_size=SIZES[size])


def test_urgent_and_filtered(snap_compare: Compare, home: Path) -> None:
    app = app_in(home)
    before = caught_up(app, "2", "slash", *"asks", "enter")
    assert snap_compare(app, run_before=before, terminal_size=SIZES["80x24"])
