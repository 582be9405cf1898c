"""Lists and sets among the settings, tables typed whole, and what becomes of tables elsewhere."""

from __future__ import annotations

from pathlib import Path

from textual.widgets import Input

from core.settings import Settings
from core.settings.layers import tunables, value_of
from core.settings.listing import SettingRow
from core.store.profiles import read_profile
from tests.tui.screens.test_tuning import choose
from tests.tui.screens.test_tuning_tables import SIZE, TOOLS, TRIGGERS, WORDS, here, listed, opened, problem
from tests.tui.tuning_app import Stage, seen, settle
from tui.feed.messages import Apply
from tui.screens.help import HelpScreen
from tui.widgets.common.key_line import KeyLine
from tui.widgets.tuning.setting_details import TypeLine


async def test_words_of_a_list_are_added_typed_removed_and_brought_back(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    usual = tunables()[WORDS].default
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot, WORDS)
        await pilot.press("down", "I", *"dummy", "enter")
        assert app.bench.draft.value(WORDS) == ("synthetic", "dummy", "none")
        assert here(app).label == "dummy"
        await pilot.press("right", *"fake", "enter")
        assert app.bench.draft.value(WORDS) == ("synthetic", "fake", "none")
        await pilot.press("r")
        assert app.bench.draft.value(WORDS) == usual
        await pilot.press("up", "D")
        assert app.bench.draft.value(WORDS) == ("none",)
        assert "removed" in seen(app)
        listed(app).show(WORDS, ("synthetic",))
        await pilot.press("enter")
        assert app.bench.draft.edits == {}
        await pilot.press("u")
        listed(app).show(WORDS, ("synthetic",))
        await pilot.press("right")
        assert app.bench.draft.edits == {}
        listed(app).show(WORDS)
        await pilot.press("I", *"last", "enter")
        assert app.bench.draft.value(WORDS) == (*usual, "last")
        await settle(pilot)


async def test_some_of_a_few_words_are_switched(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    usual = tunables()[TRIGGERS].default
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot, TRIGGERS)
        await pilot.press("down", "left", "down", "enter")
        assert app.bench.draft.value(TRIGGERS) == usual[2:]
        text = seen(app)
        assert "7 of 9" in text
        assert "off" in text
        await pilot.press("I", "D")
        assert not app.bench.has_class("-typing")
        assert app.bench.draft.value(TRIGGERS) == usual[2:]
        await pilot.press("r")
        assert app.bench.draft.value(TRIGGERS) == usual[1:]
        await pilot.press("up", "right")
        assert app.bench.draft.edits == {}
        await settle(pilot)


async def test_a_table_is_typed_as_a_whole_from_any_of_its_rows(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot, TOOLS, (TOOLS, {"Bash": {"repeat": 4}}))
        await pilot.press("down", "down", "E")
        typed = app.bench.query_one("#typed", Input)
        assert typed.value == '{"Bash" = {"repeat" = 4}}'
        typed.value = "{Bash = {repeat = -1}}"
        await pilot.press("enter")
        assert "not allowed" in problem(app)
        assert typed.has_focus
        typed.value = "{Read = {}, Bash = {repeat = 0}}"
        await pilot.press("enter")
        assert app.bench.draft.value(TOOLS) == {"Read": {}, "Bash": {"repeat": 0}}
        assert "0 rows" in seen(app)
        await settle(pilot)


async def test_a_key_of_ones_own_is_asked_for_by_its_name(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot, "screen.keymap")
        await pilot.press("I")
        assert "tune.undo" in app.bench.query_one(TypeLine).offers
        await pilot.press(*"tune.undo", "enter", *"f7", "enter")
        assert app.bench.draft.edits == {"screen.keymap": {"tune.undo": "f7"}}
        await settle(pilot)


async def test_tables_outlive_a_profile_and_an_apply(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        app.bench.profile_files = app.profile_files
        await opened(pilot, TOOLS)
        await pilot.press("I", *"Bash", "enter", *"repeat", "enter", "right")
        listed(app).show(TRIGGERS)
        await pilot.press("enter", "down", "enter")
        edits = dict(app.bench.draft.edits)
        assert set(edits) == {TOOLS, TRIGGERS}
        await choose(pilot, "profile user")
        await pilot.press(*"mine", "enter", "enter")
        await settle(pilot)
        path = tmp_path / "mine" / "profiles" / "mine.toml"
        assert dict(read_profile(path, "user").values) == edits
        await choose(pilot, "reset")
        assert app.bench.draft.edits == {}
        await pilot.press("S", "end", "enter")
        await settle(pilot)
        assert app.bench.draft.edits == edits
        await choose(pilot, "use")
        await settle(pilot)
        assert any(isinstance(each, Apply) for each in app.asked)
        assert value_of(app.timeline.settings, TOOLS) == edits[TOOLS]
        assert app.bench.draft.edits == {}
        listed(app).show(TOOLS, ("Bash", "repeat"))
        await settle(pilot)
        assert (here(app).edited, here(app).other) == (False, True)


async def test_keys_are_in_the_footer_where_they_do_something_and_all_in_help(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)

        def footer() -> str:
            return seen(app).splitlines()[-1]

        assert "r reset" in footer()
        assert "I add" not in footer()
        await opened(pilot, TOOLS, (TOOLS, {"Bash": {"repeat": 4}}))
        assert "I add E as text" in footer()
        await pilot.press("down", "down")
        await settle(pilot)
        assert "I add D remove E as text" in footer()
        await pilot.press("I")
        await settle(pilot)
        assert "⏎ take it" in footer()
        assert "↑↓ suggestions" in footer()
        assert "esc close" in footer()
        await pilot.press("escape")
        app.push_screen(HelpScreen())
        await pilot.pause()
        assert isinstance(app.screen, HelpScreen)
        listed_keys = {row.id: row.keys for row in app.screen.rows}
        assert listed_keys["tune.add"] == "insert, I"
        assert listed_keys["tune.remove"] == "del, D"
        assert {"edit", "tune.undo", "tune.reset", "tune.save"} <= set(listed_keys)


async def test_while_a_value_is_typed_no_key_is_offered_that_would_be_typed(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    app._bindings.bind("slash", "search", "search")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("enter")
        await pilot.pause()
        assert [key.key for key in app.screen.query_one(KeyLine).keys] == ["enter", "escape"]


async def test_a_search_finds_a_table_and_its_rows_stay_open(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot, TOOLS, (TOOLS, {"Bash": {"repeat": 4}}))
        await pilot.press("3")
        rows = [row for row in listed(app)._rows if isinstance(row, SettingRow)]
        assert [row.tunable.name for row in rows] == [TOOLS]
        assert rows[0].open
        listed(app).show(TOOLS, ("Bash", "repeat"))
        await pilot.press("D")
        await settle(pilot)
        assert listed(app).count_rows() == 0
        await pilot.press("escape")
        assert listed(app).count_rows() > 0


async def test_every_table_opens_at_every_width(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    tables = [each for each in tunables().values() if each.kind == "table"]
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        for table in tables:
            before = listed(app).count_rows()
            listed(app).show(table.name)
            await pilot.press("enter", "down")
            assert listed(app).count_rows() > before
            assert here(app).table.name == table.name
        assert value_of(Settings(), TOOLS) == {}
        assert app.bench.draft.edits == {}
