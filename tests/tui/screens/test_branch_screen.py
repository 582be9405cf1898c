"""Branches on the screen: the conversation, what settings brought, a word tried, a dream."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from textual.widgets import Input

import sample_sessions
from bench.workload import session
from core.settings.layers import with_value
from tests.tui.conftest import lines, shown, until
from tui.app import NooscopeApp
from tui.feed.messages import Apply
from tui.screens.branches import BranchScreen

Make = Callable[..., NooscopeApp]


def page(app: NooscopeApp) -> str:
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


async def test_before_the_first_event_nothing_is_said_to_be_read(tmp_path: Path, app_on: Make) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"")
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.loading is None)
        await pilot.press("m", "5")
        await until(pilot, lambda: isinstance(app.screen, BranchScreen) and "A dream" in page(app))
        assert "reading…" not in page(app) and page(app).count("nothing recorded yet") == 3
        await pilot.press("s", *"stop", "enter")
        await until(pilot, lambda: "“stop” was not tried: nothing is recorded yet" in page(app))
        await pilot.press("v")
        log.write_bytes(lines(session(50)))
        await until(pilot, lambda: "seed 1" in page(app) and "no earlier reading" in page(app))
        assert "nothing recorded yet" not in page(app)


async def test_branches_tell_and_a_word_is_tried(tmp_path: Path, app_on: Make) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(lines(session(200)))
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 200)
        settings = with_value(app.settings, "receptor.ambient.offset.seeking", 0.1)
        app.post_message(Apply(settings))
        await until(pilot, lambda: app.recording is not None and app.recording.settings == settings)
        await pilot.press("m", "5")
        await until(pilot, lambda: isinstance(app.screen, BranchScreen) and "no earlier reading" in page(app))
        await until(pilot, lambda: "receptor.ambient.offset.seeking 0.1; 0 events since" in page(app))
        await until(pilot, lambda: "seed 1" in page(app))
        await pilot.press("v")
        await until(pilot, lambda: "seed 2" in page(app))
        await pilot.press("s")
        assert app.focused is app.screen.query_one("#steer", Input)
        await pilot.press(*"stop, then test", "enter")
        await until(pilot, lambda: "“stop, then test” before event" in page(app))
        assert app.recording is not None and len(app.recording) == 200
        await pilot.press("s", "escape")
        assert isinstance(app.screen, BranchScreen)
        await pilot.press("escape")
        await pilot.pause()
        assert not isinstance(app.screen, BranchScreen)


async def test_a_record_is_gone_to_by_its_number_with_a_summary_of_ones_own(app_on: Make) -> None:
    app = app_on(next((Path(sample_sessions.__file__).parent / "logs" / "stuck").rglob("*.jsonl*")), live=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.loading is None and view.total > 20)
        await pilot.press("m", "5")
        await until(pilot, lambda: isinstance(app.screen, BranchScreen) and "seed 1" in page(app))
        await pilot.press("enter", *"10 read the wrong file", "enter")
        await until(pilot, lambda: any("read the wrong file" in note.message for note in app._notifications))
        await until(pilot, lambda: app.view is not None and 0 < app.view.index < 12)
        await pilot.press("enter", *"99999", "enter")
        await until(pilot, lambda: any("has no record" in note.message for note in app._notifications))
        assert app.view is not None and app.view.index < 12
