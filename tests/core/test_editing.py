"""Changes to a draft: what one undo takes back, and what is refused."""

from __future__ import annotations

import pytest

from core.settings import Settings
from core.settings.draft import Draft, Editing, TableRow, table_rows
from core.settings.layers import tunables

OFFSET = "receptor.ambient.offset.frustration"
LOW = "receptor.ambient.low"
TOOLS = "response.loops.tools"
MUTED = "response.notices.muted"


@pytest.fixture
def editing() -> Editing:
    return Editing(Draft(Settings()))


def row_of(editing: Editing, name: str, label: str) -> TableRow:
    rows = table_rows(tunables()[name], editing.draft.drafted)
    return next(row for row in rows if row.label == label)


def test_moves_of_one_slider_are_undone_together(editing: Editing) -> None:
    before = editing.draft.value(OFFSET)
    for _ in range(3):
        assert editing.nudge(OFFSET, None, 1, fine=False) == ""
    assert editing.draft.value(OFFSET) > before
    assert editing.undo()
    assert editing.draft.edits == {}
    assert editing.redo()
    assert editing.draft.value(OFFSET) > before


def test_another_slider_or_a_pause_begins_another_change(editing: Editing) -> None:
    editing.nudge(OFFSET, None, 1, fine=False)
    first = editing.draft.value(OFFSET)
    editing.end_nudges()
    editing.nudge(OFFSET, None, 1, fine=False)
    editing.nudge(LOW, None, 1, fine=False)
    editing.undo()
    assert set(editing.draft.edits) == {OFFSET}
    editing.undo()
    assert editing.draft.value(OFFSET) == first


def test_what_is_refused_changes_nothing(editing: Editing) -> None:
    assert "a number from 0 to 0.8" in editing.set(OFFSET, 9.0)
    assert "is not allowed" in editing.set_row(TOOLS, ("Bash", "repeat"), -1)
    assert editing.insert_word(MUTED, 0, "") == "it cannot be empty"
    assert editing.draft.edits == {}


def test_rows_come_go_and_come_back(editing: Editing) -> None:
    assert editing.set_row(TOOLS, ("Bash", "repeat"), 40) == ""
    assert editing.draft.value(TOOLS)["Bash"] == {"repeat": 40}
    assert editing.remove(row_of(editing, TOOLS, "Bash")) == ""
    assert "Bash" not in editing.draft.value(TOOLS)
    assert editing.insert_word(MUTED, 0, "done") == ""
    assert editing.restore(row_of(editing, MUTED, "done")) == ""
    assert editing.draft.value(MUTED) == tunables()[MUTED].default


def test_a_row_as_it_is_built_in_has_nothing_to_restore() -> None:
    editing = Editing(Draft(Settings()))
    name = next(name for name, each in tunables().items() if each.kind == "table" and each.default)
    row = table_rows(tunables()[name], editing.draft.drafted)[0]
    assert editing.restore(row) is None
