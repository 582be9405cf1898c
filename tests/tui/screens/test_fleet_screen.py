"""The fleet on the screen: who stands where, every key of the list, and what is seen."""

from __future__ import annotations

import asyncio
import os
from functools import partial
from pathlib import Path

import pytest
from textual.widgets import Input

from core.live.fleet.row import VIEWS, FleetRow, Heading
from core.live.hook_signs import HookBoard
from core.report.plan_limits import PlanLimit
from core.settings import Settings
from tests.tui.conftest import until
from tests.tui.fleet_app import FleetApp, names, read, said, seen, table
from tests.tui.fleet_sessions import NOW, STORIES, begin, tell
from tui.screens.compare import CompareScreen
from tui.screens.fleet import FleetScreen
from tui.screens.palette import app_commands
from tui.widgets.common.key_line import KeyLine
from tui.widgets.fleet.fleet_table import FleetTable


@pytest.fixture
def app(tmp_path: Path, still: Settings) -> FleetApp:
    tell(tmp_path)
    begin(tmp_path, "asks", 20, 50).write()
    return FleetApp(tmp_path, still)


async def test_who_needs_a_person_stands_first(app: FleetApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: read(app, len(STORIES) + 1))
        lines = seen(app)
        assert "▲ needs you" in lines[1] and "asks" in lines[1] and "40s" in lines[1]
        assert "△ may need you" in lines[2]
        assert "↻ looping" in lines[3]
        assert any("△ may need you" in line and "6m" in line for line in lines)
        assert "▲ 4 need you" in said(app, "title")
        assert "asks you something (AskUserQuestion)" in said(app, "detail")
        assert "log silent for 40s" in said(app, "detail")


async def test_a_session_without_hooks_shows_its_share_of_the_plan(app: FleetApp) -> None:
    async with app.run_test(size=(200, 40)) as pilot:
        await until(pilot, lambda: read(app, len(STORIES) + 1))
        screen = app.screen
        assert isinstance(screen, FleetScreen)
        assert "limit" not in said(app, "detail")
        limit = PlanLimit("claude-code", 300, 0.4, NOW + 3600.0, NOW)
        app.hooks = HookBoard(limits=(limit, limit._replace(agent="codex", used=0.77)))
        await until(pilot, lambda: "5h limit 40%, resets" in said(app, "detail"))
        assert "by this session (by its cost and tokens)" in said(app, "detail")
        assert "77%" not in said(app, "detail")
        assert all(row.signs is not None and not row.signs.heard for row in screen.rows)


async def test_the_cursor_keys(app: FleetApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: read(app, 10))
        where = []
        for key in ("down", "down", "up", "end", "home", "pagedown", "pageup"):
            await pilot.press(key)
            chosen = table(app).chosen
            where.append(names(app).index(chosen.name) if chosen else -1)
        assert where[:5] == [1, 2, 1, 9, 0]
        assert where[5:] == [9, 0]
        await pilot.press("down")
        assert "Edit may be asking for permission (unusually slow)" in said(app, "detail")


async def test_escape_is_named_by_what_it_does_and_only_where_it_does_something(app: FleetApp) -> None:
    def escape() -> str:
        keys = app.screen.query_one(KeyLine).keys
        return next((key.description for key in keys if key.key == "escape"), "")

    def shows(word: str) -> bool:
        return escape() == word

    async with app.run_test(size=(160, 40)) as pilot:
        await until(pilot, lambda: read(app, 10))
        await until(pilot, lambda: bool(app.screen.query_one(KeyLine).keys))
        for key, word in (("2", "list all"), ("escape", ""), ("slash", "clear"), ("enter", "list all"), ("escape", "")):
            await pilot.press(key)
            await pilot.pause()
            await until(pilot, partial(shows, word))


