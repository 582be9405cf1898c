"""Words of all sessions are found from the app, and what is chosen opens at its moment."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from core.errors import StoreError
from core.store.reading_cache import WordIndex
from tests.core.logs import log_lines as logs
from tests.tui.conftest import shown, until
from tui.app import NooscopeApp
from tui.screens import word_search
from tui.screens.help import HelpScreen
from tui.screens.main import MainScreen
from tui.screens.word_search import WordSearchScreen


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with one session of an agent in it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    old = tmp_path / ".claude/projects/p/s-1.jsonl"
    old.parent.mkdir(parents=True)
    old.write_bytes(logs.session(3) + logs.prompt(60, "the needle is [bold]here") + logs.session(3, first=50))
    return tmp_path


async def needles(app: NooscopeApp, pilot: Pilot[None]) -> OptionList:
    """Search for the needle; the list once it is found."""
    await shown(app, pilot, lambda view: view.total == 300)
    await pilot.press("F")
    await until(pilot, lambda: isinstance(app.screen, WordSearchScreen))
    await pilot.press(*"needle")
    found = app.screen.query_one(OptionList)
    await until(pilot, lambda: found.option_count == 1)
    return found


async def test_a_place_is_found_and_opened(machine: Path, log: Path, app_on: Callable[..., NooscopeApp]) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        found = await needles(app, pilot)
        assert "the needle is [bold]here" in str(found.get_option_at_index(0).prompt)
        assert str(app.screen.query_one("#found", Static).content).startswith("1 match")
        await pilot.press("enter")
        view = await shown(app, pilot, lambda view: view.total != 300 and 0 < view.index < view.total)
        assert view.at == logs.START + 60
        assert not view.playing
        assert len(app.screen_stack) == 1


async def test_places_of_one_session_stand_together_below_its_name(
    machine: Path, log: Path, app_on: Callable[..., NooscopeApp]
) -> None:
    for number, moments in (("2", (100, 300)), ("3", (200,))):
        lines = b"".join(logs.prompt(moment, f"needle {moment}") for moment in moments)
        (machine / f".claude/projects/p/s-{number}.jsonl").write_bytes(logs.session(3) + lines)
    (machine / ".claude/projects/p/s-1.jsonl").unlink()
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        await pilot.press("F")
        await until(pilot, lambda: isinstance(app.screen, WordSearchScreen))
        await pilot.press(*"needle")
        hits = app.screen.query_one(OptionList)
        await until(pilot, lambda: hits.option_count == 3)
        prompts = [str(option.prompt) for option in hits.options]
        assert [prompt.rpartition("needle ")[2] for prompt in prompts] == ["300", "100", "200"]
        assert [prompt.count("\n") for prompt in prompts] == [1, 0, 1]


async def test_it_says_when_nothing_is_found_and_esc_goes_back(
    machine: Path, log: Path, app_on: Callable[..., NooscopeApp]
) -> None:
    app = app_on(log)
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        await pilot.press("F")
        await until(pilot, lambda: isinstance(app.screen, WordSearchScreen))
        line = app.screen.query_one("#found", Static)
        assert str(line.content).startswith("type one or more words")
        app.screen.query_one(Input).value = "haystack"
        await until(pilot, lambda: str(line.content).startswith("nothing found; try fewer words"))
        await pilot.press("escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)


async def test_words_that_are_hidden_from_help_are_not_seen_again_behind_it(
    machine: Path, log: Path, app_on: Callable[..., NooscopeApp]
) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await needles(app, pilot)
        await pilot.press("down", "question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))
        app.action_words()
        await pilot.pause()
        assert isinstance(app.screen, HelpScreen)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, MainScreen))
        assert len(app.screen_stack) == 1


async def test_words_are_found_where_no_index_can_be_kept(
    machine: Path, log: Path, app_on: Callable[..., NooscopeApp], monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(machine / "file"))
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await needles(app, pilot)
        screen = app.screen
        assert isinstance(screen, WordSearchScreen)
        assert str(screen.query_one("#found", Static).content).endswith("this search is not indexed")
        assert screen._room is not None
        place = Path(screen._room.name)
        assert place.is_dir()
        await pilot.press("escape")
        await until(pilot, lambda: not place.exists())


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_it_never_says_that_nothing_is_found_where_logs_were_not_read(
    machine: Path, log: Path, app_on: Callable[..., NooscopeApp], monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    """No room for an index anywhere, as on a disk that is full."""

    def full(*_: object) -> None:
        raise StoreError("/the/index/of/words/in/a/folder/with/a/long/name/words.db: disk I/O error")

    monkeypatch.setattr(word_search, "fill_index", full)
    app = app_on(log)
    async with app.run_test(size=size) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        await pilot.press("F")
        await until(pilot, lambda: isinstance(app.screen, WordSearchScreen))
        line = app.screen.query_one("#found", Static)
        await pilot.press(*"needle")
        await until(pilot, lambda: "nothing found" in str(line.content))
        await pilot.pause()
        assert str(line.content).startswith("not all logs could be read: /the/index")
        assert "nothing found in the other logs" in str(line.content)
        assert "try fewer words" not in str(line.content)
        seen = " ".join("".join(strip.text for strip in app.screen._compositor.render_strips()).split())
        assert "disk I/O error" in seen and "nothing found in the other logs" in seen


async def test_nothing_is_left_of_an_index_that_was_still_filled_when_it_was_left(
    machine: Path, log: Path, app_on: Callable[..., NooscopeApp], monkeypatch: pytest.MonkeyPatch
) -> None:
    places: list[Path] = []
    left, filled = threading.Event(), threading.Event()

    def fill(index: WordIndex, *_: object) -> None:
        places.append(index.path)
        if len(places) == 1:
            raise StoreError("no room")
        left.wait(20.0)
        index.path.parent.mkdir(parents=True, exist_ok=True)
        index.path.write_bytes(b"words")
        filled.set()

    monkeypatch.setattr(word_search, "fill_index", fill)
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        await pilot.press("F")
        await until(pilot, lambda: len(places) == 2)
        folder = places[1].parent
        await pilot.press("escape")
        await until(pilot, lambda: not folder.exists())
        left.set()
        await until(pilot, lambda: filled.is_set() and not folder.exists())
