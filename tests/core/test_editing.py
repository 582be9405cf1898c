"""Changes to a draft: what one undo takes back, and what is refused."""

from __future__ import annotations

import pytest

from core.settings import Settings
from core.settings.draft import Draft

OFFSET = "receptor.ambient.offset.frustration"
LOW = "receptor.ambient.low"
TOOLS = "response.loops.tools"


@pytest.fixture
def draft() -> Draft:
    return Draft(Settings())


def test_moves_of_one_slider_are_undone_together(draft: Draft) -> None:
    before = draft.value(OFFSET)
    for _ in range(3):
        assert draft.nudge(OFFSET, 1, fine=False) == ""
    assert draft.value(OFFSET) > before
    assert draft.undo()
    assert draft.edits == {}
    assert draft.redo()
    assert draft.value(OFFSET) > before


def test_another_slider_or_a_pause_begins_another_change(draft: Draft) -> None:
    draft.nudge(OFFSET, 1, fine=False)
    first = draft.value(OFFSET)
    draft.end_nudges()
    draft.nudge(OFFSET, 1, fine=False)
    draft.nudge(LOW, 1, fine=False)
    draft.undo()
    assert set(draft.edits) == {OFFSET}
    draft.undo()
    assert draft.value(OFFSET) == first


def test_what_is_refused_changes_nothing(draft: Draft) -> None:
    assert "a number from 0 to 0.8" in draft.type(OFFSET, "9.0")
    assert "not allowed" in draft.type(TOOLS, "{Bash = {repeat = -1}}")
    assert "not allowed" in draft.type(TOOLS, "{Bash = ")
    assert draft.edits == {}


def test_a_table_is_typed_as_toml(draft: Draft) -> None:
    assert draft.type(TOOLS, "{Bash = {repeat = 40}}") == ""
    assert draft.value(TOOLS) == {"Bash": {"repeat": 40}}
    assert draft.undo()
    assert draft.edits == {}
