"""What is said above and below the fleet's table is true while logs are still being read."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from core.live.fleet.order import Order
from core.live.fleet.roster import Roster
from core.live.fleet.row import FleetRow
from core.live.fleet.thread import once
from core.live.status import Limits, StatusFacts, status_of
from core.settings import Settings
from tests.tui.fleet_sessions import NOW, tell
from tui.widgets.fleet.detail import fleet_title, session_detail


@pytest.fixture
def rows(tmp_path: Path) -> tuple[FleetRow, ...]:
    tell(tmp_path)
    found, _ = once(Roster(Settings(), {}, tmp_path, wall=lambda: NOW))
    return tuple(row for row in found if row.status.level < 2)


def unread(row: FleetRow) -> FleetRow:
    facts = StatusFacts(read=0.0, heard=row.facts.heard)
    return replace(
        row, facts=facts, status=status_of(facts, NOW, Limits.of(Settings())), state="", pattern=""
    )


def test_nobody_is_said_to_ask_only_once_all_is_read(rows: tuple[FleetRow, ...]) -> None:
    assert "nobody asks  " in fleet_title(rows, Order(), NOW, 0.0, 160).plain
    title = fleet_title((unread(rows[0]), *rows[1:]), Order(), NOW, 0.0, 160).plain
    assert "nobody asks so far  ↓ 1 still being read" in title and "0 to look at" in title


def test_of_an_unread_session_only_what_is_known_is_said(rows: tuple[FleetRow, ...]) -> None:
    said = session_detail(unread(rows[0]), NOW, 6, 120).plain
    assert "its log is being read" in said and ".claude/projects" in said
    assert "no call open" not in said and "frustration" not in said and "context" not in said
    assert "frustration" in session_detail(rows[0], NOW, 6, 120).plain