async def test_the_views_go_round(app: FleetApp) -> None:
    async with app.run_test(size=(160, 40)) as pilot:
        await until(pilot, lambda: read(app, 10))
        first = names(app)
        tops = []
        for view in VIEWS[2:]:
            await pilot.press("v")
            assert f"by {view}" in said(app, "title")
            assert "▾" in seen(app)[0]
            assert ("for▾" in seen(app)[0]) is (view == "recent")
            tops.append(names(app)[0])
        assert tops[:4] == ["brims", "flows", "circles", "brims"]
        most = max(app.screen.rows, key=lambda row: row.frustration)  # type: ignore[attr-defined]
        assert tops[4] == most.name
        assert "flow" in seen(app)[0] and "title" not in seen(app)[0]
        await pilot.press("v")
        assert "by project" in said(app, "title")
        await pilot.press("v")
        assert names(app) == first


async def test_the_cursor_stays_with_its_session(app: FleetApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: read(app, 10))
        await pilot.press("down", "down")
        chosen = table(app).chosen
        assert chosen is not None and chosen.name == "circles"
        await pilot.press("v")
        assert table(app).chosen == chosen
        assert names(app).index("circles") != 2


async def test_it_opens_grouped_by_project(tmp_path: Path, still: Settings) -> None:
    tell(tmp_path)
    begin(tmp_path, "asks", 20, 50).write()
    app = FleetApp(tmp_path, still, grouped=True)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: read(app, 10))
        items = table(app).items
        assert isinstance(items[0], Heading) and items[0].name == "asks"
        assert "asks 2 sessions  ▲ 1 needs you" in seen(app)[1]
        await pilot.press("home")
        await pilot.press("down", "down")
        chosen = table(app).chosen
        assert chosen is not None and chosen.name == "permits"
        assert len([item for item in table(app).items if isinstance(item, Heading) and item.rows]) == 1
        await pilot.press("v")
        assert not any(isinstance(item, Heading) for item in table(app).items)


@pytest.mark.parametrize(
    ("key", "listed"),
    [
        ("2", {"needs you", "may need you"}),
        ("3", {"looping"}),
        ("4", {"working", "idle"}),
        ("5", {"done"}),
        ("6", {"ended"}),
    ],
)
async def test_a_number_lists_one_status(app: FleetApp, key: str, listed: set[str]) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: read(app, 10))
        await pilot.press(key)
        rows = [item for item in table(app).items if isinstance(item, FleetRow)]
        assert {row.status.word for row in rows} == listed
        assert f"{len(rows)} of 10 shown" in said(app, "title")
        await pilot.press(key)
        assert len(names(app)) == 10


async def test_two_marked_sessions_are_compared(app: FleetApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: read(app, 10))
        await pilot.press("b")
        await pilot.pause()
        lines = [table(app).row(number, 118) for number in range(len(table(app).items))]
        assert ["⚑" in "".join(text for text, _ in line) for line in lines].count(True) == 1
        await pilot.press("down", "b")
        await until(pilot, lambda: isinstance(app.screen, CompareScreen) and app.screen.compared is not None)
        screen = app.screen
        assert isinstance(screen, CompareScreen)
        start = screen.playhead
        await pilot.press("left")
        assert screen.playhead == start - 1
        text = "\n".join(strip.text for strip in screen._compositor.render_strips())
        assert "A  " in text and "B  " in text and "duration" in text and f"move {start:,} of" in text
        await pilot.press("right")
        assert screen.playhead == start
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, FleetScreen))
        assert app.screen.order.marked == ()  # type: ignore[attr-defined]


async def test_filtering_and_coming_back(app: FleetApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: read(app, 10))
        await pilot.press("slash", *"loop")
        assert names(app) == ["circles"]
        await pilot.press("enter")
        assert app.focused is table(app)
        chosen = table(app).chosen
        assert chosen is not None and chosen.name == "circles"
        await pilot.press("escape")
        assert len(names(app)) == 10
        assert app.screen.query_one(Input).value == ""
        await pilot.press("slash", *"zzz")
        assert "no sessions to show: the filter is “zzz” (esc lists all)" in "\n".join(seen(app))
        assert table(app).chosen is None


