"""`tree`, `recap` and `bookmarks` on a log."""

from __future__ import annotations

import json
import re
from itertools import islice
from pathlib import Path

import pytest

from bench.claude import lines
from tui.cli import main


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "story.jsonl"
    path.write_bytes(b"".join(islice(lines(1), 500)))
    return path


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


def test_a_tree_knows_its_head_until_the_log_is_edited(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tree", str(log), "--json"]) == 0
    tree = json.loads(said(capsys))
    head = tree["head"]["hash"]
    assert tree["nodes"] == 500 and tree["orphans"] == 0
    assert main(["tree", str(log), "--head", head]) == 0
    with log.open("ab") as file:
        file.writelines(islice(lines(1), 500, 520))
    assert main(["tree", str(log), "--head", head]) == 0
    log.write_bytes(log.read_bytes().replace(b"the parser", b"the person", 1))
    assert main(["tree", str(log), "--head", head]) == 1
    assert "edited" in capsys.readouterr().err


def test_a_tree_names_the_first_record_changed_since_the_last_reading(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tree", str(log)]) == 0
    assert "no earlier reading to compare it with" in capsys.readouterr().out
    with log.open("ab") as file:
        file.writelines(islice(lines(1), 500, 520))
    assert main(["tree", str(log)]) == 0
    assert "none changed since it was last read" in capsys.readouterr().out
    before = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([*before[:40], *before[41:]]))
    capsys.readouterr()
    assert main(["tree", str(log), "--json"]) == 1
    told = capsys.readouterr()
    content = json.loads(told.out)
    assert content["changed"]["record"] == 41 and content["compared"] == 520
    assert "record 41" in told.err
    assert main(["tree", str(log)]) == 0


def test_a_node_is_found_by_its_hash(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["tree", str(log), "--json"])
    head = json.loads(said(capsys))["head"]["hash"]
    assert main(["tree", str(log), "--find", head[:12]]) == 0
    assert head[:12] in said(capsys).splitlines()[-1]
    assert main(["tree", str(log), "--find", "nothing"]) == 1


def test_a_recap_stays_within_its_tokens(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recap", str(log), "--from", "10", "--to", "-1", "--tokens", "40"]) == 0
    short = said(capsys)
    assert main(["recap", str(log), "--from", "10", "--to", "-1", "--tokens", "2000"]) == 0
    assert len(said(capsys)) > len(short)
    assert re.match(r"from 10 to \d+ of \d+ events", short)
    assert main(["recap", str(log), "--as", "structural"]) == 0


def test_bookmarks_are_put_listed_shared_and_taken_away(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bookmarks", str(log)]) == 0
    assert "no bookmarks" in said(capsys)
    assert main(["bookmarks", str(log), "--add", "here", "--at", "20", "--note", "it turns"]) == 0
    assert re.search(r"event 20\s+[0-9a-f]{12}\* here\s+it turns$", said(capsys), re.MULTILINE)
    assert main(["bookmarks", "--export", "all.json"]) == 0
    assert main(["bookmarks", str(log), "--remove", "here"]) == 0
    assert main(["bookmarks", str(log), "--remove", "here"]) == 1
    assert main(["bookmarks", "--import", "all.json"]) == 0
    said(capsys)
    assert main(["bookmarks", str(log)]) == 0
    assert "here" in said(capsys)
    assert sorted(path.name for path in log.parent.iterdir() if path.suffix == ".jsonl") == ["story.jsonl"]


def test_mistakes_are_said(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bookmarks"]) == 2
    assert main(["bookmarks", "--import", "nowhere.json"]) == 1
    assert "nowhere.json: No such file" in capsys.readouterr().err


def test_a_return_is_checked_and_says_what_came_after(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bookmarks", str(log), "--add", "here", "--at", "20", "--note", "it turns"]) == 0
    said(capsys)
    assert main(["bookmarks", str(log), "--return", "here"]) == 0
    told = said(capsys)
    assert "event 20 of" in told and "the state there is the one saved" in told
    assert "it turns" in told and "since then:" in told
    changed = ["--set", "receptor.emotion.half_life.fatigue=20"]
    assert main(["bookmarks", str(log), "--return", "here", *changed]) == 1
    assert "the state there differs from the saved one" in said(capsys)
    assert main(["bookmarks", str(log), "--return", "nowhere"]) == 1
    assert "no bookmark is named 'nowhere'" in capsys.readouterr().err


def test_states_are_kept_up_to_the_setting(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "two", "three"):
        few = ["--set", "timeline.checkpoints.kept=2"]
        assert main(["bookmarks", str(log), "--add", name, "--at", "20", *few]) == 0
    rows = said(capsys).splitlines()[-4:-1]
    assert [("*" in row, row.split()[-1]) for row in rows] == [(False, "one"), (True, "three"), (True, "two")]
