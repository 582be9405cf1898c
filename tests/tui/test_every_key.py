"""Every key that help lists for a screen does something there, or says why not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from core.settings import Settings
from tests.tui.conftest import shown, until
from tests.tui.fleet_app import FleetApp, read
from tests.tui.fleet_sessions import tell
from tui.app import NooscopeApp
from tui.keys import KEYS
from tui.screens.help import HelpScreen

SCREENS = {
    "main": "",
    "emotion": "1",
    "paths": "3",
    "signals": "6",
    "timeline": "0",
    "paths alone": "3 z",
    "signals alone": "6 z",
    "mind": "m",
    "mind alone": "m z",
    "branches": "m 5",
    "bench": "t right",
    "transcript": "e",
    "changes": "c",
    "agents": "a",
    "recap": "l",
}
"""How each screen is reached from the main one."""

EVERYWHERE = ("main", "fleet")
"""Where the keys of every screen are pressed too."""

AT_AN_END = {"row.up", "row.down", "page.up", "page.down", "play.start", "play.end", "open", "jump.difference"}
"""Keys that go to where the cursor or the playhead may be already."""

INERT: dict[str, set[str]] = {
    "emotion": {"part.1"},
    "paths": {"part.3"},
    "signals": {"part.6"},
    "timeline": {"part.0"},
    "mind": {"part.1"},
    "mind alone": {"part.1"},
    "branches": {"part.5"},
    "bench": {"part.1"},
    "transcript": {"part.1", "fold"},
    "fleet": {"part.1"},
}
"""Keys of the part that is shown already, and of an entry that is shown whole."""


def picture(app: NooscopeApp) -> object:
    """All that a person sees."""
    strips = app.screen._compositor.render_strips()
    playing = app.view is not None and app.view.playing
    return app.screen, playing, [[(one.text, one.style) for one in strip] for strip in strips]


async def silent_keys(app: NooscopeApp, pilot: Pilot[None], name: str, reach: Callable[[], object]) -> list[str]:
    """The keys of help to which a screen gives no answer."""
    await reach()  # type: ignore[misc]
    await pilot.press("question_mark")
    await until(pilot, lambda: isinstance(app.screen, HelpScreen) and bool(app.screen.rows))
    topics = app.screen._topics if isinstance(app.screen, HelpScreen) else ()
    rows = [row for topic in topics[: 2 if name in EVERYWHERE else 1] for row in topic.rows]
    await pilot.press("escape")
    silent = []
    for row in rows:
        if row.id == "quit" or row.id in AT_AN_END | INERT.get(name, set()):
            continue
        await reach()  # type: ignore[misc]
        app.clear_notifications()
        app.copy_to_clipboard("")
        before = picture(app)
        await pilot.press(KEYS[row.id].key.split(",")[0])
        for _ in range(5):
            await pilot.pause()
            if picture(app) != before or app._notifications:
                break
        else:
            silent.append(row.id)
    return silent


@pytest.mark.slow
@pytest.mark.parametrize("name", SCREENS)
async def test_no_key_of_a_screen_is_silent(log: Path, app_on: Callable[..., NooscopeApp], name: str) -> None:
    app = app_on(log, live=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        await pilot.press("space")

        async def reach() -> None:
            while len(app.screen_stack) > 1:
                app.pop_screen()
            for beside in app.screen.query(".-side"):
                await beside.remove()
            app.set_focus(None)
            await pilot.press("end", *"NNN", *SCREENS[name].split())
            await pilot.pause()

        assert await silent_keys(app, pilot, name, reach) == []


@pytest.mark.slow
async def test_no_key_of_the_fleet_is_silent(tmp_path: Path, still: Settings) -> None:
    tell(tmp_path)
    app = FleetApp(tmp_path, still)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: read(app, 9))

        async def reach() -> None:
            await until(pilot, lambda: app.feed is None or app._settled)
            app.action_fleet()
            while app._to_fleet().has_class("-filtering") or app._to_fleet().order.status:
                await pilot.press("escape")
            app._to_fleet().query_one("FleetTable").focus()
            await pilot.pause()

        assert await silent_keys(app, pilot, "fleet", reach) == []
