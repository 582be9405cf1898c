"""The app: every key does what it says, and sessions can be changed without leaving."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.binding import Binding
from textual.command import CommandList, CommandPalette

from bench.workload import session
from core.live.source import Target
from core.settings import Settings
from core.timeline.places import Landing, landing
from tests.core.logs import log_lines as logs
from tests.pilots import rest
from tests.tui.conftest import lines, press_each, shown, until
from tui.app import NooscopeApp
from tui.feed.messages import Arrived, OpenSession
from tui.feed.view import View
from tui.keys import APP_KEYS
from tui.screens.dialogs import AskScreen
from tui.screens.fleet import FleetScreen
from tui.screens.main import CAPTIONS, Captions, MainScreen
from tui.screens.palette import app_commands, command_title
from tui.screens.recap import RecapScreen
from tui.widgets.common.key_line import ConfirmScreen

Make = Callable[..., NooscopeApp]


def changed(settings: Settings, **values: object) -> Settings:
    return settings.replace(screen=settings.screen.replace(**values))


def _at(index: int, view: View) -> bool:
    return view.index == index


async def test_the_first_session_has_three_captions_until_a_key_is_pressed(
    log: Path, app_on: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.feed.sessions.own_folder", lambda _: tmp_path / "own")
    for first in (True, False):
        app = app_on(log)
        app._watching = True
        async with app.run_test(size=(120, 40)) as pilot:
            await shown(app, pilot, lambda view: view.total == 300)
            await rest(pilot)
            captions = [str(each.content) for each in app.screen.query(Captions)]
            assert captions == (["\n".join(CAPTIONS)] if first else [])
            await pilot.press("left")
            await shown(app, pilot, lambda view: view.index == 299)
            assert not app.screen.query(Captions)
            if first:
                main = app.screen
                assert isinstance(main, MainScreen)
                main.show_captions()
                await rest(pilot)
                await pilot.press("escape")
                await rest(pilot)
                assert not app.screen.query(Captions)
                assert len(app.screen_stack) == 1, "escape closes the captions, and goes to all sessions only then"
    assert [line.split()[0] for line in CAPTIONS] == ["above", "1", "0"]


async def test_the_keys_of_the_film(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.mode == "live")
        await pilot.press("space")
        await shown(app, pilot, lambda view: view.mode == "paused" and view.index == 300)
        for key, index in (("left", 299), ("pageup", 289), ("right", 290), ("pagedown", 300), ("home", 0)):
            await pilot.press(key)
            await shown(app, pilot, lambda view, index=index: view.index == index)  # type: ignore[misc]
        await pilot.press("full_stop")
        await shown(app, pilot, lambda view: view.speed == 8.0)
        await pilot.press("comma", "comma")
        await shown(app, pilot, lambda view: view.speed == 2.0)
        await pilot.press("space")
        await shown(app, pilot, lambda view: view.mode == "replay" and view.playing)
        await pilot.press("end")
        await shown(app, pilot, lambda view: view.mode == "live" and view.index == 300)


@pytest.mark.parametrize(("key", "to"), [("n", "trouble"), ("x", "failure"), ("p", "prompt")])
async def test_one_after_the_other(log: Path, app_on: Make, key: str, to: Landing) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        assert app.recording is not None
        places: list[int] = []
        while found := landing(app.recording, places[-1] - 1 if places else -1, True, to):
            places.append(found.place + 1)
        await pilot.press("home")
        await shown(app, pilot, lambda view: view.index == 0)
        await pilot.press(key)
        await shown(app, pilot, lambda view: view.index == places[0])
        await pilot.press(key)
        await shown(app, pilot, lambda view: view.index == places[1])
        await pilot.press(key.upper())
        await shown(app, pilot, lambda view: view.index == places[0])


@pytest.mark.parametrize(("typed", "index"), [("120", 120), ("50%", 150), ("-1", 300)])
async def test_go_to_a_place(log: Path, app_on: Make, typed: str, index: int) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        app.go(typed)
        await shown(app, pilot, lambda view: view.index == index)


async def test_the_search_goes_to_an_event_by_its_number(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        await pilot.press("slash", "1", "2", "0")
        await pilot.pause(0.3)
        await pilot.press("enter")
        await pilot.press("enter")
        await shown(app, pilot, lambda view: view.index == 120)


async def test_a_bookmark_stands_on_the_timeline_and_goes_again(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        await pilot.press("left")
        await shown(app, pilot, lambda view: view.index == 299)
        await pilot.press("b")
        await until(pilot, lambda: isinstance(app.screen, AskScreen))
        await pilot.press("w", "h", "y", "enter")
        await shown(app, pilot, lambda view: [mark.place for mark in app.bookmarks] == [299])
        assert app.bookmarks[0].note == "why"
        assert any("why" in note.message for note in app._notifications)
        await pilot.press("b")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        await pilot.press("escape", "b", "enter")
        await shown(app, pilot, lambda view: app.bookmarks == ())
        assert any(note.title == "Bookmark removed" for note in app._notifications)


async def test_a_note_that_is_not_given_sets_no_bookmark(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        await pilot.press("b", "escape")
        await pilot.pause()
        assert app.bookmarks == () and len(app.screen_stack) == 1


async def test_agents_are_switched(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        first = await shown(app, pilot, lambda view: view.total == 300)
        assert len(first.agents) == 2
        await press_each(pilot, "a", "down", "enter")
        await shown(app, pilot, lambda view: view.agent == first.agents[1])
        await press_each(pilot, "a", "up", "enter")
        await shown(app, pilot, lambda view: view.agent == first.agents[0])


async def test_search_finds_marks_and_goes_there(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        assert app.recording is not None
        last = [mark for mark in app.recording.marks if mark.kind == "prompt"][-1]
        await pilot.press("slash")
        assert isinstance(app.screen, CommandPalette)
        await pilot.press(*"prompt")
        hits = app.screen.query_one(CommandList)
        for _ in range(600):
            await pilot.pause()
            if hits.option_count > 1 and "prompt" in str(hits.get_option_at_index(0).prompt):
                break
        await pilot.press("enter")
        await pilot.press("enter")
        await shown(app, pilot, lambda view: view.index == last.place + 1)


async def test_the_palette_has_every_key(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        titles = {title for title, _, _ in app_commands(app, app.screen)}
        keys = [binding for binding in APP_KEYS if isinstance(binding, Binding)]
        missing = {binding.id for binding in keys if command_title(binding) not in titles}
        assert missing == {"back", "page.up", "page.down"}, "escape leaves a panel first"
        assert "Quit: Leave nooscope" in titles and not any("Focus Next" in title for title in titles)


async def test_keys_can_be_moved_by_settings(log: Path, app_on: Make, still: Settings) -> None:
    app = app_on(log, settings=changed(still, keymap={"play.start": "z"}))
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        await pilot.press("z")
        await shown(app, pilot, lambda view: view.index == 0)


async def test_another_session_without_leaving(log: Path, app_on: Make, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_bytes(lines(session(80, seed=4)))
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        app.post_message(OpenSession(other))
        assert (await shown(app, pilot, lambda view: view.total == 80)).subject.path == str(other)


async def test_what_a_stopped_feed_posted_is_not_shown(log: Path, app_on: Make, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_bytes(lines(session(40, agents=1)))
    app = app_on(log, live=False)
    async with app.run_test(size=(80, 24)) as pilot:
        late = await shown(app, pilot, lambda view: view.total == 300)
        stopped, recording = app.feed, app.recording
        app.open(Target(other, False), play=False)
        app._arrived(Arrived(late, recording, stopped))
        assert app.view is None and app.recording is None
        await shown(app, pilot, lambda view: view.total == 40)
        await until(pilot, lambda: isinstance(app.screen, RecapScreen))
        assert app.recording is not None and len(app.recording) == 40


async def test_what_is_no_log_brings_the_list_of_sessions(
    app_on: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    path = tmp_path / "notes.txt"
    path.write_text("nothing\n")
    app = app_on(path, live=False)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        for _ in range(200):
            await pilot.pause()
            if isinstance(app.screen, FleetScreen):
                break
        assert isinstance(app.screen, FleetScreen)
        assert any("notes.txt" in note.message for note in app._notifications)


async def test_a_theme_of_ones_own_appears_and_a_broken_one_is_said_once(
    log: Path, app_on: Make, tmp_path: Path
) -> None:
    folder = tmp_path / "themes"
    folder.mkdir()
    app = app_on(log)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.pause()
        (folder / "mine.toml").write_text('name = "mine"\nprimary = "#123456"\n')
        (folder / "bad.toml").write_text('name = "bad"\nprimary = "no colour"\n')
        for _ in range(3):
            app.theme_files.look()
            await pilot.pause()
        assert "mine" in app.available_themes
        assert "bad" not in app.available_themes
        assert sum("bad.toml" in note.message for note in app._notifications) == 1
        app.theme = "mine"
        (folder / "mine.toml").write_text('name = "mine"\nprimary = "#654321"\n')
        app.theme_files.look()
        await pilot.pause()
        assert app.current_theme.primary == "#654321"


async def test_every_theme_can_be_worn(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        for name in app.available_themes:
            app.theme = name
            await pilot.pause()
        assert app.is_running


async def test_an_unknown_theme_falls_back_with_a_word(log: Path, app_on: Make, still: Settings) -> None:
    app = app_on(log, settings=changed(still, theme="plaid"))
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.pause()
        assert app.theme == "nocturne"
        assert any("plaid" in note.message for note in app._notifications)


def test_no_motion_is_heeded(log: Path, app_on: Make, still: Settings) -> None:
    assert app_on(log).animation_level == "none"
    assert app_on(log, settings=changed(still, motion=True)).animation_level != "none"


@pytest.mark.parametrize("key", ["q", "ctrl+c", "ctrl+q"])
async def test_a_key_leaves(log: Path, app_on: Make, key: str) -> None:
    app = app_on(log)
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        await pilot.press(key)
        await pilot.pause()
        assert not app.is_running or app._exit


@pytest.mark.parametrize(("place", "index"), [("120", 120), ("-1", 300), ("0", 0)])
async def test_a_session_is_opened_at_a_place_and_holds_there(log: Path, app_on: Make, place: str, index: int) -> None:
    app = app_on(log, live=False)
    app._target = Target(log, live=False, at=place)
    async with app.run_test(size=(120, 40)) as pilot:
        view = await shown(app, pilot, lambda view: view.index == index)
        assert not view.playing


async def test_a_place_that_is_none_is_said(log: Path, app_on: Make) -> None:
    app = app_on(log, live=False)
    app._target = Target(log, live=False, at="nowhere")
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        await until(pilot, lambda: any("is not a place" in note.message for note in app._notifications))


async def test_a_session_is_opened_at_a_byte_of_its_log(tmp_path: Path, app_on: Make) -> None:
    path = tmp_path / "s-1.jsonl"
    path.write_bytes(logs.session(5))
    place = path.read_bytes().index(b'"tool_use_id": "t2"')
    app = app_on(path, live=False)
    app._target = Target(path, live=False, at=f"@{path.read_bytes().rindex(b'{', 0, place - 40)}")
    async with app.run_test(size=(120, 40)) as pilot:
        view = await shown(app, pilot, lambda view: 0 < view.index < view.total)
        assert app.recording is not None
        event = app.recording.events[view.index - 1]
        assert event.where is not None and event.where.offset >= place - 400


async def test_the_same_notice_stands_once_however_often_a_key_is_pressed(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        told: list[str] = []

        def twice() -> bool:
            told[:] = [one.message for one in app._notifications]
            return len(told) >= 2

        await pilot.press("n", "n", "n", "n", "x")
        await until(pilot, twice)
        await pilot.pause()
        assert told == [
            f"no {each} after this point; {key} goes back" for each, key in (("problem", "N"), ("failure", "X"))
        ]
