"""Tables of settings: every key that opens, fills, turns and clears their rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest
from textual.widgets import Input

from core.events import ToolUse
from core.settings.draft import TableRow
from core.settings.layers import Given, Layer, resolve
from core.settings.loops import DetectorName
from tests.tui.tuning_app import Stage, seen, settle
from tui.feed.messages import Failed
from tui.widgets.tuning.setting_details import SettingDetails, TypeLine
from tui.widgets.tuning.settings_list import SettingsList

SIZE = (120, 40)
TOOLS = "response.loops.tools"
OVERRIDE = "governor.override"
WORDS = "mind.tiers.none_words"
TRIGGERS = "affect.fields.escalation.triggers"


def listed(app: Stage) -> SettingsList:
    return app.bench.query_one(SettingsList)


def here(app: Stage) -> TableRow:
    row = listed(app).chosen
    assert isinstance(row, TableRow)
    return row


def problem(app: Stage) -> str:
    return app.bench.query_one(SettingDetails).said.problem


async def opened(pilot: Any, name: str, *edits: tuple[str, Any]) -> Stage:
    """The stage with a table open and some values in it already."""
    app = pilot.app
    assert isinstance(app, Stage)
    await settle(pilot)
    for known, value in edits:
        assert app.bench.draft.set(known, value) == ""
    app.bench._show()
    listed(app).show(name)
    await pilot.pause()
    await pilot.press("enter")
    await settle(pilot)
    return app


async def test_an_empty_table_says_what_to_press_and_enter_closes_it(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, TOOLS)
        assert "nothing yet; I adds a row" in seen(app)
        rows = listed(app).count_rows()
        await pilot.press("down")
        assert here(app).state == "hint"
        assert "I adds a row" in seen(app)
        await pilot.press("left")
        assert listed(app).count_rows() == rows - 1
        assert listed(app).name_here == TOOLS
        await pilot.press("enter", "down", "right")
        assert app.bench.query_one(TypeLine).has_focus
        await pilot.press("escape", "up", "enter")
        assert listed(app).count_rows() == rows - 1
        await pilot.press("right")
        assert listed(app).count_rows() == rows
        await pilot.press("left")
        assert listed(app).count_rows() == rows - 1


async def test_a_limit_of_a_tool_is_added_moved_and_undone(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot, TOOLS)
        await pilot.press("I", *"Bash", "enter")
        line = app.bench.query_one(TypeLine)
        assert line.has_focus
        assert line.offers == get_args(DetectorName)
        assert "which detector?" in seen(app)
        assert app.bench.draft.edits == {}
        await pilot.press(*"repeat", "enter")
        await settle(pilot)
        assert app.bench.draft.edits == {TOOLS: {"Bash": {"repeat": 6}}}
        assert here(app).path == ("Bash", "repeat")
        assert listed(app).has_focus
        assert app.bench.effects.compared is not None
        assert app.bench.effects.compared.edits == app.bench.draft.edits
        await pilot.press("right", "right")
        assert app.bench.draft.value(TOOLS) == {"Bash": {"repeat": 15}}
        await settle(pilot)
        assert app.bench.effects.compared is not None
        assert app.bench.effects.compared.edits == {TOOLS: {"Bash": {"repeat": 15}}}
        await pilot.press("u")
        assert app.bench.draft.value(TOOLS) == {"Bash": {"repeat": 6}}
        await pilot.press("u")
        assert app.bench.draft.edits == {}
        await pilot.press("U", "U")
        await settle(pilot)
        assert app.bench.draft.value(TOOLS) == {"Bash": {"repeat": 15}}


async def test_a_table_changes_what_would_have_fired(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot, OVERRIDE)
        await pilot.press("I", *"max_steps", "enter", "enter")
        app.bench.query_one("#typed", Input).value = "20"
        await pilot.press("enter")
        await settle(pilot)
        compared = app.bench.effects.compared
        assert compared is not None
        assert compared.complete
        assert {mark.name for _, _, mark in compared.changes()}


async def test_a_second_row_goes_beside_or_inside(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot, TOOLS, (TOOLS, {"Bash": {"repeat": 4}}))
        await pilot.press("down", "down", "I")
        assert "repeat" not in app.bench.query_one(TypeLine).offers
        await pilot.press(*"ret", "enter")
        assert app.bench.draft.value(TOOLS) == {"Bash": {"repeat": 4, "retest": 0}}
        await pilot.press("up", "up", "enter", *"stalled", "enter")
        assert app.bench.draft.value(TOOLS) == {"Bash": {"repeat": 4, "retest": 0, "stalled": 0}}
        await pilot.press("up", "up", "up", "up", "insert", *"Edit", "enter", *"osc", "down", "enter")
        assert app.bench.draft.value(TOOLS)["Edit"] == {"oscillation": 3}
        assert here(app).path == ("Edit", "oscillation")
        await settle(pilot)


async def test_known_names_are_offered_and_chosen_by_arrows(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot, TOOLS)
        await pilot.press("I")
        line = app.bench.query_one(TypeLine)
        used = {event.tool for event in app.timeline.events if isinstance(event, ToolUse)}
        assert used <= set(line.offers)
        assert "apply_patch" in line.offers
        assert line.offers[0] in seen(app)
        await pilot.press(*"patc")
        assert line.fitting[0] == "patch"
        assert "apply_patch" in line.fitting
        await pilot.press("down")
        assert line.value == "patch"
        await pilot.press("down")
        assert line.value == "apply_patch"
        await pilot.press("up")
        assert line.value == "patch"
        line.value = "gr"
        await pilot.press("down")
        assert line.value.casefold().startswith("gr")
        assert line.has_focus
        await pilot.press("escape")
        assert listed(app).has_focus
        assert app.bench.draft.edits == {}


@pytest.mark.parametrize(
    ("name", "keys", "said"),
    [
        (TOOLS, ("I", "enter"), "cannot be empty"),
        (TOOLS, ("I", *"Bash", "enter", *"zzz", "enter"), "one of repeat, failing, oscillation, retest"),
        (OVERRIDE, ("I", *"max_stepps", "enter"), "did you mean max_steps?"),
        (OVERRIDE, ("I", *"max_steps", "enter", "enter", *"3", "enter"), "a whole number from 5 to 100000"),
        (OVERRIDE, ("I", *"max_steps", "enter", "enter", *"50.5", "enter"), "a whole number"),
        (OVERRIDE, ("I", *"inertia", "enter", "enter", *"nonsense", "enter"), "a number from 0.01 to 0.99"),
        (WORDS, ("I", "enter"), "cannot be empty"),
        ("screen.keymap", ("I", *"tune.undo", "enter", "enter"), "cannot be empty"),
    ],
)
async def test_what_cannot_be_is_refused_at_the_line(
    name: str, keys: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot, name)
        await pilot.press(*keys)
        await settle(pilot)
        assert said in problem(app)
        assert "✗" in seen(app)
        assert app.bench.query_one(TypeLine).has_focus
        before = app.bench.draft.value(name)
        await pilot.press("escape")
        assert listed(app).has_focus
        assert app.bench.draft.value(name) == before
        assert problem(app) == ""


async def test_a_key_that_is_there_is_not_added_again(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot, OVERRIDE, (OVERRIDE, {"inertia": 0.5}))
        await pilot.press("I", *"inertia", "enter")
        assert "already exists" in problem(app)
        assert app.bench.draft.value(OVERRIDE) == {"inertia": 0.5}
        await settle(pilot)


async def test_a_figure_begins_with_what_holds_and_keeps_its_bounds(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot, OVERRIDE, ("governor.profile", "conservative"))
        await pilot.press("I", *"max_risk", "enter")
        assert app.bench.draft.value(OVERRIDE) == {"max_risk": 0.8}
        assert "without it 0.8" in seen(app)
        await pilot.press("enter")
        app.bench.query_one(TypeLine).value = "1.9"
        await pilot.press("enter", *["right"] * 5)
        assert app.bench.draft.value(OVERRIDE) == {"max_risk": 2.0}
        await pilot.press("left")
        assert app.bench.draft.value(OVERRIDE) == {"max_risk": 1.95}
        await pilot.press("enter")
        typed = app.bench.query_one(TypeLine)
        assert typed.value == "1.95"
        typed.value = "0.333"
        await pilot.press("enter")
        assert app.bench.draft.value(OVERRIDE) == {"max_risk": 0.333}
        await settle(pilot)


async def test_a_row_is_removed_and_the_last_takes_its_tool_along(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot, TOOLS, (TOOLS, {"Bash": {"repeat": 4, "retest": 9}, "Edit": {"stalled": 0}}))
        await pilot.press("down", "down", "D")
        assert app.bench.draft.value(TOOLS) == {"Bash": {"retest": 9}, "Edit": {"stalled": 0}}
        assert here(app).path == ("Bash", "retest")
        await pilot.press("delete")
        assert app.bench.draft.value(TOOLS) == {"Edit": {"stalled": 0}}
        await pilot.press("u")
        assert app.bench.draft.value(TOOLS) == {"Bash": {"retest": 9}, "Edit": {"stalled": 0}}
        listed(app).show(TOOLS, ("Bash",))
        await pilot.press("D")
        assert app.bench.draft.value(TOOLS) == {"Edit": {"stalled": 0}}
        listed(app).show(TOOLS, ("Edit", "stalled"))
        await pilot.press("D")
        assert app.bench.draft.edits == {}
        assert listed(app).name_here == TOOLS
        await settle(pilot)


async def test_reset_of_a_row_of_the_table_and_again_to_what_is_built_in(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    force = {"Bash": {"repeat": 7}, "Read": {"retest": 0}}
    app.timeline.apply(resolve([Layer("x", (Given(TOOLS, force),))]).settings)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot, TOOLS, (TOOLS, {"Bash": {"repeat": 9, "retest": 3}}))
        text = seen(app)
        assert "removed" in text
        assert "in force 7" not in text
        listed(app).show(TOOLS, ("Bash", "repeat"))
        await pilot.pause()
        assert "in force 7" in seen(app)
        await pilot.press("r")
        assert app.bench.draft.value(TOOLS) == {"Bash": {"repeat": 7, "retest": 3}}
        listed(app).show(TOOLS, ("Bash", "retest"))
        await pilot.press("r")
        assert app.bench.draft.value(TOOLS) == {"Bash": {"repeat": 7}}
        listed(app).show(TOOLS, ("Read",))
        await pilot.pause()
        assert here(app).state == "gone"
        await pilot.press("r")
        assert app.bench.draft.edits == {}
        await pilot.press("D", "enter")
        assert app.bench.draft.edits == {}
        await pilot.press("r")
        assert app.bench.draft.value(TOOLS) == {"Bash": {"repeat": 7}}
        listed(app).show(TOOLS)
        await pilot.press("r")
        assert app.bench.draft.edits == {}
        await pilot.press("r")
        assert app.bench.draft.edits == {TOOLS: {}}
        await pilot.press("r", "r")
        assert app.bench.draft.value(TOOLS) == {}
        await settle(pilot)


async def test_reset_of_a_built_in_row_says_so(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot, WORDS)
        await pilot.press("down", "r")
        await settle(pilot)
        assert isinstance(app.asked[-1], Failed)
