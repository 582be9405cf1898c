"""Behind the rows of tables: shapes read off types, and tables with one row changed."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.settings import Settings
from core.settings.draft import (
    MISSING,
    Draft,
    Drafted,
    TablePath,
    item_at,
    leaf_at,
    shape_of,
    table_rows,
    value_fault,
    with_item,
    with_restored,
    with_toggled,
    without_item,
)
from core.settings.governor import ProfileSettings
from core.settings.layers import tunables
from core.settings.loops import DetectorName
from tui.widgets.tuning.settings_list import suggested_keys, usual_value

TABLES = [each for each in tunables().values() if each.kind == "table"]
TOOLS = "response.loops.tools"
limits = st.dictionaries(
    st.sampled_from(["Bash", "Edit", "pytest"]),
    st.dictionaries(st.sampled_from(get_args(DetectorName)), st.integers(0, 10_000), min_size=1),
)
paths = st.tuples(st.sampled_from(["Bash", "Edit", "new"]), st.sampled_from(get_args(DetectorName)))


def test_shapes_are_those_of_the_types() -> None:
    assert shape_of(TOOLS).levels == ((), get_args(DetectorName))
    assert (shape_of(TOOLS).leaf.low, shape_of(TOOLS).leaf.high) == (0, 10_000)
    assert shape_of("governor.override").levels == (ProfileSettings.__struct_fields__,)
    assert shape_of("screen.keymap").leaf.kind == "text"
    forms = {each.name.rpartition(".")[2]: shape_of(each.name).form for each in TABLES}
    assert forms["triggers"] == forms["authority"] == "set"
    assert forms["command"] == forms["small_words"] == "list"


@pytest.mark.parametrize("figure", ProfileSettings.__struct_fields__)
@pytest.mark.parametrize("profile", ["observing", "aggressive"])
def test_every_figure_has_bounds_and_begins_within_them(figure: str, profile: str) -> None:
    drafted = Drafted(Settings(), {"governor.profile": profile})
    leaf = leaf_at("governor.override", (figure,))
    begin = usual_value("governor.override", (figure,), drafted)
    assert value_fault(leaf, begin) == ""
    assert leaf.high is not None
    assert leaf.allowed() in value_fault(leaf, leaf.high + 1)
    assert Draft(Settings()).set("governor.override", {figure: begin}) == ""


@settings(max_examples=60, deadline=None)
@given(limits, paths, st.integers(0, 10_000))
def test_a_row_put_there_is_there_and_gone_again(table: dict[str, Any], path: TablePath, value: int) -> None:
    before = {key: dict(item) for key, item in table.items()}
    made = with_item(table, path, value)
    assert item_at(made, path) == value
    assert item_at(without_item(made, path), path) is MISSING
    if item_at(table, path) is MISSING:
        assert without_item(made, path) == before
    assert table == before


@settings(max_examples=60, deadline=None)
@given(limits, limits)
def test_all_rows_reset_are_the_table_in_force(now: dict[str, Any], force: dict[str, Any]) -> None:
    shape = shape_of(TOOLS)
    every = {(tool, name) for table in (now, force) for tool in table for name in table[tool]}
    for path in sorted(every):
        value = with_restored(shape, now, path, force)
        now = now if value is MISSING else value
    assert now == force


@settings(max_examples=60, deadline=None)
@given(st.sets(st.integers(0, 8)), st.integers(0, 8))
def test_a_switch_turned_twice_is_as_it_was(chosen: set[int], place: int) -> None:
    words = shape_of("affect.fields.escalation.triggers").levels[0]
    table = tuple(word for number, word in enumerate(words) if number in chosen)
    once = with_toggled(words, table, words[place])
    assert (words[place] in once) != (words[place] in table)
    assert with_toggled(words, once, words[place]) == table
    assert with_toggled(words, once, words[place], table[::-1]) == table[::-1]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_table_has_rows_and_knows_what_it_offers(table: Any) -> None:
    rows = table_rows(table, Drafted(Settings(), {}))
    assert rows
    assert not any(row.edited or row.other for row in rows)
    assert len({row.path for row in rows}) == len(rows)
    words = suggested_keys(table.name, (), None)
    assert len(set(words)) == len(words)


def test_what_is_offered_is_what_is_known() -> None:
    assert "ask_person" in suggested_keys("response.notices.muted", (), None)
    assert "AskUserQuestion" not in suggested_keys(TOOLS, ("Bash",), None)
    assert suggested_keys(TOOLS, ("Bash",), None) == get_args(DetectorName)
    assert suggested_keys("mind.tiers.small_words", (), None) == ()
