"""The fleet of other hosts: the same standings as at home, with the host in its column."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from core.extras.hosts.mirror import HostRoster, Ledger, SignsOfLife
from core.live.fleet.roster import once
from core.live.fleet.row import Order, listed
from core.settings import Settings
from tests.core.extras.hosts.servers import NatsServer
from tests.core.extras.hosts.test_mirror import items
from tests.tui import fleet_sessions as fleets
from tests.tui.fleet_sessions import STORIES, tell
from tui.cli import main
from tui.widgets.fleet.fleet_table import CellContext, session_line, table_layout


def test_every_story_stands_over_the_wire_as_it_does_at_home(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who waits for an answer, who loops, who is done: sent by one host, seen by another."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(fleets, "NOW", time.time())
    tell(home)
    server = NatsServer(home / "jetstream")
    server.start()
    try:
        assert main(["ship", "--to", server.url, "--host", "build.7", "--once"]) == 0
        capsys.readouterr()
        assert main(["fleet", "--from", server.url, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)["sessions"]
        assert {Path(one["project"]).name: one["status"] for one in told} == STORIES
        assert {one["host"] for one in told} == {"build.7"}
        assert main(["fleet", "--from", server.url, "--once"]) == 0
        assert "build.7" in capsys.readouterr().out.splitlines()[1]
    finally:
        server.kill()


@pytest.mark.parametrize("width", [80, 120, 200])
def test_the_host_has_a_column_and_can_be_searched_for(tmp_path: Path, home: Path, width: int) -> None:
    ledger = Ledger(tmp_path / "mirror")
    ledger.add(items(30))
    wall = 1_760_000_040.0
    roster = HostRoster(Settings(), SignsOfLife(), ledger.folder, wall=lambda: wall)
    (rows, _) = once(roster)
    session = session_line(rows[0], table_layout(rows, width), CellContext(wall, 600.0))
    line = "".join(text for text, _ in session)
    assert " h.1 " in line and len(line) <= width + 1
    assert listed(rows, Order(text="h.1")) == list(rows)
    assert listed(rows, Order(text="elsewhere")) == []
