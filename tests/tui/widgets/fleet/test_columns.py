"""The columns of the fleet: whatever is shown is shown whole."""

from __future__ import annotations

import pytest

from tui.widgets.fleet.fleet_table import TableLayout, fleet_columns


@pytest.mark.parametrize("axes", [False, True])
@pytest.mark.parametrize("width", [20, 30, 39, 45, 59, 79, 99, 119, 199])
def test_columns_without_room_give_way_whole(width: int, axes: bool) -> None:
    columns = fleet_columns(TableLayout(width, 16, 11, True, axes=axes))
    assert columns[0].title == "status"
    used = sum(column.width + 1 for column in columns) - 1
    assert used <= max(width, 15), [(column.title, column.width) for column in columns]


def test_a_reason_comes_before_figures() -> None:
    assert [column.title for column in fleet_columns(TableLayout(45, 16, 11, True))] == [
        "status",
        "for",
        "project",
        "what is going on",
        "ctx",
    ]
