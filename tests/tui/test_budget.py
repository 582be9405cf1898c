"""A budget for the day: what all agents cost today stands in the header of a session that is watched."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from core.live.fleet.member import day_cost
from core.live.source import Target
from core.settings import Settings
from tests.core.logs import log_lines
from tests.tui.conftest import shown
from tui.app import NooscopeApp
from tui.widgets.common.header import StatusHeader


def budgeted(still: Settings, budget: float) -> Settings:
    cost = still.screen.cost.replace(budget=budget)
    return still.replace(screen=still.screen.replace(cost=cost))


@pytest.fixture
def log(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A session of today among those of this machine: one turn that read ten million tokens anew."""
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(log_lines, "START", time.time() - 5)
    path = home / ".claude/projects/p/s-1.jsonl"
    path.parent.mkdir(parents=True)
    call = json.loads(log_lines.call(1, "t1"))
    call["message"]["usage"]["cache_creation_input_tokens"] = 10_000_000
    path.write_bytes(
        log_lines.prompt(0) + json.dumps(call).encode() + b"\n" + log_lines.result(2, "t1") + log_lines.prompt(3)
    )
    return path


@pytest.mark.parametrize(("budget", "over"), [(1.0, True), (1000.0, False)])
def test_the_day_is_summed_over_this_machine(home: Path, log: Path, still: Settings, budget: float, over: bool) -> None:
    told = day_cost(budgeted(still, budget), time.time())
    assert told.over is over
    assert f" of ${budget:,.0f}" in told.ways[-1] and told.ways[-1].startswith("today $")


async def test_a_watched_session_shows_the_day_against_the_budget(home: Path, log: Path, still: Settings) -> None:
    app = NooscopeApp(Target(log), budgeted(still, 1.0), theme_folder=home / "themes", live=True)
    async with app.run_test(size=(120, 40)) as pilot:
        view = await shown(app, pilot, lambda view: view.day is not None and view.total > 2)
        header = app.screen.query_one(StatusHeader)
        for width in (80, 120, 200):
            text = "".join(piece for piece, _ in header.lines(view, width, 1)[0])
            assert " of $1 ▲" in text


async def test_without_a_budget_nothing_is_summed_up(home: Path, log: Path, still: Settings) -> None:
    app = NooscopeApp(Target(log), still, theme_folder=home / "themes", live=True)
    async with app.run_test(size=(120, 40)) as pilot:
        view = await shown(app, pilot, lambda view: view.total > 2)
        assert view.day is None
        assert not [worker for worker in app.workers if worker.name == "day"]
