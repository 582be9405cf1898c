"""The transcript: one document that is read where it is looked at, filtered, searched and left in place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot
from textual.widgets import Input

from core.agents.words import WordReader, Words
from core.events import Event, Prompt, ToolUse, Where
from tests.core.logs import log_lines as logs
from tests.tui.conftest import press_each, shown, until
from tests.tui.screen_app import Stage, recording_of
from tui.app import NooscopeApp
from tui.screens.transcript import TranscriptScreen
from tui.widgets.transcript.document import Document
from tui.widgets.transcript.entry import PassagePane

START = 1_760_000_000.0
KEY = "sk-ant-api03-" + "Ab1" * 30


def story(path: Path, calls: int = 12) -> None:
    """A session with a prompt, an answer, and calls of which every third fails."""
    parts = [logs.prompt(0, f"please fix the parser [b]now[/b] with {KEY}")]
    for number in range(calls):
        at = 10 * number + 1
        parts.append(logs.call(at, f"c{number}", "Bash", {"command": f"make step-{number}"}))
        failed = number % 3 == 2
        parts.append(logs.result(at + 4, f"c{number}", f"out {number}\nError: broke {number}", error=failed))
    path.write_bytes(b"".join(parts))


@pytest.fixture
def told(tmp_path: Path) -> Path:
    path = tmp_path / "told.jsonl"
    story(path)
    return path


async def opened(app: NooscopeApp, pilot: Pilot[None], keys: str = "") -> Document:
    await shown(app, pilot, lambda view: view.total > 2)
    await pilot.press("e", *keys)
    await until(pilot, lambda: isinstance(app.screen, TranscriptScreen) and bool(app.screen.query(Document)))
    document = app.screen.query_one(Document)
    await until(pilot, lambda: bool(document.places) and "reading" not in inside(document))
    return document


def inside(document: Document) -> str:
    return "\n".join(document.render_line(y).text.rstrip() for y in range(document.size.height))


async def test_opens_at_the_playhead_with_words_and_without_secrets(
    app_on: Callable[..., NooscopeApp], told: Path
) -> None:
    app = app_on(told)
    async with app.run_test(size=(100, 40)) as pilot:
        document = await opened(app, pilot)
        assert document.place == document.places[-1]
        assert "Error: broke 11" in inside(document) and "$ make step-11" in inside(document)
        await pilot.press("home")
        await until(pilot, lambda: "please fix the parser [b]now[/b]" in inside(document))
        assert KEY not in inside(document)


async def test_the_playhead_has_a_sign_of_its_own(app_on: Callable[..., NooscopeApp], told: Path) -> None:
    app = app_on(told, live=False)
    async with app.run_test(size=(100, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total > 2)
        await pilot.press("space", "home")
        await shown(app, pilot, lambda view: view.index == 0)
        await pilot.press("right", "right")
        await shown(app, pilot, lambda view: view.index == 2)
        document = await opened(app, pilot)
        assert document.place == document.places[1] and "▶" not in inside(document)
        await pilot.press("down", "down")
        assert inside(document).count("▶") == 1 and "▶00:00:00  you" in inside(document)
        assert inside(document).count("▌") > 1


async def test_enter_moves_the_playhead_and_the_arrows_move_the_place(
    app_on: Callable[..., NooscopeApp], told: Path
) -> None:
    app = app_on(told, live=False)
    async with app.run_test(size=(100, 24)) as pilot:
        await shown(app, pilot, lambda view: view.total > 2)
        await pilot.press("space", "end")
        document = await opened(app, pilot)
        await press_each(pilot, "home", "down", "down")
        place = document.place
        assert place == document.places[2]
        await pilot.press("enter")
        view = await shown(app, pilot, lambda view: view.index == place + 1)
        assert view.index == place + 1 and document.place == place
        await pilot.press("right")
        await shown(app, pilot, lambda view: view.index == place + 2)
        assert document.place >= place


async def test_filters_on_one_key_each(app_on: Callable[..., NooscopeApp], told: Path) -> None:
    app = app_on(told)
    async with app.run_test(size=(100, 40)) as pilot:
        document = await opened(app, pilot)
        whole = len(document.places)
        await pilot.press("2")
        assert len(document.places) == 4 and "only failed" in str(document.border_subtitle)
        await pilot.press("3")
        assert len(document.places) == 1
        await until(pilot, lambda: str(document.border_title) == "Transcript  1 entry")
        await pilot.press("3", "end", "5")
        assert len(document.places) == 12 and "tool Bash" in str(document.border_subtitle)
        await pilot.press("1", "home", "5")
        await pilot.pause()
        assert len(document.places) == whole


async def test_search_goes_through_all_words(app_on: Callable[..., NooscopeApp], told: Path) -> None:
    app = app_on(told)
    async with app.run_test(size=(100, 40)) as pilot:
        document = await opened(app, pilot)
        await pilot.press("slash", *"BROKE 7", "enter")
        await until(pilot, lambda: len(document.places) == 1 and not document._searching)
        assert document.has_focus and "“BROKE 7”" in str(document.border_subtitle)
        await until(pilot, lambda: "broke 7" in inside(document))
        await pilot.press("slash")
        assert app.screen.query_one(Input).has_focus
        await pilot.press("escape")
        await until(pilot, lambda: len(document.places) > 12)
        await pilot.press("slash", *"nowhere at all", "enter")
        await until(pilot, lambda: not document._searching)
        assert not document.places and "nothing to show" in inside(document)


async def test_a_search_says_how_much_of_the_log_it_could_not_read(
    app_on: Callable[..., NooscopeApp], told: Path
) -> None:
    """Words are read again from the log, and it is gone; the start of a session has none."""
    app = app_on(told)
    async with app.run_test(size=(80, 24)) as pilot:
        document = await opened(app, pilot)
        every = len(document.places) - 1
        told.unlink()
        await pilot.press("slash", *"broke 7", "enter")
        await until(pilot, lambda: not document._searching and not document.places)
        await until(pilot, lambda: "cannot be read" in inside(document))
        assert f"nothing found; entries that cannot be read: {every}" in inside(document)
        assert str(document.border_title) == f"Transcript  0 entries, {every} not read"
        story(told)
        await pilot.press("1", "slash", *"broke 7", "enter")
        await until(pilot, lambda: len(document.places) == 1 and not document._searching)
        assert str(document.border_title) == "Transcript  1 entry"


async def test_the_place_stays_while_the_log_grows(app_on: Callable[..., NooscopeApp], told: Path) -> None:
    app = app_on(told)
    async with app.run_test(size=(100, 24)) as pilot:
        document = await opened(app, pilot)
        await pilot.press("pageup", "pageup")
        await until(pilot, lambda: "reading" not in inside(document))
        before, place, total = inside(document), document.place, len(document.places)
        assert app.view is not None
        first = app.view.total
        with told.open("ab") as log:
            log.write(logs.call(900, "later", "Bash", {"command": "make later"}) + logs.result(905, "later"))
        await shown(app, pilot, lambda view: view.total > first)
        await until(pilot, lambda: len(document.places) > total)
        assert inside(document) == before and document.place == place
        await pilot.press("end")
        await until(pilot, lambda: "make later" in inside(document))
        with told.open("ab") as log:
            log.write(logs.call(910, "last", "Bash", {"command": "make last"}) + logs.result(915, "last"))
        await until(pilot, lambda: "make last" in inside(document))


async def test_raw_line_and_back(app_on: Callable[..., NooscopeApp], told: Path) -> None:
    app = app_on(told)
    async with app.run_test(size=(100, 40)) as pilot:
        document = await opened(app, pilot)
        pane = app.screen.query_one(PassagePane)
        await pilot.press("home", "v")
        await until(pilot, lambda: "content" in "".join(pane.render_line(y).text for y in range(9)))
        assert pane.display and KEY not in "".join(pane.render_line(y).text for y in range(pane.size.height))
        await pilot.press("v")
        assert not pane.display and document.has_focus
        await pilot.press("v", "h")
        await until(pilot, lambda: not pane.display)
        await pilot.press("v")
        assert not pane.display


async def test_one_key_hides_all_words_until_it_is_pressed_again(
    app_on: Callable[..., NooscopeApp], told: Path
) -> None:
    app = app_on(told)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(app, pilot)
        await until(pilot, lambda: "make step-11" in screen_text(app))
        await pilot.press("h")
        await until(pilot, lambda: "words are hidden" in screen_text(app))
        assert "make step" not in screen_text(app) and "broke" not in screen_text(app)
        await pilot.press("escape")
        await pilot.pause()
        assert "make step" not in screen_text(app) and "parser" not in screen_text(app)
        await pilot.press("h")
        await until(pilot, lambda: "make step-11" in screen_text(app))


def screen_text(app: NooscopeApp) -> str:
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


async def test_an_entry_longer_than_the_page_is_walked_through(
    app_on: Callable[..., NooscopeApp], tmp_path: Path
) -> None:
    path = tmp_path / "long.jsonl"
    text = "\n".join(f"paragraph {number}" for number in range(120))
    path.write_bytes(logs.prompt(0, text) + logs.call(1, "a") + logs.result(2, "a"))
    app = app_on(path)
    async with app.run_test(size=(80, 24)) as pilot:
        document = await opened(app, pilot)
        await press_each(pilot, "home", "down", "o")
        first = document.places[1]
        assert document.place == first
        await until(pilot, lambda: "paragraph 3" in inside(document))
        for _ in range(60):
            await pilot.press("down")
        assert document.place == document.places[-1]
        for _ in range(60):
            await pilot.press("up")
        assert document.place == document.places[0] and "session start" in inside(document)


async def test_a_long_session_is_read_only_where_one_looks(
    app_on: Callable[..., NooscopeApp], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: set[float] = set()
    plain_words = WordReader.words

    def counted(self: WordReader, event: Event) -> Words:
        looked.add(event.at)
        return plain_words(self, event)

    monkeypatch.setattr(WordReader, "words", counted)
    path = tmp_path / "long.jsonl"
    story(path, 800)
    app = app_on(path)
    async with app.run_test(size=(120, 40)) as pilot:
        document = await opened(app, pilot)
        looked.clear()  # what the strip read while the session was opened depends on how fast that was
        assert len(document.places) > 800
        for key in ("home", "pagedown", "pagedown", "end"):
            await pilot.press(key)
            await until(pilot, lambda: "reading" not in inside(document))
        assert 0 < len(looked) < 260


async def test_only_what_touched_a_path() -> None:
    read = ToolUse(at=START, action="file_read", tool="Read", targets=("src/a.py",))
    events: list[Event] = [Prompt(at=START, characters=7), read, replace(read, targets=("other",)), read]
    app = Stage(TranscriptScreen("src"), recording_of(events))
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        document = app.screen.query_one(Document)
        assert list(document.places) == [1, 3] and "path src" in str(document.border_subtitle)


async def test_a_place_outside_the_logs_is_not_read(tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    line = b'{"role":"user","content":"private"}\n'
    other.write_bytes(line)
    events: list[Event] = [Prompt(at=START, characters=7, where=Where(str(other), 0, len(line)))]
    app = Stage(TranscriptScreen(), recording_of(events), 1)
    async with app.run_test(size=(100, 30)) as pilot:
        await app.workers.wait_for_complete()
        await pilot.press("v")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert "private" not in app.seen() and "no line of its own" in app.seen()


async def test_mouse(app_on: Callable[..., NooscopeApp], told: Path) -> None:
    app = app_on(told)
    async with app.run_test(size=(100, 30)) as pilot:
        document = await opened(app, pilot)
        await pilot.press("home")
        await until(pilot, lambda: "reading" not in inside(document))
        await pilot.click(document, offset=(10, 3))
        assert document.place == document.places[1]


async def test_empty() -> None:
    app = Stage(TranscriptScreen())
    async with app.run_test(size=(80, 24)) as pilot:
        assert "waiting for the first event" in app.seen()
        await pilot.press("down", "end", "enter", "o", "v", "2", "3", "4", "5", "6", "1", "pageup", "c")
        assert app.sought == []
        await pilot.press("escape", "escape")
        assert app.left


async def test_the_file_of_an_entry_opens_in_the_editor(
    app_on: Callable[..., NooscopeApp], told: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = app_on(told)
    asked: list[str] = []
    monkeypatch.setattr("tui.screens.dialogs.open_in_editor", lambda _app, _project, path: asked.append(path))
    async with app.run_test(size=(100, 30)) as pilot:
        document = await opened(app, pilot)
        recording = document.recording
        assert recording is not None
        await pilot.press("home", "E")
        await pilot.pause()
        assert asked == []
        assert "this entry has no path" in [notice.message for notice in app._notifications]
        paths = [
            event.targets[0]
            for place in document.places
            if isinstance(event := recording.events[place], ToolUse) and event.targets
        ]
        while not asked and document.place != document.places[-1]:
            await pilot.press("down", "E")
            await pilot.pause()
        assert asked == paths[:1]


async def test_the_entry_at_the_playhead_stays_in_sight_once_its_words_are_read(
    app_on: Callable[..., NooscopeApp], tmp_path: Path
) -> None:
    """Entries grow when their words come, which must not push the one at the playhead out of the page."""
    path = tmp_path / "told.jsonl"
    story(path, 60)
    app = app_on(path, live=False)
    async with app.run_test(size=(200, 60)) as pilot:
        await shown(app, pilot, lambda view: view.total > 60 and view.loading is None)
        await pilot.press("space", "home")
        await shown(app, pilot, lambda view: view.index == 0)
        document = app.screen.query_one(Document)
        await until(pilot, lambda: "please fix the parser" in inside(document))
        await pilot.press("end")
        await until(pilot, lambda: "broke 59" in inside(document))
        assert "$ make step-59" in inside(document)
