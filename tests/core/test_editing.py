"""Changes to a draft: what one undo takes back, and what is refused."""

from __future__ import annotations

import pytest

from core.settings import Settings
from core.settings.draft import Draft, Editing

OFFSET = "receptor.ambient.offset.frustration"
LOW = "receptor.ambient.low"
TOOLS = "response.loops.tools"


@pytest.fixture
def editing() -> Editing:
    return Editing(Draft(Settings()))


def test_moves_of_one_slider_are_undone_together(editing: Editing) -> None:
    before = editing.draft.value(OFFSET)
    for _ in range(3):
        assert editing.nudge(OFFSET, 1, fine=False) == ""
    assert editing.draft.value(OFFSET) > before
    assert editing.undo()
    assert editing.draft.edits == {}
    assert editing.redo()
    assert editing.draft.value(OFFSET) > before


def test_another_slider_or_a_pause_begins_another_change(editing: Editing) -> None:
    editing.nudge(OFFSET, 1, fine=False)
    first = editing.draft.value(OFFSET)
    editing.end_nudges()
    editing.nudge(OFFSET, 1, fine=False)
    editing.nudge(LOW, 1, fine=False)
    editing.undo()
    assert set(editing.draft.edits) == {OFFSET}
    editing.undo()
    assert editing.draft.value(OFFSET) == first


def test_what_is_refused_changes_nothing(editing: Editing) -> None:
    assert "a number from 0 to 0.8" in editing.type(OFFSET, "9.0")
    assert "not allowed" in editing.type(TOOLS, "{Bash = {repeat = -1}}")
    assert "not allowed" in editing.type(TOOLS, "{Bash = ")
    assert editing.draft.edits == {}


def test_a_table_is_typed_as_toml(editing: Editing) -> None:
    assert editing.type(TOOLS, "{Bash = {repeat = 40}}") == ""
    assert editing.draft.value(TOOLS) == {"Bash": {"repeat": 40}}
    assert editing.undo()
    assert editing.draft.edits == {}
