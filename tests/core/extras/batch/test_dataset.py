"""Trees of logs as a dataset: the same rows whoever does the work, and questions to it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.claude import write_log
from core.agents.registry import make_kit
from core.errors import UsageError
from core.extras.batch.shares import (
    PARTITIONS,
    QUESTIONS,
    SHARES,
    TABLES,
    Share,
    Written,
    ask,
    cluster,
    done_by,
    shares,
    write_share,
)
from core.logs.finder import sessions
from core.settings import Settings
from core.timeline.run_inputs import InitialStates
from tests.terminals import NOOSCOPE
from tui.cli import main

pytest.importorskip("duckdb", reason="duckdb is not installed: pip install 'nooscope[batch]'")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tree")
    for seed in range(1, 7):
        write_log(folder / f"s{seed}.jsonl", 60_000, seed=seed)
    return folder


@pytest.fixture(scope="module")
def dataset(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        home = tmp_path_factory.mktemp("home")
        for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
            patch.setenv(name, str(home))
        folder = tmp_path_factory.mktemp("out") / "dataset"
        assert main(["analyze", str(tree), "--parquet", str(folder), "--jobs", "1"]) == 0
        yield folder


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_every_table_has_the_columns_that_are_documented(dataset: Path) -> None:
    for table, columns in TABLES.items():
        told = {name: kind for name, kind, *_ in ask(dataset, f"DESCRIBE {table}").rows}
        assert told == {column.name: column.type for column in (*columns, *PARTITIONS)}, table


def test_ids_are_one_a_row_and_lead_from_table_to_table(dataset: Path) -> None:
    (counted,) = ask(dataset, "SELECT count(*), count(DISTINCT event_id) FROM events").rows
    assert counted[0] == counted[1] > 50
    lost = "SELECT count(*) FROM signals WHERE event_id NOT IN (SELECT event_id FROM events)"
    assert ask(dataset, lost).rows == [(0,)]
    sums = "SELECT sum(events), count(*) FROM sessions"
    assert ask(dataset, sums).rows == [(counted[0], 6)]


def test_the_rows_say_what_the_report_says(dataset: Path, tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["analyze", str(tree), "--json", "--jobs", "1"]) == 0
    told = json.loads(capsys.readouterr().out)["sessions"]
    rows = ask(dataset, "SELECT session, events, tool_uses, failures, turns, cost FROM sessions").rows
    expected = [
        (
            each["id"],
            each["events"],
            each["tool_uses"],
            each["outcomes"].get("failure", 0),
            each["turns"],
            each["tokens"]["cost"],
        )
        for each in told
    ]
    assert sorted(rows) == sorted(expected)
    fired = ask(dataset, "SELECT name, count(*) FROM signals WHERE kind = 'signal' GROUP BY name").rows
    counted: dict[str, int] = {}
    for each in told:
        for name, times in each["signals"].items():
            counted[name] = counted.get(name, 0) + times
    assert dict(fired) == counted


@pytest.mark.parametrize("words", [["--jobs", "2"], ["--shard", "1/3"]])
def test_processes_and_parts_give_the_same_bytes(dataset: Path, tree: Path, tmp_path: Path, words: list[str]) -> None:
    folder = tmp_path / "dataset"
    parts = [["--shard", f"{part}/3"] for part in (2, 3)] if "--shard" in words else []
    for each in (words, *parts):
        assert main(["analyze", str(tree), "--parquet", str(folder), *each]) == 0
    assert content(folder) == content(dataset)
    assert main(["analyze", str(tree), "--parquet", str(folder), "--jobs", "1"]) == 0
    assert content(folder) == content(dataset)


@pytest.mark.parametrize(("part", "of"), [(1, 1), (3, 16), (16, 16)])
def test_parts_share_all_sessions_out(tree: Path, part: int, of: int) -> None:
    found = sessions([tree], make_kit())
    start = InitialStates(Settings()).of
    numbers = {share.number for share in shares(found, start)}
    own = {share.number for share in shares(found, start, (part, of))}
    assert own == {number for number in numbers if number % of == part - 1}
    assert max(numbers) < SHARES


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "a/b", "1/1025", "-1/3"])
def test_a_part_that_is_none_is_refused(tree: Path, tmp_path: Path, text: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["analyze", str(tree), "--parquet", str(tmp_path / "d"), f"--shard={text}"])
    assert ended.value.code == 2


def test_another_tree_does_not_mix_with_this_one(
    dataset: Path, tree: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    before = content(dataset)
    assert main(["analyze", str(tree / "s1.jsonl"), "--parquet", str(dataset)]) == 2
    assert "was made from" in capsys.readouterr().err
    (tmp_path / "mine.txt").write_text("mine")
    assert main(["analyze", str(tree), "--parquet", str(tmp_path)]) == 2
    assert "other files" in capsys.readouterr().err
    assert content(dataset) == before


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_named_question_is_answered(dataset: Path, name: str) -> None:
    answer = ask(dataset, name)
    assert answer.names and answer.rows


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "COPY events TO 'here.csv'",
        "SELECT 1; SELECT 2",
        "DROP VIEW events",
        "SET lock_configuration = false",
        "SELECT nothing FROM events",
        "",
    ],
)
def test_a_question_reads_the_dataset_and_nothing_else(dataset: Path, sql: str) -> None:
    before = content(dataset)
    with pytest.raises(UsageError):
        ask(dataset, sql)
    assert content(dataset) == before


def test_the_command_prints_a_table_json_and_csv(dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    sql = "SELECT agent, day, count(*) AS n FROM sessions GROUP BY ALL"
    assert main(["query", sql, "--on", str(dataset)]) == 0
    assert capsys.readouterr().out.split() == ["agent", "day", "n", "claude-code", "2025-10-09", "6", "1", "row"]
    formula = "SELECT '=1+1' AS cell"
    assert main(["query", formula, "--on", str(dataset), "--csv"]) == 0
    assert capsys.readouterr().out.split() == ["cell", "'=1+1"]
    assert main(["query", sql, "--on", str(dataset), "--csv"]) == 0
    assert capsys.readouterr().out.split() == ["agent,day,n", "claude-code,2025-10-09,6"]
    assert main(["query", sql, "--on", str(dataset), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"agent": "claude-code", "day": "2025-10-09", "n": 6}
    assert main(["query", "--list"]) == 0
    assert set(QUESTIONS) <= set(capsys.readouterr().out.split())
    assert main(["query", "signals", "--on", str(dataset.parent)]) == 2


def killed_once(share: Share, flag: str) -> Written:
    """The first worker that comes here is killed in the middle of its share."""
    try:
        os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return write_share(share)
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("still alive")


@pytest.mark.filterwarnings("default")
def test_a_killed_workers_share_is_done_again(dataset: Path, tree: Path, tmp_path: Path) -> None:
    """Two Dask workers; one dies with -9, and the result is equal to one process's."""
    pytest.importorskip("distributed", reason="distributed is not installed: pip install 'nooscope[batch]'")
    work = shares(sessions([tree], make_kit()), InitialStates(Settings()).of)
    flag = str(tmp_path / "killed")
    with cluster("local", 2) as client:
        done: list[Any] = list(done_by(client, Killing(flag), work))
    assert Path(flag).exists()
    made = {place: data for written in done for place, data in written.files}
    assert made == {place: data for place, data in content(dataset).items() if place != "dataset.json"}


class Killing:
    """`killed_once` with its flag."""

    def __init__(self, flag: str) -> None:
        self.flag = flag

    def __call__(self, share: Share) -> Written:
        return killed_once(share, self.flag)


@pytest.mark.parametrize("address", ["here", "127.0.0.1:8786"])
def test_a_cluster_that_is_none_is_refused(address: str) -> None:
    pytest.importorskip("distributed")
    with pytest.raises(UsageError, match="scheduler"), cluster(address, 1):
        pass


def test_nothing_but_the_answer_is_said(dataset: Path) -> None:
    """DuckDB complains at the end about objects that nobody took away."""
    done = subprocess.run(
        [*NOOSCOPE, "query", "SELECT count(*) FROM sessions", "--on", str(dataset)], capture_output=True, check=True
    )
    assert done.stdout and done.stderr == b""


def test_a_question_nobody_knows_is_told_where_the_names_are(dataset: Path) -> None:
    with pytest.raises(UsageError, match=r"no question is named 'failing-tool'.*failing-tools"):
        ask(dataset, "failing-tool")
