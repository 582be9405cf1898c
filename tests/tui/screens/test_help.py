"""Help: made from the bindings that are there, complete, and searchable."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from textual.binding import Binding
from textual.dom import DOMNode
from textual.widgets import Input

from core.settings.screen import ScreenSettings
from tests.tui.conftest import press_each, shown
from tests.tui.panel_app import text
from tests.tui.screen_app import Stage, recorded
from tui.app import NooscopeApp
from tui.screens.help import HelpScreen
from tui.screens.help_text import KeyRow, Topic, binding_names, help_lines, matching_topics, topic
from tui.screens.model import MindScreen
from tui.widgets.common.text_page import TextPage
from tui.widgets.main.paths import PathTree
from tui.widgets.transcript.document import Document


def test_a_topic_has_every_binding_once_with_its_keys() -> None:
    rows = topic("Paths", (PathTree,), {}, set()).rows
    ids = [row.id for row in rows]
    assert len(ids) == len(set(ids))
    own = {binding.id for binding in PathTree.BINDINGS if isinstance(binding, Binding)}
    assert own <= set(ids)
    assert {row.id: row.keys for row in rows}["paths.filter"] == "/"
    assert all(row.does for row in rows)


def test_the_persons_own_keys_are_shown() -> None:
    rows = topic("Transcript", (Document,), {"transcript.seek": "f7, j"}, set()).rows
    assert {row.id: row.keys for row in rows}["transcript.seek"] == "f7, j"


def test_what_was_told_is_left_out() -> None:
    told = binding_names(PathTree) - {"paths.sort"}
    assert [row.id for row in topic("Paths", (PathTree,), {}, told).rows] == ["paths.sort"]


def test_search_keeps_rows_texts_and_named_topics() -> None:
    topics = [
        Topic(
            "Paths", "where the *work* is", (KeyRow("s", "sort", "paths.sort"), KeyRow("x", "fold", "p.f"))
        ),
        Topic("Clock", "three rhythms", ()),
    ]
    assert matching_topics(topics, "SORT paths") == [Topic("Paths", "", (KeyRow("s", "sort", "paths.sort"),))]
    assert matching_topics(topics, "work") == [Topic("Paths", "where the *work* is", ())]
    assert matching_topics(topics, "clock") == [topics[1]]
    assert matching_topics(topics, "nothing at all") == []
    assert matching_topics(topics, "") == topics


def test_prose_lists_and_what_is_set_off() -> None:
    said = (
        "## Title\n\nOne `╎` two\nthree.\n\n* **A** first\n* second that is a little longer than one line\n"
    )
    lines = help_lines([Topic("Title", said, ())], 30)
    assert (
        text(lines)
        == "TITLE\nOne ╎ two three.\n\n• A first\n• second that is a little\n  longer than one line"
    )
    assert ("╎", "strong") in lines[1] and ("A", "strong") in lines[3]
    assert all(sum(len(piece) for piece, _ in line) <= 30 for line in lines)


async def test_every_key_of_app_and_screens_is_told(app_on: Callable[..., NooscopeApp], log: Path) -> None:
    app = app_on(log, live=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("question_mark")
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, HelpScreen)
        told = {row.id for row in screen.rows}
        below: list[type[DOMNode]] = [type(screen) for screen in app.screen_stack[:-1]]
        assert below
        kinds: list[type[DOMNode]] = [NooscopeApp, HelpScreen, Document, PathTree, *MindScreen.CARDS]
        for kind in (*kinds, *below):
            assert {name for name in binding_names(kind) if " " not in name} <= told, kind
        await pilot.press("question_mark")
        assert not isinstance(app.screen, HelpScreen)


async def test_keys_of_help_itself() -> None:
    app = Stage(HelpScreen(ScreenSettings(keymap={"transcript.seek": "f7"})), recorded())
    async with app.run_test(size=(80, 24)) as pilot:
        page = app.screen.query_one(TextPage)
        assert page.has_focus and "EVERYWHERE" in app.seen()
        await pilot.press("pagedown")
        assert page.scroll_offset.y > 0
        await pilot.press("end")
        assert "HELP" in app.seen() and page.scroll_offset.y == page.max_scroll_y
        await pilot.press("home", "down", "up")
        assert page.scroll_offset.y == 0
        await pilot.press("slash", *"playhead to this entry")
        assert "f7" in app.seen() and "1 keys" in str(page.border_subtitle)
        await pilot.press("enter")
        assert page.has_focus
        assert app.screen.query_one(Input).display
        await pilot.press("escape")
        assert "EVERYWHERE" in app.seen() and not app.left
        await pilot.press("slash", "[", "b", "]", "enter")
        assert "“[b]”" in app.seen()
        await pilot.press("escape", "escape")
        assert app.left


async def test_it_opens_at_what_it_was_asked_from(app_on: Callable[..., NooscopeApp], log: Path) -> None:
    app = app_on(log, live=False)
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        for keys, first in (("t", "bench"), ("e", "Transcript"), ("m", "Cortical state"), ("3", "Paths")):
            await press_each(pilot, keys, "question_mark")
            screen = app.screen
            assert isinstance(screen, HelpScreen)
            titles = [each.title for each in screen._topics]
            assert titles[0].casefold() == first.casefold(), keys
            assert "Everywhere, but for keys named above" in titles
            assert len(titles) == len(set(titles))
            await press_each(pilot, "escape", *([] if keys == "3" else ["escape"]))


def test_a_star_is_no_mark_and_a_long_sentence_is_wrapped() -> None:
    row = KeyRow("r", "Reset this row, setting or group; again: to built-in", "tune.reset")
    lines = help_lines([Topic("Paths", "A `*` says **so** and *so*.", (row,))], 78)
    said = text(lines)
    assert "A * says so and so." in said
    assert "group; again:" in said and said.endswith("to built-in")


def test_the_keys_that_paths_help_names_are_its_own() -> None:
    keys = {row.keys for row in topic("Paths", (PathTree,), {}, set()).rows}
    assert {"s", "u", "/"} <= keys
    assert "`u` folds" in (PathTree.HELP or "")
