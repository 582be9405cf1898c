"""`nooscope analyze`: a report a person likes, JSON that stays, exit codes."""

from __future__ import annotations

import json
import re
from itertools import islice
from pathlib import Path

import pytest

from bench.claude import lines
from core.report.analysis import AgentSummary, Summary
from core.report.formatting import money
from core.report.page import _agents
from tui.cli import main

KEYS = {
    *("agent", "id", "tool_uses", "outcomes", "actions", "prompts", "compactions", "subagents", "tokens"),
    *("skipped", "signals", "states", "peaks", "episodes", "halts", "quarantines", "agents"),
}


pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def logs(home: Path) -> Path:
    folder = home / "logs"
    folder.mkdir()
    for seed in (1, 2, 3):
        (folder / f"{seed}.jsonl").write_bytes(b"".join(islice(lines(seed), 600)))
    return folder


def analysed(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, object]]:
    assert main(["analyze", *words, "--json"]) == 0
    sessions: list[dict[str, object]] = json.loads(capsys.readouterr().out)["sessions"]
    return sessions


def test_json_has_the_keys_that_others_build_on(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sessions = analysed(capsys, str(logs))
    assert len(sessions) == 3
    for session in sessions:
        assert set(session) >= KEYS
        outcomes, actions = session["outcomes"], session["actions"]
        assert isinstance(outcomes, dict) and isinstance(actions, dict)
        assert sum(outcomes.values()) == sum(actions.values()) == session["tool_uses"]


def test_several_processes_say_what_one_says(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert analysed(capsys, str(logs), "--jobs", "2") == analysed(capsys, str(logs), "--jobs", "1")


def test_a_pattern_and_a_file_are_understood(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(analysed(capsys, str(logs / "[12].jsonl"))) == 2
    assert len(analysed(capsys, str(logs / "3.jsonl"))) == 1


def test_the_report_names_what_a_person_asks_for(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", str(logs / "1.jsonl")]) == 0
    text = capsys.readouterr().out
    for label in (
        "when",
        "tool uses",
        "patterns",
        "states",
        "peaks",
        "signals",
        "governor",
        "sleep",
        "paths",
        "tokens",
    ):
        assert re.search(rf"^  {label}\s", text, re.MULTILINE), label
    assert "claude-code · api · claude-sonnet-4-5" in text


def test_broken_lines_are_counted_with_file_and_line(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = logs / "1.jsonl"
    whole = analysed(capsys, str(path))[0]
    with path.open("ab") as file:
        file.write(b"{half a li\n\xff\xfe\x00\n")
    broken = analysed(capsys, str(path))[0]
    assert broken["tool_uses"] == whole["tool_uses"]
    skipped = broken["skipped"]
    assert isinstance(skipped, dict) and skipped["total"] == 2
    assert [line.startswith(f"{path}:{600 + number}:") for number, line in enumerate(skipped["first"], 1)] == [True] * 2


def test_settings_change_what_fires(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(logs / "1.jsonl")
    quiet = analysed(capsys, path, "--set", "receptor.ambient.offset.confidence=0.6")
    eager = analysed(capsys, path, "--set", "receptor.ambient.offset.confidence=0.02")
    assert quiet[0]["signals"] != eager[0]["signals"]


def test_metrics_are_one_json_line_a_tick(logs: Path, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", str(logs / "1.jsonl"), "--metrics", str(home / "ticks.jsonl")]) == 0
    rows = [json.loads(line) for line in (home / "ticks.jsonl").read_text().splitlines()]
    assert rows
    assert {row["kind"] for row in rows} <= {"gamma", "theta", "delta", "wakeup_gamma", "wakeup_theta"}
    assert all(re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-01", row["traceparent"]) for row in rows)
    assert main(["analyze", str(logs / "1.jsonl"), "--metrics", str(home / "no" / "such" / "ticks.jsonl")]) == 1


def test_metrics_are_printed_where_the_file_is_a_dash(
    logs: Path, home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    assert main(["analyze", str(logs / "1.jsonl"), "--metrics", "-"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines and all("tick" in json.loads(line) for line in lines)
    assert not (home / "-").exists()


def test_metrics_never_replace_the_log(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = logs / "1.jsonl"
    before = log.read_bytes()
    (logs / "link").symlink_to(log)
    for name in ("1.jsonl", "link"):
        assert main(["analyze", str(log), "--metrics", str(logs / name)]) == 2
        assert "is the log itself" in capsys.readouterr().err
    assert log.read_bytes() == before


@pytest.mark.parametrize("content", [None, b"", b"\x00\x01\x02" * 500, b"hello\nworld\n", b'{"a": 1}\n'])
def test_nothing_readable_is_exit_1_with_a_word(
    home: Path, content: bytes | None, capsys: pytest.CaptureFixture[str]
) -> None:
    path = home / "odd.jsonl"
    if content is not None:
        path.write_bytes(content)
    assert main(["analyze", str(path)]) == 1
    assert "odd.jsonl" in capsys.readouterr().err


def test_no_path_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["analyze"])
    assert ended.value.code == 2


def test_a_log_cannot_speak_to_the_terminal(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = logs / "1.jsonl"
    path.write_bytes(path.read_bytes().replace(b"module1.py", b"mo\\u001b[31mdule.py"))
    assert main(["analyze", str(path)]) == 0
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("dollars", "priced", "unpriced", "text"),
    [
        (0.0, 0, 3, "unknown"),
        (0.0, 0, 0, "unknown"),
        (0.0, 1, 0, "$0.00"),
        (1234.5, 2, 0, "$1,234.50"),
        (1.0, 2, 1, "at least $1.00"),
    ],
)
def test_a_cost_that_is_not_known_is_never_nothing(dollars: float, priced: int, unpriced: int, text: str) -> None:
    """Known, known in part, and unknown."""
    assert money(dollars, priced, unpriced) == text


def test_sub_agents_are_named_by_number_and_use() -> None:
    summary = Summary(
        agents=[
            AgentSummary("main", None, tool_uses=2),
            AgentSummary("a9cad17", "main", role="explore", tool_uses=3, failures=1),
            AgentSummary("ac27727", "a9cad17", tool_uses=1),
        ],
        subagents=2,
    )
    assert list(_agents(summary)) == [
        "main: 2 tool uses",
        "└ sub-agent 1 (explore): 3 tool uses, 1 failed",
        "  └ sub-agent 2: 1 tool use",
    ]
