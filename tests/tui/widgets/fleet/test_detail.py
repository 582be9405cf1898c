"""What is said above and below the fleet's table is true while logs are still being read."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from core.live.fleet.roster import Roster, once
from core.live.fleet.row import FleetRow, Order, census, row_json
from core.live.hook_signs import HookSigns
from core.live.status import Limits, Status, StatusFacts, status_of
from core.report.cost import Charge
from core.report.event_words import BYPASSES
from core.report.plan_limits import PlanLimit
from core.report.sums import DaySpent
from core.settings import Settings
from tests.tui.fleet_sessions import NOW, tell
from tui.widgets.fleet.detail import fleet_title, session_detail

TODAY = DaySpent(("",), over=False)


@pytest.fixture
def rows(tmp_path: Path) -> tuple[FleetRow, ...]:
    tell(tmp_path)
    found, _ = once(Roster(Settings(), {}, tmp_path, wall=lambda: NOW))
    return tuple(row for row in found if row.status.level < 2)


def unread(row: FleetRow) -> FleetRow:
    facts = StatusFacts(read=0.0, heard=row.facts.heard)
    return replace(row, facts=facts, status=status_of(facts, NOW, Limits.of(Settings())), state="", pattern="")


def test_nobody_is_said_to_ask_only_once_all_is_read(rows: tuple[FleetRow, ...]) -> None:
    assert "none need you  " in fleet_title(rows, Order(), NOW, 0.0, 160, TODAY).plain
    title = fleet_title((unread(rows[0]), *rows[1:]), Order(), NOW, 0.0, 160, TODAY).plain
    assert "none need you so far  ↓ 1 still being read" in title and "0 to look at" in title


@pytest.mark.parametrize("width", [24, 34, 48, 78, 98, 118])
def test_where_the_title_has_no_room_whole_counts_go_and_none_is_cut(rows: tuple[FleetRow, ...], width: int) -> None:
    """The least is what is still to be read, and that the list is narrowed: both could hide a need."""
    title = fleet_title((unread(rows[0]), *rows[1:]), Order(), NOW, 0.0, width, TODAY).plain
    assert len(title) == width and "↓ 1 still being read" in title
    assert ("none" in title) == ("none need you so far" in title)
    for glyph, word in (("▽", " to look at"), ("●", " working"), ("○", " at rest")):
        assert title.count(glyph) == title.count(word)
    narrowed = fleet_title(rows, Order(text="no such words"), NOW, 0.0, width, TODAY).plain
    assert len(narrowed) == width and f"0 of {len(rows)} shown" in narrowed


def test_the_title_says_at_eighty_columns_who_is_at_work(rows: tuple[FleetRow, ...]) -> None:
    title = fleet_title((unread(rows[0]), *rows[1:]), Order(), NOW, 0.0, 78, TODAY).plain
    assert title.startswith("▲ none need you so far  ↓ 1 still being read  ▽ 0 to look at  ● ")
    assert title.rstrip().endswith(" working")


def test_of_an_unread_session_only_what_is_known_is_said(rows: tuple[FleetRow, ...]) -> None:
    said = session_detail(unread(rows[0]), NOW, 6, 120).plain
    assert "its log is being read" in said and ".claude/projects" in said
    assert "no call open" not in said and "frustration" not in said and "context" not in said
    assert "frustration" in session_detail(rows[0], NOW, 6, 120).plain


def test_a_project_that_is_unknown_leaves_no_empty_place(rows: tuple[FleetRow, ...]) -> None:
    said = session_detail(replace(rows[0], project=""), NOW, 6, 120).plain
    assert not any(line.rstrip().endswith("·") for line in said.splitlines())


def test_last_words_that_the_reason_quotes_are_not_repeated(rows: tuple[FleetRow, ...]) -> None:
    facts = StatusFacts(events=9, heard=NOW)
    question = "Should I push to next so that the checks run on the pull request?"
    asking = Status("needs you", 3, NOW, "asks", words=question)
    row = replace(rows[0], facts=facts, status=asking, last=f"said “{question} Or wait”")
    assert session_detail(row, NOW, 6, 400).plain.count("Should I push") == 1
    assert "last: said “Done”" in session_detail(replace(row, last="said “Done”", last_sign=""), NOW, 6, 400).plain


def test_what_was_not_read_is_unknown(rows: tuple[FleetRow, ...]) -> None:
    row = replace(rows[0], partial=True, facts=replace(rows[0].facts, subagents=2))
    said = session_detail(row, NOW, 6, 160).plain
    assert "compactions unknown" in said and "at least 2 sub-agents" in said
    assert "at least 3 compactions" in session_detail(replace(row, compactions=3), NOW, 6, 160).plain
    told = row_json(row, NOW)
    assert (told["compactions"], told["subagents"]) == (None, 2)
    whole = replace(row, partial=False)
    assert "0 compactions · 2 sub-agents" in session_detail(whole, NOW, 6, 160).plain


def test_nobody_is_at_work_in_a_session_at_rest(rows: tuple[FleetRow, ...]) -> None:
    facts = StatusFacts(events=9, heard=NOW - 9e6, close="done", closed=NOW - 9e6, subagents=2, running=1)
    row = replace(rows[0], facts=facts, status=status_of(facts, NOW, Limits.of(Settings())))
    assert row.status.word == "done"
    assert "2 sub-agents, 0 working" in session_detail(row, NOW, 6, 160).plain
    assert row_json(row, NOW)["subagents_running"] == 0


def test_a_log_without_events_is_counted_apart(rows: tuple[FleetRow, ...]) -> None:
    facts = StatusFacts(heard=NOW)
    empty = replace(rows[0], facts=facts, status=status_of(facts, NOW, Limits.of(Settings())))
    before, after = census(rows), census((empty, *rows))
    assert (after.work, after.new) == (before.work, before.new + 1)
    assert "  · 1 new" in fleet_title((empty, *rows), Order(), NOW, 0.0, 160, TODAY).plain
    assert "new" not in fleet_title(rows, Order(), NOW, 0.0, 160, TODAY).plain


@pytest.mark.parametrize(
    ("width", "shown"), [(200, ("! codex 5h", "claude-code 7d")), (150, ("! codex 5h",)), (78, ())]
)
def test_the_limit_that_is_nearest_is_shown_longest(
    rows: tuple[FleetRow, ...], width: int, shown: tuple[str, ...]
) -> None:
    late = PlanLimit("codex", 300, 0.95, NOW + 9000, NOW)
    limits = (PlanLimit("claude-code", 10_080, 0.33, NOW + 90_000, NOW), late)
    title = fleet_title(rows, Order(), NOW, 0.0, width, DaySpent(("today $1.20",), over=False), limits=limits).plain
    assert [words for words in ("! codex 5h", "claude-code 7d") if words in title] == list(shown)


def test_a_session_shows_its_share_of_the_window(rows: tuple[FleetRow, ...]) -> None:
    charge = Charge(int(NOW // 60) - 60, "m", False, 1.0, 1, 0, 1000, 0)
    limit = PlanLimit(rows[0].agent, 300, 0.4, NOW + 3600, NOW)
    signs = HookSigns(limits=(limit, limit._replace(minutes=10_080)))
    row, other = replace(rows[0], signs=signs, charges=(charge,)), replace(rows[1], charges=(charge,), session="other")
    other = replace(other, agent=row.agent)
    shown = session_detail(row, NOW, 6, 300, (row, other)).plain
    assert shown.count("by this session") == 1 and "20% by this session (by its cost and tokens)" in shown
    assert "20% by this session" in session_detail(row, NOW, 5, 300, (row, other)).plain
    idle = replace(row, charges=())
    assert "by this session" not in session_detail(idle, NOW, 6, 300, (idle, other)).plain


@pytest.mark.parametrize(("mode", "style"), [("plan mode", ""), (BYPASSES, "$alert bold")])
def test_what_it_may_do_without_asking_is_shown(rows: tuple[FleetRow, ...], mode: str, style: str) -> None:
    assert mode not in session_detail(rows[0], NOW, 6, 200).plain
    content = session_detail(replace(rows[0], mode=mode), NOW, 6, 200)
    assert f" · {mode}" in content.plain and row_json(replace(rows[0], mode=mode), NOW)["mode"] == mode
    at = content.plain.index(mode)
    assert [str(span.style) for span in content.spans if span.start < at < span.end and style] == (
        [style] if style else []
    )


def test_a_session_in_the_background_is_named(rows: tuple[FleetRow, ...]) -> None:
    plain_row, background = (session_detail(replace(rows[0], background=one), NOW, 6, 200) for one in (False, True))
    assert "background" not in plain_row.plain and " · in the background" in background.plain
