"""Tables among the settings, typed as TOML, and what becomes of them elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from core.settings.draft import SettingRow
from core.settings.layers import tunables, value_of
from core.store.profiles import read_profile
from tests.tui.screens.test_tuning import choose
from tests.tui.tuning_app import Stage, seen, settle
from tui.feed.messages import Apply
from tui.widgets.common.key_line import KeyLine
from tui.widgets.tuning.settings_list import SettingDetails, SettingsList

SIZE = (120, 40)
TOOLS = "response.loops.tools"
OVERRIDE = "governor.override"
WORDS = "mind.tiers.none_words"
TRIGGERS = "affect.fields.escalation.triggers"


def listed(app: Stage) -> SettingsList:
    return app.bench.query_one(SettingsList)


async def typing(pilot: Any, name: str) -> Input:
    """The line with the value of a setting on it."""
    app = pilot.app
    assert isinstance(app, Stage)
    await settle(pilot)
    listed(app).show(name)
    await pilot.pause()
    await pilot.press("enter")
    await settle(pilot)
    line = app.bench.query_one("#typed", Input)
    assert line.has_focus
    return line


@pytest.mark.parametrize(
    ("name", "before", "typed", "after"),
    [
        (TOOLS, "{}", '{"Read" = {}, Bash = {repeat = 0}}', {"Read": {}, "Bash": {"repeat": 0}}),
        (WORDS, '["synthetic", "none"]', '["dummy"]', ("dummy",)),
        (TRIGGERS, None, '["competing"]', None),
    ],
)
async def test_a_table_is_typed_refused_and_reset(
    tmp_path: Path, name: str, before: str | None, typed: str, after: Any
) -> None:
    app = Stage(tmp_path)
    usual = tunables()[name].default
    async with app.run_test(size=SIZE) as pilot:
        line = await typing(pilot, name)
        assert before is None or line.value == before
        line.value = "{Bash = {repeat = -1}}" if name == TOOLS else "[1"
        await pilot.press("enter")
        assert app.bench.query_one(SettingDetails).said.problem
        assert line.has_focus and app.bench.draft.edits == {}
        if after is not None:
            line.value = typed
            await pilot.press("enter")
            assert app.bench.draft.value(name) == after
            assert f"{len(after)} item" in seen(app)
            await pilot.press("r")
        else:
            await pilot.press("escape")
        assert app.bench.draft.value(name) == usual
        await settle(pilot)


async def test_a_table_changes_what_would_have_fired(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        line = await typing(pilot, OVERRIDE)
        line.value = "{max_steps = 20}"
        await pilot.press("enter")
        await settle(pilot)
        compared = app.bench.effects.compared
        assert compared is not None and compared.complete
        assert {mark.name for _, _, mark in compared.changes()}
        await pilot.press("u")
        assert app.bench.draft.edits == {}
        await settle(pilot)


async def test_tables_outlive_a_profile_and_an_apply(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        app.bench.profile_files = app.profile_files
        line = await typing(pilot, TOOLS)
        line.value = "{Bash = {repeat = 15}}"
        await pilot.press("enter")
        edits = dict(app.bench.draft.edits)
        assert set(edits) == {TOOLS}
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


async def test_while_a_value_is_typed_no_key_is_offered_that_would_be_typed(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    app._bindings.bind("slash", "search", "search")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("enter")
        await pilot.pause()
        assert [key.key for key in app.screen.query_one(KeyLine).keys] == ["enter", "escape"]


async def test_a_list_of_changed_settings_has_the_table(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        line = await typing(pilot, TOOLS)
        line.value = "{Bash = {repeat = 4}}"
        await pilot.press("enter", "3")
        rows = [row for row in listed(app)._rows if isinstance(row, SettingRow)]
        assert [row.tunable.name for row in rows] == [TOOLS]
        await pilot.press("r")
        await settle(pilot)
        assert listed(app).count_rows() == 0
        await pilot.press("escape")
        assert listed(app).count_rows() > 0
