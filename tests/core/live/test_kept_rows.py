"""A session at rest is read once: the next look at the fleet takes its row over, and only while it holds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.live.fleet import member, row
from core.live.fleet.member import SessionModel
from core.live.fleet.roster import Roster, once
from core.live.fleet.row import FleetRow
from core.report.log_tree import LogTree
from core.settings import Settings
from core.settings.layers import Given, Layer, resolve
from tests.core.logs import log_lines as logs

LATER = logs.START + 40_000.0


@pytest.fixture
def log(home: Path) -> Path:
    """A log whose agent stopped hours ago."""
    path = home / "s-1.jsonl"
    path.write_bytes(logs.session(20) + logs.result(41, "t3", "no such file", error=True))
    rest(path)
    return path


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sessions whose logs were read."""
    found: list[str] = []

    class Counted(SessionModel):
        def __init__(self, *given: object) -> None:
            found.append("")
            super().__init__(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(member, "SessionModel", Counted)
    return found


def rest(path: Path, at: float = logs.START + 60.0) -> None:
    os.utime(path, (at, at))


def look(path: Path, settings: Settings | None = None, now: float = LATER) -> FleetRow:
    [row] = once(Roster(settings or Settings(), {}, path.parent, paths=[path], wall=lambda: now))[0]
    return row


def test_the_second_look_reads_nothing_and_tells_the_same(log: Path, read: list[str]) -> None:
    first = look(log)
    assert len(read) == 1 and first.calls == 20
    assert look(log) == first
    assert len(read) == 1


def test_a_log_that_went_on_is_read_again(log: Path, read: list[str]) -> None:
    first = look(log)
    log.write_bytes(log.read_bytes() + logs.call(50, "more") + logs.result(51, "more", "bad", error=True))
    rest(log, logs.START + 70.0)
    again = look(log)
    assert len(read) == 2 and again.calls == first.calls + 1


def test_another_setting_makes_another_row(log: Path, read: list[str]) -> None:
    look(log)
    for name, value in (("receptor.neuron.hold", 4), ("screen.burn", 60.0)):
        look(log, resolve([Layer("here", (Given(name, value),))]).settings)
    assert len(read) == 3


def test_what_somebody_works_in_is_always_read(log: Path, read: list[str]) -> None:
    now = logs.START + 100.0
    look(log, now=now)
    look(log, now=now)
    assert len(read) == 2


def test_what_changed_while_it_was_read_is_not_kept(log: Path, read: list[str]) -> None:
    roster = Roster(Settings(), {}, log.parent, paths=[log], wall=lambda: LATER)
    roster.look()
    while roster.work(5.0):
        pass
    with log.open("ab") as file:
        file.write(logs.call(50, "more"))
    rest(log)
    roster.settle(LATER)
    assert [call.tool for call in look(log).facts.open] == ["Bash"]
    assert len(read) == 2


def test_a_broken_row_is_made_again(log: Path, read: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    first = look(log)
    broken = row._ENCODER.encode(replace(first, calls="many"))
    monkeypatch.setattr(LogTree, "cached", lambda *_: broken)
    assert look(log) == first
    assert len(read) == 2
