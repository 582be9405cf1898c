"""One session has one cost: in the fleet, the header, `analyze` and `cost`, over real sessions."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from core.agents.registry import make_kit
from core.events import Event
from core.live.fleet import member as whole_cost
from core.live.fleet.member import Member
from core.live.fleet.roster import Roster, once
from core.live.source import Followed
from core.logs.finder import Finder
from core.logs.session import LogSession
from core.report.cost import CostReader, Spending, session_cost
from core.report.sums import Sum, added
from core.settings import Settings
from tests.core.logs import log_lines as logs
from tui.cli import main

SOME = (
    "claude-code/JanDeDobbeleer_oh-my-posh__85_522027570b_1.jsonl",
    "claude-code/0ccf1a04-1b4c-43b6-8aa5-79e41db43a68.jsonl",
    "claude-code/tracker.jsonl",
    "codex/rollout-tracker.jsonl",
    "gemini/session-pomodoro-timer.json",
    "copilot-cli/events.jsonl",
)
"""A long log whose end alone the fleet's minds read, sub-agents, a last turn that has no end, no prices."""


def everyone(**fleet: object) -> Settings:
    plain = Settings()
    chosen = plain.screen.fleet.replace(within=8760.0, most=5000, **fleet)
    return plain.replace(screen=plain.screen.replace(fleet=chosen))


def found(settings: Settings, paths: list[Path]) -> list[LogSession]:
    return Finder(make_kit(settings.ingest), settings.ingest.lines).sessions(paths)


def figures(one: Sum) -> tuple[float, int, int]:
    return round(one.dollars, 6), one.priced, one.unpriced


def in_header(session: LogSession, settings: Settings) -> tuple[float, int, int]:
    """What a live screen shows once the log is read."""
    source = Followed(session, make_kit(settings.ingest), settings)
    events: list[Event] = []
    while source.behind or not events:
        events += source.poll(10_000)
    spent = Spending(events).at(len(events), 0.0, source.pending_events())
    return round(spent.dollars, 6), spent.priced, spent.unpriced


def ended(session: LogSession) -> bool:
    """Whether no line of its logs is still being written."""
    files = [log.path for log in session.logs if log.format.style == "lines" and log.path.is_file()]
    return all(path.read_bytes()[-1:] == b"\n" for path in files)


def test_every_real_session_costs_the_same_in_the_fleet_and_in_the_header(home: Path, shared_data: Path) -> None:
    settings = everyone(tail=0.1)
    root = shared_data / "real_sessions"
    sessions = [one for one in found(settings, [root]) if ended(one)]
    known = {(one.path, one.id): figures(added(session_cost(one, settings).charges)) for one in sessions}
    rows, _ = once(Roster(settings, {}, home, paths=[root]))
    in_fleet = {(row.path, row.session): row for row in rows}
    assert sum(row.partial for row in rows) > 3, "some are long"
    for session in sessions:
        key = session.path, session.id
        if row := in_fleet.get(key):
            assert (round(row.dollars, 6), row.priced, row.unpriced) == known[key], key
            assert not row.uncounted
        assert in_header(session, settings) == known[key], key


def test_commands_tell_the_same(home: Path, shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(shared_data / "real_sessions" / name) for name in SOME]

    def told(*words: str) -> dict[str, object]:
        assert main([*words, "--json", *paths]) == 0
        answer: dict[str, object] = json.loads(capsys.readouterr().out)
        return answer

    cost = {row["path"]: row["dollars"] for row in told("cost", "--by", "session")["rows"]}  # type: ignore[attr-defined]
    fleet = {row["path"]: row["dollars"] for row in told("fleet", "--within", "8760")["sessions"]}  # type: ignore[attr-defined]
    analyze = {
        row["path"]: None if row["tokens"]["cost"] is None else round(row["tokens"]["cost"], 6)
        for row in told("analyze")["sessions"]  # type: ignore[attr-defined]
    }
    assert len(cost) == len(SOME)
    assert cost == fleet == analyze
    assert cost[paths[0]] == pytest.approx(11.63, abs=0.005)