async def test_a_click_on_a_title_sorts_by_it(app: FleetApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: read(app, 10))
        head = seen(app)[0]
        await pilot.click(FleetTable, offset=(table(app).gutter.left + head.index("$"), 0))
        await pilot.pause()
        assert "$▾" in seen(app)[0] and "by cost" in said(app, "title")
        await pilot.click(FleetTable, offset=(table(app).gutter.left + head.index("status"), 0))
        await pilot.pause()
        assert "status▾" in seen(app)[0]
        assert app.opened == []


async def test_a_click_chooses_and_two_open(app: FleetApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: read(app, 10))
        await pilot.click(FleetTable, offset=(20, 3))
        chosen = table(app).chosen
        assert chosen is not None and chosen.name == "circles"
        await pilot.click(FleetTable, offset=(20, 3), times=2)
        await until(pilot, lambda: bool(app.opened))
        assert app.opened[0].session == chosen.session


async def test_an_empty_machine_says_so_until_somebody_comes(tmp_path: Path, still: Settings) -> None:
    quick = still.screen.fleet.replace(search=1.0)
    settings = still.replace(screen=still.screen.replace(fleet=quick))
    (tmp_path / ".claude" / "projects").mkdir(parents=True)
    app = FleetApp(tmp_path, settings)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.screen.has_class("-empty"))
        hints = said(app, "nothing")
        assert "No sessions found" in hints
        for hint in ("npm install -g @anthropic-ai/claude-code", "npm install -g @openai/codex", "nooscope demo"):
            assert hint in hints
        begin(tmp_path, "late", 1, 5).write()
        await until(pilot, lambda: read(app, 1))
        assert names(app) == ["late"]
        await until(pilot, lambda: app.focused is table(app))


async def stopped(app: FleetApp) -> None:
    """Wait until nothing more comes."""
    watch = app._others._watch
    assert watch is not None
    watch.stop()
    await asyncio.to_thread(watch.join, 60.0)


async def test_a_picture_that_grows_old_is_said_to_be_old(app: FleetApp, monkeypatch: pytest.MonkeyPatch) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: read(app, 10))
        screen = app.screen
        assert isinstance(screen, FleetScreen)
        await stopped(app)
        await pilot.pause()
        assert "not updated" not in said(app, "title")
        screen._arrived -= 42.0
        screen._title()
        assert "! not updated for 42s" in said(app, "title")


async def test_a_log_that_grows_is_seen(tmp_path: Path, still: Settings) -> None:
    log = begin(tmp_path, "api", 1, 5).write()
    app = FleetApp(tmp_path, still)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: read(app, 1))
        log.at = NOW - 1
        log.call("AskUserQuestion", questions=[])
        log.write()
        await until(pilot, lambda: "▲ needs you" in seen(app)[1])


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (120, 40), (200, 60)])
async def test_nothing_is_clipped(app: FleetApp, size: tuple[int, int]) -> None:
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: read(app, 10))
        width = table(app).size.width
        for line in seen(app)[1:11]:
            assert len(line) <= width
        assert "asks" in seen(app)[1]
        assert len(said(app, "detail").splitlines()) >= 3


async def test_what_they_are_about(app: FleetApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: read(app, 10))
        head = seen(app)[0].split()
        assert [word for word in ("title", "ctx", "$", "failed") if word in head] == ["title", "ctx", "$", "failed"]
        (circles,) = (line for line in seen(app) if "circles" in line)
        assert "do it please" in circles and "$0." in circles and "16/19" in circles
        assert "today $" in said(app, "title")


async def test_sessions_at_rest_share_a_line(tmp_path: Path, still: Settings) -> None:
    for number in range(6):
        begin(tmp_path, f"old{number}", 30 + number, 9000 + 60 * number).write()
    app = FleetApp(tmp_path, still)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: read(app, 6))
        assert "3 more sessions at rest, the newest 2h ago, $" in seen(app)[4]
        await pilot.press("end")
        assert table(app).chosen is not None
        await pilot.press("o")
        assert len([line for line in seen(app) if "old" in line]) == 6
        await pilot.press("o")
        assert "(o lists them)" in seen(app)[4]
        await pilot.click(FleetTable, offset=(20, 4))
        await pilot.pause()
        assert len([line for line in seen(app) if "old" in line]) == 6


