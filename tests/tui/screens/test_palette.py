"""The palette finds screens, panels, settings and moments by name, and goes there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.command import CommandInput, CommandList, CommandPalette

from core.settings import Settings
from core.timeline.marks import Mark
from core.timeline.timeline import Timeline
from tests.core.logs import log_lines as logs
from tests.tui.conftest import shown, until
from tui.app import NooscopeApp
from tui.feed.messages import SetBookmark
from tui.screens import SCREENS
from tui.screens.model import GovernorScreen, MindScreen, ResponseScreen
from tui.screens.palette import app_commands, mark_hits, named_places, save_screenshot
from tui.widgets.common.key_line import Box
from tui.widgets.main.paths import PathTree

Make = Callable[..., NooscopeApp]


async def test_a_screenshot_is_saved_in_the_working_folder_where_there_are_no_downloads(
    log: Path, app_on: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    app = app_on(log)
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        save_screenshot(app)
        (picture,) = work.glob("*.svg")
        assert "<svg" in picture.read_text("utf-8")
        (tmp_path / "home" / "Downloads").mkdir(parents=True)
        save_screenshot(app)
        assert len([*work.glob("*.svg")]) == 1
        assert len([*(tmp_path / "home" / "Downloads").glob("*.svg")]) == 1


async def test_everything_has_a_name(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        names = [text for text, _, _ in named_places(app)]
        assert {f"Screen: {name}" for name in SCREENS} <= set(names)
        assert not any(name.startswith("Setting") for name in names)
        assert "Panel: Signals" in names and len(names) == len(set(names))


async def test_the_palette_offers_screens_and_keys_and_leaves_moments_to_the_search(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        for key, first, marks in (("ctrl+p", "Screen: transcript", False), ("slash", "00:", True)):
            await pilot.press(key)
            await until(pilot, lambda: isinstance(app.screen, CommandPalette))
            await until(pilot, lambda: app.screen.query_one(CommandList).option_count > 1)
            listed = app.screen.query_one(CommandList)
            prompts = [str(listed.get_option_at_index(number).prompt) for number in range(listed.option_count)]
            assert prompts[0].startswith(first)
            assert any(prompt.startswith("00:") for prompt in prompts) is marks
            await pilot.press("escape")
            await until(pilot, lambda: not isinstance(app.screen, CommandPalette))


@pytest.mark.parametrize(
    ("typed", "kind"), [("mind", MindScreen), ("screen governor", GovernorScreen), ("screen response", ResponseScreen)]
)
async def test_typing_a_screens_name_opens_it(log: Path, app_on: Make, typed: str, kind: type) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
        app.screen.query_one(CommandInput).value = typed
        await until(pilot, lambda: app.screen.query_one(CommandList).option_count > 0)
        await pilot.press("enter", "enter")
        await until(pilot, lambda: isinstance(app.screen, kind))


def test_marks_are_found_by_words_and_those_told_to_nobody_are_left_out() -> None:
    timeline = Timeline(Settings())
    timeline.marks.adopt(
        [
            Mark(0, 10.0, "main", "prompt", "prompt"),
            Mark(1, 11.0, "main", "background", "action_logger", 0.3),
            Mark(1, 11.0, "main", "method", "push_reminder", 0.3),
            Mark(2, 12.0, "kid", "regime", "calm"),
            Mark(3, 13.0, "main", "compaction", "manual"),
        ]
    )
    hits = list(mark_hits(timeline, 10.0))
    assert [(words, who) for words, who, _ in hits] == [
        ("00:00:03  compaction manual", ""),
        ("00:00:02  regime     calm", "kid"),
        ("00:00:01  nooscope   reminds: commit", ""),
        ("00:00:00  prompt     your prompt", ""),
    ]
    assert [(seek.to, seek.agent) for _, _, seek in hits] == [(4, "main"), (3, "kid"), (2, "main"), (1, "main")]


async def test_a_panel_is_gone_to(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        places = {text: go for text, _, go in named_places(app)}
        places["Screen: mind"]()
        await until(pilot, lambda: isinstance(app.screen, MindScreen))
        places["Panel: Paths"]()
        await until(pilot, lambda: len(app.screen_stack) == 1 and isinstance(app.focused, PathTree))


@pytest.mark.parametrize("name", SCREENS)
async def test_every_screen_that_is_named_opens(log: Path, app_on: Make, name: str) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        kinds = {"find": "WordSearchScreen", "branches": "BranchScreen"}
        kind = kinds.get(name, f"{name.title()}Screen")
        next(go for text, _, go in named_places(app) if text == f"Screen: {name}")()
        await until(pilot, lambda: type(app.screen).__name__ == kind and app.screen.is_mounted)


async def test_sessions_and_events_are_found_by_name(
    log: Path, app_on: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    other = tmp_path / ".claude/projects/p/s-1.jsonl"
    other.parent.mkdir(parents=True)
    other.write_bytes(logs.prompt(0.0, "grind the pepper finely") + logs.session(3))
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
        app.screen.query_one(CommandInput).value = "grind pepper"
        await until(pilot, lambda: app.screen.query_one(CommandList).option_count > 0)
        await pilot.press("enter", "enter")
        view = await shown(app, pilot, lambda view: 0 < view.total < 300)
        assert view.subject.session == "s-1"
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
        app.screen.query_one(CommandInput).value = "Bash echo"
        await until(pilot, lambda: app.screen.query_one(CommandList).option_count > 0)


async def test_a_bookmark_is_found_by_its_note(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        app.post_message(SetBookmark(40, "turn: here the Parser broke"))
        await until(pilot, lambda: bool(app.bookmarks))
        await pilot.press("slash")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
        app.screen.query_one(CommandInput).value = "parser turn"
        await until(pilot, lambda: app.screen.query_one(CommandList).option_count > 0)
        await pilot.press("enter", "enter")
        await shown(app, pilot, lambda view: view.index == 40)


async def test_what_only_a_command_does_is_offered_and_copied(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        offers = {name: run for name, _, run in app_commands(app, app.screen)}
        for name, command in (
            ("Export: a page that plays a session", f"nooscope export {log} --format html --out session.html"),
            ("Cost: what sessions cost, by project", "nooscope cost --by project"),
        ):
            offers[name]()
            assert app.clipboard == command
            await until(pilot, lambda words=command: words in {one.message for one in app._notifications})  # type: ignore[misc]
        app.clear_notifications()
        await pilot.press("h")
        offers["Export: a page that plays a session"]()
        await until(pilot, lambda: "paste it into a terminal" in {one.message for one in app._notifications})
        assert all(str(log) not in one.message for one in app._notifications)


async def test_the_list_of_themes_says_what_each_is_for(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        app.action_change_theme()
        await pilot.pause()
        for typed, first in (("colour-blind", {"almanac", "okabe", "orrery"}), ("high contrast", {"contrast"})):
            app.screen.query_one(CommandInput).value = typed
            found = app.screen.query_one(CommandList)
            await until(pilot, lambda found=found, first=first: {str(hit.hit.text) for hit in found.options} == first)  # type: ignore[misc]
        await pilot.press("enter")
        await until(pilot, lambda: app.theme == "contrast")


async def test_a_dialog_is_not_covered_by_earlier_notices(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(60, 15), notifications=True) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        app.notify("several words, on more than one line of a notice", title="Needs you")
        await pilot.press("b")
        await until(pilot, lambda: isinstance(app.screen, Box) and not app._notifications)