def test_a_fork_is_charged_for_its_own_turns_only(home: Path) -> None:
    first, fork = home / "a.jsonl", home / "b.jsonl"
    shared = logs.session(3)
    first.write_bytes(shared)
    fork.write_bytes(shared.replace(b'"s-1"', b'"s-2"') + logs.call(90, "t90") + logs.result(91, "t90"))
    now = logs.START + 100
    os.utime(first, (now - 50, now - 50))
    os.utime(fork, (now, now))
    settings = everyone()
    own = {one.id: added(session_cost(one, settings).charges).priced for one in found(settings, [home])}
    rows, _ = once(Roster(settings, {}, home, paths=[first, fork], wall=lambda: now))
    assert own == {"s-1": 3, "s-2": 1}
    assert {row.session: row.priced for row in rows} == own


def growing(home: Path) -> tuple[Path, Settings, list[float]]:
    """A log of which the fleet reads the end, changed long ago; and the clock."""
    path = home / "s-1.jsonl"
    path.write_bytes(logs.session(400))
    os.utime(path, (logs.START + 20_000, logs.START + 20_000))
    return path, everyone(tail=0.01), [logs.START + 90_000.0]


def grow(path: Path, roster: Roster) -> None:
    at = roster.wall() - logs.START
    with path.open("ab") as file:
        file.write(logs.call(at, f"t{at}") + logs.result(at + 0.5, f"t{at}"))
    os.utime(path, (roster.wall(), roster.wall()))
    roster.look()
    while roster.work(5.0):
        pass


def test_a_log_at_rest_that_goes_on_is_read_whole_once_and_then_followed(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, settings, wall = growing(home)
    made: list[LogSession] = []

    class Counted(CostReader):
        def __init__(self, session: LogSession, settings: Settings) -> None:
            made.append(session)
            super().__init__(session, settings)

    monkeypatch.setattr(whole_cost, "CostReader", Counted)
    roster = Roster(settings, {}, home, paths=[path], wall=lambda: wall[0])
    roster.look()
    while roster.work(5.0):
        pass
    [row] = roster.rows(wall[0])
    assert row.partial and not row.uncounted and len(made) == 1
    for _ in range(3):
        wall[0] += 1.0
        grow(path, roster)
    [row] = roster.rows(wall[0])
    assert not row.partial and not row.uncounted and len(made) == 1
    [session] = found(settings, [path])
    assert round(row.dollars, 6) == figures(added(session_cost(session, settings).charges))[0]


def test_the_context_of_a_log_at_rest_is_measured_against_where_its_agent_compacted(home: Path) -> None:
    path, settings, wall = growing(home)
    seen = {"trigger": "auto", "preTokens": 1000}
    boundary = logs.line(2.5, type="system", subtype="compact_boundary", compactMetadata=seen)
    start, *rest = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([start, *rest[:2], boundary, *rest[2:]]))
    os.utime(path, (logs.START + 20_000, logs.START + 20_000))
    roster = Roster(settings, {}, home, paths=[path], wall=lambda: wall[0])
    roster.look()
    while roster.work(5.0):
        pass
    [row] = roster.rows(wall[0])
    assert row.partial and not row.uncounted
    assert (row.context_tokens, row.compaction_point, row.facts.context) == (905, 1000, 0.905)
    grow(path, roster)
    [row] = roster.rows(wall[0])
    assert not row.partial
    assert (row.compaction_point, row.facts.context) == (1000, 0.905)


def test_a_sum_that_could_not_be_renewed_is_said_to_be_a_lower_bound(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, settings, wall = growing(home)
    roster = Roster(settings, {}, home, paths=[path], wall=lambda: wall[0])
    roster.look()
    while roster.work(5.0):
        pass

    def broken(*_: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(whole_cost, "CostReader", broken)
    monkeypatch.setattr(Member, "_fill_active", lambda self: None)
    wall[0] += 1.0
    grow(path, roster)
    [row] = roster.rows(wall[0])
    assert row.partial and row.uncounted
