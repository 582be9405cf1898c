"""Help: the keys of this screen first, complete, and narrowed as one types."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from textual.binding import Binding
from textual.widget import Widget
from textual.widgets import Input

from core.live.status import GLYPHS
from core.settings.program import ScreenSettings
from tests.tui.conftest import press_each, shown
from tests.tui.panel_app import text
from tests.tui.screen_app import Stage, recorded
from tui.app import NooscopeApp
from tui.keys import APP_KEYS
from tui.screens.help import (
    STATUSES,
    HelpScreen,
    KeyRow,
    Topic,
    explanation,
    help_lines,
    key_rows,
    matching_topics,
    topic_texts,
)
from tui.widgets.common.panel import Panel, TextPage
from tui.widgets.main.paths import PathTree
from tui.widgets.transcript.document import Document


def test_a_topic_has_every_binding_once_with_its_keys() -> None:
    seen: set[str] = set()
    rows = key_rows((PathTree,), {}, seen)
    ids = [row.id for row in rows]
    assert len(ids) == len(set(ids)) and set(ids) == seen
    own = {binding.id for binding in PathTree.BINDINGS if isinstance(binding, Binding)}
    assert own <= set(ids)
    assert {row.id: row.keys for row in rows}["search"] == "/"
    assert all(row.does for row in rows)
    assert key_rows((PathTree,), {}, seen) == ()


def test_the_persons_own_keys_are_shown() -> None:
    rows = key_rows((Document,), {"fold": "f7, j"}, set())
    assert {row.id: row.keys for row in rows}["fold"] == "f7, j"


def test_search_keeps_rows_texts_and_named_topics() -> None:
    topics = [
        Topic("Paths", "where the *work* is", (KeyRow("s", "sort", "paths.sort"), KeyRow("x", "fold", "p.f"))),
        Topic("Clock", "three rhythms", ()),
    ]
    assert matching_topics(topics, "SORT paths") == [Topic("Paths", "", (KeyRow("s", "sort", "paths.sort"),))]
    assert matching_topics(topics, "work") == [Topic("Paths", "where the *work* is", ())]
    assert matching_topics(topics, "clock") == [topics[1]]
    assert matching_topics(topics, "nothing at all") == []
    assert matching_topics(topics, "") == topics


def test_prose_lists_and_what_is_set_off() -> None:
    said = "## Title\n\nOne `╎` two\nthree.\n\n* **A** first\n* second that is a little longer than one line\n"
    lines = help_lines([Topic("Title", said, ())], 30)
    assert text(lines) == "TITLE\nOne ╎ two three.\n\n• A first\n• second that is a little\n  longer than one line"
    assert ("╎", "strong") in lines[1] and ("A", "strong") in lines[3]
    assert all(sum(len(piece) for piece, _ in line) <= 30 for line in lines)


async def test_every_key_of_the_app_is_listed_once(app_on: Callable[..., NooscopeApp], log: Path) -> None:
    app = app_on(log, live=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("question_mark")
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, HelpScreen)
        listed = [row.id for row in screen.rows]
        assert len(listed) == len(set(listed))
        assert {binding.id for binding in APP_KEYS if isinstance(binding, Binding)} <= set(listed)
        await pilot.press("question_mark")
        await pilot.pause()
        assert not isinstance(app.screen, HelpScreen)


async def test_help_narrows_as_one_types() -> None:
    app = Stage(HelpScreen(ScreenSettings()), recorded())
    async with app.run_test(size=(80, 24)) as pilot:
        page = app.screen.query_one(TextPage)
        await pilot.pause()
        assert app.screen.query_one(Input).has_focus and "ON THIS SCREEN" in app.seen()
        await pilot.press("pagedown", "down")
        assert page.scroll_offset.y > 1
        await pilot.press(*"sleep")
        await pilot.pause()
        assert "SLEEP AND DREAMS" in app.seen()
        await pilot.press("escape")
        await pilot.pause()
        assert "ON THIS SCREEN" in app.seen() and not app.left
        await pilot.press("[", "b", "]")
        await pilot.pause()
        assert "“[b]”" in app.seen() and "no key or explanation contains this" in app.seen()
        await pilot.press("escape", "escape")
        assert app.left


@pytest.mark.parametrize(
    ("keys", "does"),
    [
        ("t", "Reset this setting or group"),
        ("e", "Move the playhead to this entry"),
        ("m", "Open the Mind tab"),
        ("3", "The transcript of this path"),
    ],
)
async def test_the_keys_of_this_screen_come_first(
    app_on: Callable[..., NooscopeApp], log: Path, keys: str, does: str
) -> None:
    app = app_on(log, live=False)
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        await press_each(pilot, keys, "question_mark")
        screen = app.screen
        assert isinstance(screen, HelpScreen)
        assert [topic.title for topic in screen._topics][:2] == ["On this screen", "Everywhere"]
        assert does in [row.does for row in screen._topics[0].rows]


def test_a_star_is_no_mark_and_a_long_sentence_is_wrapped() -> None:
    row = KeyRow("r", "Reset this row, setting or group; again: to built-in", "tune.reset")
    lines = help_lines([Topic("Paths", "A `*` says **so** and *so*.", (row,))], 78)
    page = text(lines)
    assert "A * says so and so." in page
    assert "group; again:" in page and page.split()[-1] == "built-in"


def test_every_status_is_explained_with_its_sign() -> None:
    words = topic_texts()[STATUSES]
    assert [f"`{sign} {word}`" for word, sign in GLYPHS.items() if f"* `{sign} {word}`: " not in words] == []
    assert words.count("* ") == len(GLYPHS)


def test_every_explanation_belongs_to_a_class_and_every_panel_has_one() -> None:
    importlib.import_module("tui.demo")
    for room in ("tui.screens", "tui.widgets"):
        for module in pkgutil.walk_packages(importlib.import_module(room).__path__, f"{room}."):
            importlib.import_module(module.name)
    kinds = [kind for kind in _subclasses(Widget) if kind.__module__.startswith("tui.")]
    assert set(topic_texts()) - {STATUSES} <= {kind.__name__ for kind in kinds}
    shown = [kind for kind in kinds if issubclass(kind, Panel) and kind.__dict__.get("TITLE")]
    assert len(shown) > 30 and all(explanation(kind) for kind in shown)


def _subclasses(kind: type[Widget]) -> Iterator[type[Widget]]:
    for each in kind.__subclasses__():
        yield each
        yield from _subclasses(each)
