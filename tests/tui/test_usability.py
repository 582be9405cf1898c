"""Small things a person stumbles over: what is typed is seen, and what is offered works."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tui.conftest import shown, until
from tests.tui.screen_app import recorded
from tests.tui.still_app import Observatory
from tui.app import NooscopeApp
from tui.feed.messages import OpenSession
from tui.screens.bench import Bench
from tui.screens.recap import RecapScreen
from tui.widgets.common.key_line import KeyLine
from tui.widgets.common.timeline_cells import LEGEND
from tui.widgets.common.timeline_strip import TimelineStrip
from tui.widgets.main.paths import _title
from tui.widgets.transcript.document import Document

Make = Callable[..., NooscopeApp]


async def test_a_session_that_is_opened_is_shown_whatever_lay_above(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        await pilot.press("e", "m")
        assert len(app.screen_stack) > 1
        app.post_message(OpenSession(log, False))
        await shown(app, pilot, lambda view: view.mode == "replay")
        await until(pilot, lambda: isinstance(app.screen, RecapScreen) and len(app.screen_stack) == 2)


@pytest.mark.parametrize(("keys", "offered"), [(["0"], False), (["1"], True)])
async def test_zoom_is_offered_where_there_is_something_to_zoom(keys: list[str], offered: bool) -> None:
    app = Observatory(recorded(60, 1), 40)
    async with app.run_test(size=(160, 40)) as pilot:
        await pilot.press(*keys)
        await pilot.pause()
        await pilot.pause()
        shown_keys = [key.description.lower() for key in app.screen.query_one(KeyLine).keys]
        assert ("zoom" in shown_keys) is offered


async def test_the_edge_of_the_timeline_explains_its_marks() -> None:
    app = Observatory(recorded(), 420)
    async with app.run_test(size=(200, 60)) as pilot:
        await pilot.pause()
        strip = app.screen.query_one(TimelineStrip)
        marks = "".join(strip.render_line(strip.size.height - 1).text)
        edge = app.screen._compositor.render_strips()[strip.region.y].text
        explained = [glyph for glyph in LEGEND if glyph in edge.partition("   ")[2]]
        assert "│" in explained and explained == [glyph for glyph in LEGEND if glyph in marks]


async def test_the_transcript_goes_where_a_person_goes() -> None:
    app = Observatory(recorded(), 420, screen="transcript")
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        await pilot.press("home", "down", "down")
        app.show(37)
        await pilot.pause()
        document = app.screen.query_one(Document)
        assert document.place == max(place for place in document.places if place <= 36)


async def test_escape_takes_the_bench_beside_away_and_gives_its_room_back() -> None:
    app = Observatory(recorded(60, 1), 40)
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.pause()
        before = app.screen.query_one(KeyLine).keys
        await pilot.press("t", "z")
        await pilot.pause()
        assert app.screen.query(".-side")
        for _ in range(3):
            if app.screen.query(".-side"):
                await pilot.press("escape")
                await pilot.pause()
        assert not app.screen.query(".-side")
        assert app.screen.query_one(KeyLine).keys == before


@pytest.mark.parametrize(("width", "said"), [(8, "  edited"), (5, " edit"), (4, "  ed"), (2, " w"), (1, " ")])
def test_a_title_is_never_cut(width: int, said: str) -> None:
    assert _title(("edited", "edit", "ed", "w"), width) == said


async def test_an_applied_setting_of_a_film_that_stands_still_is_what_later_changes_are_against() -> None:
    app = Observatory(recorded(60, 1), 40, screen="tuning")
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        await pilot.press("right", "right")
        bench = app.screen.query_one(Bench)
        name, value = next(iter(bench.draft.edits.items()))
        await pilot.press("S", "enter")
        await until(pilot, lambda: bench.draft.edits == {})
        assert bench.draft.value(name) == value
        await pilot.press("left")
        assert list(bench.draft.edits) == [name]
