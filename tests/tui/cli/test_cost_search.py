"""`cost` and `search` as a person and as a program see them."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from core.report.sums import CostForecast, Sum
from tests.core.logs import log_lines as logs
from tui.cli import main
from tui.cli.commands.cost import forecast_lines
from tui.cli.options import since_moment


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of our own, with one session in it."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    log = tmp_path / ".claude/projects/p/s-1.jsonl"
    log.parent.mkdir(parents=True)
    log.write_bytes(logs.session(3) + logs.prompt(60, "migrate the \x1b[31m billing service"))
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 0
    return capsys.readouterr().out


def test_cost_by_day_and_again(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = said(capsys, "cost")
    header, day, whole, blank, today = first.splitlines()
    assert header.split()[:2] == ["day", "cost"]
    assert day.split()[0] == "2025-06-15"
    assert whole.split()[0] == "all"
    assert (blank, today) == ("", "today: nothing yet")
    assert (home / "cache/nooscope/readings.db").exists()
    assert said(capsys, "cost") == first
    assert said(capsys, "cost", "--forget") == "cached readings deleted\n"
    assert said(capsys, "cost", "--forget") == "nothing was cached\n"
    assert said(capsys, "cost") == first


@pytest.mark.parametrize(
    ("axis", "name"), [("project", "/srv/project"), ("model", "claude-opus-4"), ("agent", "claude-code")]
)
def test_cost_as_json(home: Path, capsys: pytest.CaptureFixture[str], axis: str, name: str) -> None:
    told = json.loads(said(capsys, "cost", "--by", axis, "--json"))
    (row,) = told["rows"]
    assert row[axis] == name
    assert row["turns"] == 3 and row["unpriced_turns"] == 0 and row["dollars"] > 0
    assert told["total"]["dollars"] == row["dollars"]
    assert told["today"]["budget_dollars"] is None


def test_cost_of_a_session_names_it(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = json.loads(said(capsys, "cost", "--by", "session", "--json"))["rows"]
    assert (row["session"], row["title"], row["sub_agents"]) == ("s-1", "go on", 0)
    assert "claude-code  go on" in said(capsys, "cost", "--by", "session")


def test_cost_since(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "cost", "--since", "1d") == "No turns since 1d.\n"
    assert "2025-06-15" in said(capsys, "cost", "--since", "2025-06-01")
    with pytest.raises(SystemExit):
        main(["cost", "--since", "soon"])
    assert "write today, 7d" in capsys.readouterr().err


def test_cost_of_a_path_that_is_not_there(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cost", "absent"]) == 1
    assert capsys.readouterr().err == "nooscope: absent: no such file or folder\n"
    assert main(["search", "x", "--in", "absent"]) == 1


def test_an_empty_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert said(capsys, "cost") == "No turns found.\n"
    assert said(capsys, "search", "word") == "Nothing found.\n"
    assert json.loads(said(capsys, "search", "word", "--json")) == {"hits": []}


def test_the_budget_of_the_day(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = json.loads(said(capsys, "cost", "--json", "--set", "screen.cost.budget=20"))
    assert told["today"]["budget_dollars"] == 20.0


def spent(dollars: float, unpriced: int = 0, priced: int = 4) -> Sum:
    whole = Sum()
    whole.dollars, whole.priced, whole.unpriced = dollars, priced, unpriced
    return whole


@pytest.mark.parametrize(
    ("told", "lines"),
    [
        (CostForecast(Sum(), None, 18, None, 0), ["today: nothing yet"]),
        (CostForecast(spent(0.0, 2, 0), None, 18, None, 0), ["today: unknown, no turn has a known price"]),
        (CostForecast(spent(3), None, 18, None, 0), ["today: $3.00"]),
        (
            CostForecast(spent(3, 1), 2.0, 18, 40.0, 20),
            [
                "today: at least $3.00 of $20.00",
                "at this pace ($2.00 an hour) $40.00 by evening",
                "▲ the day's budget will not last",
            ],
        ),
        (
            CostForecast(spent(21), 2.0, 24, 22.0, 20),
            [
                "today: $21.00 of $20.00",
                "at this pace ($2.00 an hour) $22.00 by midnight",
                "▲ the day's budget is spent",
            ],
        ),
    ],
)
def test_where_today_is_heading_in_words(told: CostForecast, lines: list[str]) -> None:
    assert forecast_lines(told) == lines


def test_search_says_where_and_how_to_go_there(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second, third, blank, count = said(capsys, "search", "billing").splitlines()
    assert first == "2025-06-15 15:07  claude-code  /srv/project  go on"
    assert second == "  you: migrate the billing service"
    assert third == "  nooscope replay ~/.claude/projects/p/s-1.jsonl --at 2025-06-15T15:07:40.000Z"
    assert (blank, count) == ("", "1 place")
    (hit,) = json.loads(said(capsys, "search", "billing", "--json"))["hits"]
    assert hit["session"] == "s-1" and hit["speaker"] == "asked"
    assert said(capsys, "search", "billing", "--agent", "codex") == "Nothing found.\n"
    assert said(capsys, "search", "billing", "--project", "elsewhere") == "Nothing found.\n"
    assert said(capsys, "search", "billing", "--since", "1h") == "Nothing found.\n"
    assert said(capsys, "search", "--forget") == "search index deleted\n"
    assert said(capsys, "search", "--forget") == "there was no search index\n"


def test_search_needs_a_word(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search"]) == 2
    assert "name at least one word" in capsys.readouterr().err


def test_a_stretch_of_time_as_a_person_writes_it() -> None:
    now = time.time()
    assert since_moment("2d", now) == now - 172_800
    assert since_moment("30m", now) == now - 1800
    assert 0 <= now - since_moment("today", now) < 90_000
    assert since_moment("2026-01-31T00:00:00+00:00", now) == 1_769_817_600
    for wrong in ("", "soon", "d", "5 parsecs"):
        with pytest.raises(ValueError, match=r".*"):
            since_moment(wrong, now)
