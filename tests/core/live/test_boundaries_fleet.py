"""What the fleet lists, folds and lets rest, at, below and above each limit."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core.engine.society import Society
from core.events import Turn
from core.live.fleet.roster import Roster
from core.live.fleet.row import _FEW, FleetRow, Fold, Order, listed
from core.live.status import Level, Status, StatusFacts
from core.live.status_facts import StatusTracker
from core.settings import Settings
from tests.core.live.test_status import LIMITS, NOW

SETTINGS = Settings()


def row(number: int = 0, level: Level = 0, **more: Any) -> FleetRow:
    status = Status("done", level, NOW, "it waits")
    return FleetRow(
        f"key {number}", Path(f"{number}.jsonl"), str(number), "claude-code", "", StatusFacts(), status, **more
    )


@pytest.mark.parametrize(("later", "burn"), [(-1.0, 9.0), (0.0, 9.0), (1.0, 0.0)])
def test_tokens_a_minute_hold_until_their_time_is_over(later: float, burn: float) -> None:
    assert row(burn=9.0, burnt=NOW).at(NOW + later, LIMITS).burn == burn


@pytest.mark.parametrize(("resting", "folded"), [(_FEW - 1, 0), (_FEW, 0), (_FEW + 1, 1)])
def test_only_more_than_a_few_at_rest_are_folded(resting: int, folded: int) -> None:
    items = listed([row(number) for number in range(resting)], Order(folded=True))
    assert [len(item.rows) for item in items if isinstance(item, Fold)] == [1] * folded


class Resting:
    """A member of the fleet that says whether it was let rest."""

    def __init__(self, changed: float, heard: float = 0.0) -> None:
        self.changed, self.heard = changed, heard
        self.awake, self.due, self.filling, self.kept = True, False, False, False

    def row(self, now: float, pace: float) -> None:
        """Nobody looks at it."""

    def keep(self) -> None:
        self.kept = True

    def rest(self) -> None:
        self.awake = False


def roster(settings: Settings = SETTINGS) -> Roster:
    return Roster(settings, os.environ, Path("nowhere"), wall=lambda: NOW)


@pytest.mark.parametrize(("off", "awake"), [(-1.0, True), (0.0, True), (1.0, False)])
def test_a_session_rests_once_it_was_still_for_longer_than_the_limit(off: float, awake: bool) -> None:
    member: Any = Resting(NOW - SETTINGS.ingest.follow.active_within - off)
    fleet = roster()
    fleet._members = {"one": member}
    fleet.settle(NOW)
    assert member.awake is awake
    assert member.kept is not awake


@pytest.mark.parametrize(("sessions", "awake"), [(1, 1), (2, 2), (3, 2)])
def test_only_so_many_are_awake_and_the_quietest_rest(sessions: int, awake: int) -> None:
    fleet = roster(Settings.parse({"screen": {"fleet": {"awake": 2}}}))
    members: list[Any] = [Resting(NOW, heard=NOW - number) for number in range(sessions)]
    fleet._members = {str(number): member for number, member in enumerate(members)}
    fleet.settle(NOW)
    assert [member.awake for member in members] == [True] * awake + [False] * (sessions - awake)


@pytest.mark.parametrize(("off", "listed_now"), [(-1.0, True), (0.0, True), (1.0, False)])
def test_only_sessions_that_changed_lately_are_listed(
    off: float, listed_now: bool, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    modified = NOW - SETTINGS.screen.fleet.within * 3600.0 - off
    found = SimpleNamespace(path=Path("log.jsonl"), session="s", modified=modified)
    fleet = roster()
    monkeypatch.setattr(fleet, "_find", lambda _: [found])
    monkeypatch.setattr(fleet, "_copies", lambda new: {one.path: () for one in new})
    monkeypatch.setattr("core.live.fleet.roster.Member", lambda *_, **__: Resting(NOW))
    fleet.look()
    assert bool(fleet._members) is listed_now


@pytest.mark.parametrize(("off", "close"), [(-0.5, "said"), (0.0, "done"), (0.5, "done")])
def test_an_open_turn_counts_unless_it_is_older_than_the_last_word(off: float, close: str) -> None:
    tracker = StatusTracker(("end_turn",))
    tracker.close, tracker.closed = "said", NOW
    held = Turn(at=NOW + off, stop="end_turn")
    assert tracker.facts(Society(SETTINGS), [held]).close == close
