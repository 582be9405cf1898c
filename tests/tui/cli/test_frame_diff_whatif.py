"""`frame`, `diff` and `whatif` on a log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.workload import session
from core.agents.open_events import write
from tui.cli import main

OFFSET = "receptor.ambient.offset.frustration"


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("NOOSCOPE_CONFIG", str(tmp_path / "user.toml"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "story.jsonl"
    path.write_bytes(b"".join(write(event, "story").rstrip(b"\n") + b"\n" for event in session(900)))
    return str(path)


@pytest.mark.parametrize(
    ("place", "index"), [("0", 0), ("120", 120), ("-1", 900), ("-2", 899), ("900", 900), ("00:00:00", 1)]
)
def test_a_frame_can_be_asked_for_anywhere(
    log: str, place: str, index: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["frame", log, f"--at={place}", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["index"], said["of"]) == (index, 900)
    assert said["frame"]["events"] == index


def test_a_frame_is_a_page_that_fits_a_screen(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["frame", log]) == 0
    text = capsys.readouterr().out
    for name in ("status  ", "frustration", "fires at", "sleep pressure", "effort budget", "--json"):
        assert name in text
    assert len(text.splitlines()) <= 80 and "receptor." not in text


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("soon", "'soon' is not a place"),
        ("99:99", "'99:99' is not a place"),
        ("99999", "'99999' is after the end: the session has 900 events"),
        ("9h", "'9h' is after the end"),
    ],
)
def test_a_place_that_is_none_is_said(log: str, place: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["frame", log, "--at", place]) == 2
    assert said in capsys.readouterr().err


def test_a_diff_tells_what_changed(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", log, "--from", "10", "--to", "11"]) == 0
    text = capsys.readouterr().out
    assert "from    after 10 of 900 events" in text and "to      after 11 of 900 events" in text
    assert "between 1 " in text
    assert main(["diff", log, "--from", "10", "--to", "11", "--json"]) == 0
    changes = json.loads(capsys.readouterr().out)["changes"]
    assert {"name": "events", "before": 10, "after": 11} in changes
    assert main(["diff", log, "--from", "10", "--to", "10"]) == 0
    assert "nothing differs" in capsys.readouterr().out


def test_unchanged_settings_fire_the_same(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["whatif", log, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["kept"] and not (said["gained"] or said["lost"] or said["moved"])


def test_other_settings_fire_otherwise(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["whatif", log, "--json", "--set", f"{OFFSET}=0.02"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["gained"] or said["moved"]
    assert main(["whatif", log, "--set", f"{OFFSET}=0.02"]) == 0
    assert "frustration" in capsys.readouterr().out


def test_a_steer_and_a_dream_are_tried(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["whatif", log, "--json", "--steer", "read the error again", "--at", "300"]) == 0
    assert json.loads(capsys.readouterr().out)["events"] == 601
    assert main(["whatif", log, "--json", "--dream", "7"]) == 0
    first = capsys.readouterr().out
    assert json.loads(first)["events"] > 0 and not json.loads(first)["lost"]
    assert main(["whatif", log, "--json", "--dream", "7"]) == 0
    assert capsys.readouterr().out == first


def test_a_branch_stops_at_its_limit_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    event = {"session": "s", "tool": "Read", "target": "a.py"}
    log = tmp_path / "long.jsonl"
    log.write_text("".join(json.dumps({"at": 1_767_600_000 + n, **event}) + "\n" for n in range(1_100)))
    for extra in ([], ["--steer", "run the tests", "--at", "10"], ["--dream", "3"]):
        for limit, stopped in (("1000", True), ("10000", False)):
            assert main(["whatif", str(log), "--set", f"timeline.branch.most={limit}", *extra]) == 0
            assert ("stopped at the limit of 1000 events" in capsys.readouterr().out) == stopped


def test_what_is_not_there_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["whatif", str(tmp_path / "none.jsonl")]) == 1
    assert "none.jsonl" in capsys.readouterr().err


def test_one_of_several_sessions_is_named_after_a_hash(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "two.jsonl"
    event = {"tool": "Read", "target": "a.py"}
    lines = [
        json.dumps({"at": 1_767_600_000 + 9 * number, "session": f"s{number // 4}", **event}) for number in range(8)
    ]
    log.write_text("\n".join(lines) + "\n")
    assert main(["frame", str(log)]) == 2
    assert f"{log}#SESSION: s0, s1" in capsys.readouterr().err
    assert main(["frame", f"{log}#s1"]) == 0
    assert main(["frame", f"{log}#s7"]) == 2
    assert "no session 's7'" in capsys.readouterr().err
    assert main(["frame", f"{log}#s1", "--at", "abc"]) == 2


def test_stored_states_are_listed_with_hash_and_size(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["events", log, "--kind", "StateSnapshotCreated", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(rows) == 900 // 256 and rows[0]["kind"] == "I"
    assert all(len(row["blake3"]) == 64 and row["size"] > 0 for row in rows)
    assert main(["events", log, "--kind", "StateSnapshotCreated", "--since", str(rows[1]["number"] + 1), "--json"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1