async def test_sessions_of_long_ago_are_listed_unread_behind_the_fold(tmp_path: Path, still: Settings) -> None:
    tell(tmp_path)
    within = still.screen.fleet.replace(within=0.1)
    settings = still.replace(screen=still.screen.replace(fleet=within))
    for path in tmp_path.rglob("*.jsonl"):
        os.utime(path, (NOW - 90_000, NOW - 90_000))
    app = FleetApp(tmp_path, settings)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, FleetScreen) and bool(app.screen.rows))
        assert isinstance(app.screen, FleetScreen)
        assert {row.status.word for row in app.screen.rows} == {"ended"}
        assert names(app)[-1] == "at rest"
        await pilot.press("o")
        await until(pilot, lambda: len(names(app)) == len(STORIES))
        await pilot.press("enter")
        await until(pilot, lambda: len(app.opened) == 1)
        assert not app.opened[0].live


async def test_one_key_hides_titles_and_questions_and_shows_them_again(app: FleetApp) -> None:
    async with app.run_test(size=(200, 40)) as pilot:
        app.action_fleet()
        await until(pilot, lambda: read(app, 10))
        titles = [row.title for row in app.screen.rows if row.title]  # type: ignore[attr-defined]
        shown = [title for title in titles if any(title[:12] in line for line in seen(app))]
        assert shown
        await pilot.press("h")
        await pilot.pause()
        assert not any(title[:12] in line for title in shown for line in [*seen(app), said(app, "detail")])
        assert not app.words and names(app)
        await pilot.press("h")
        await pilot.pause()
        assert all(any(title[:12] in line for line in seen(app)) for title in shown)


async def test_the_cursor_moves_with_every_key_after_filtering_and_answering(app: FleetApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: read(app, 10))
        await pilot.press("down", "2", "y")
        await pilot.pause()
        before = [item.key for item in table(app).items if isinstance(item, FleetRow)]
        chosen = table(app).chosen
        assert chosen is not None
        place = before.index(chosen.key)
        assert place > 0
        await pilot.press("up")
        moved = table(app).chosen
        assert moved is not None and moved.key == before[place - 1]


async def test_the_clock_may_ask_for_the_title_while_the_screen_is_taken_away(app: FleetApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: read(app, 10))
        screen = app.screen
        assert isinstance(screen, FleetScreen)
        await screen.remove_children()
        screen._title()


async def test_rows_are_drawn_anew_while_the_frame_around_them_stays(app: FleetApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: read(app, 10))
        screen = app.screen
        assert isinstance(screen, FleetScreen)
        await stopped(app)
        screen._clock.pause()
        await pilot.pause()
        screen.now += 7_200.0
        screen._lay_out()
        await pilot.pause()
        shown = [strip.text for strip in screen._compositor.render_strips()]
        screen.query_one(FleetTable).refresh()
        await pilot.pause()
        assert shown == [strip.text for strip in screen._compositor.render_strips()]
        await pilot.press("down")
        await pilot.pause()
        moved = [[(one.text, one.style) for one in strip] for strip in screen._compositor.render_strips()]
        screen.query_one(FleetTable).refresh()
        await pilot.pause()
        again = [[(one.text, one.style) for one in strip] for strip in screen._compositor.render_strips()]
        assert moved == again


async def test_the_command_to_export_names_the_session_under_the_cursor(app: FleetApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: read(app, 10))
        chosen = table(app).chosen
        assert chosen is not None
        offers = {name: run for name, _, run in app_commands(app, app.screen)}
        offers["Export: a page that plays a session"]()
        assert app.clipboard == f"nooscope export {chosen.path} --format html --out session.html"
