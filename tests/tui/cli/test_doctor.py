"""`nooscope doctor`: all fine on a clean machine, and every trouble named."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from bench.claude import lines
from core.agents.models import Models
from core.report import checkup
from core.store.compensation import Chain
from tui.cli import main

SECTIONS = ("versions", "terminal", "agents", "prices", "unread", "settings", "folders", "kept", "chains")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NOOSCOPE_CONFIG", str(tmp_path / "config" / "settings.toml"))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_new_kinds_of_records_are_named_with_agent_and_version(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_log(home)
    assert asked(capsys)[1]["records"][0]["skipped"] == {}
    with path.open("ab") as log:
        log.write(b'{"type":"telepathy","sessionId":"s"}\n{"type":"telepathy","sessionId":"s"}\n')
    code, told = asked(capsys)
    (record,) = told["records"]
    assert (code, record["agent"], record["skipped"]) == (0, "claude-code", {"telepathy": 2})
    assert record["version"]
    main(["doctor"])
    assert "new records skipped: telepathy (2)" in capsys.readouterr().out


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    code = main(["doctor", "--json", *words])
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, told


def write_log(home: Path) -> Path:
    path = home / ".claude" / "projects" / "-work" / "one.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(islice(lines(1), 60)))
    return path


def test_a_clean_machine_is_fine(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_log(home)
    code, told = asked(capsys)
    assert (code, told["fine"], told["problems"]) == (0, True, [])
    assert set(SECTIONS) <= set(told)
    (claude,) = [each for each in told["agents"] if each["agent"] == "claude-code"]
    assert claude["sessions"] == 1
    assert claude["folders"][str(home / ".claude" / "projects")] == "found"
    assert told["versions"]["libraries"]["textual"]


def test_the_page_has_a_section_each_and_changes_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_log(home)
    before = sorted(home.rglob("*"))
    assert main(["doctor"]) == 0
    page = capsys.readouterr().out
    assert [line for line in page.splitlines() if line in SECTIONS] == list(SECTIONS)
    assert page.endswith("All fine.\n")
    assert sorted(home.rglob("*")) == before


def test_faults_in_settings_rules_themes_and_tables_are_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "config" / "themes").mkdir(parents=True)
    (home / "config" / "settings.toml").write_text(
        'receptor.ambient.offset.frustration = 9\nreceptor.ambient.silence = 240\nscreen.theme = "nowhere"\n'
        f'ingest.tables.tools = "{home / "missing.toml"}"\n'
    )
    (home / "config" / "themes" / "bad.toml").write_text('name = "bad"\nprimary = "no colour"\n')
    (home / ".nooscope-rules.json").write_text("{")
    code, told = asked(capsys)
    assert code == 1
    said = "\n".join(told["settings"]["complaints"])
    for part in ("settings.toml:1", "bad.toml", ".nooscope-rules.json", "missing.toml", "'nowhere'"):
        assert part in said
    assert told["settings"]["changed"]["receptor.ambient.silence"].endswith("settings.toml")
    assert len(told["problems"]) == len(told["settings"]["complaints"])


def test_a_wrong_assignment_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["doctor", "--set", "nothing.such=1"])
    assert ended.value.code == 2
    assert "no such setting" in capsys.readouterr().err


def test_files_that_are_no_logs_are_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_log(home).parent
    (folder / "strange.jsonl").write_text('{"a": 1}\n')
    (folder / "empty.jsonl").touch()
    loop = folder / "loop.jsonl"
    loop.symlink_to(loop)
    code, told = asked(capsys)
    assert {Path(each["file"]).name for each in told["unread"]} == {"strange.jsonl", "loop.jsonl"}
    assert code == 1
    (problem,) = told["problems"]
    assert "loop.jsonl" in problem and "symbolic links" in problem


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_a_log_without_permission_is_a_problem(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_log(home).chmod(0)
    code, told = asked(capsys)
    assert code == 1
    assert told["unread"][0]["reason"] == "no permission"


def test_a_folder_that_cannot_be_written_is_a_problem(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "file").write_text("not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "file"))
    code, told = asked(capsys)
    assert code == 1
    (cache,) = [each for each in told["folders"] if each["name"] == "cache"]
    assert "is not a folder" in cache["problem"]


def test_damaged_files_of_ours_are_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = home / "xdg_data_home" / "nooscope"
    data.mkdir(parents=True)
    (data / "learned.json").write_text("{")
    (data / "receptor-prior.json").write_bytes(b"\xff")
    (data / "affect").mkdir()
    (data / "affect" / "0a.json").write_text("[{")
    (data / "affect" / "0b.json").write_text("[]")
    (data / "persona-record.json").write_text("[]")
    (data / "personas").mkdir()
    (data / "personas" / f"persona-{'a' * 32}.json").write_text("{}")
    (data / "personas" / "notes.txt").write_text("not ours")
    code, told = asked(capsys)
    assert code == 1
    problems = "\n".join(told["kept"]["problems"])
    assert len(told["kept"]["problems"]) == 5
    assert all(name in problems for name in ("0a.json", "persona-record.json", f"persona-{'a' * 32}.json"))
    assert (data / "affect" / "0a.json").exists() and (data / "persona-record.json").exists()


def test_writes_left_half_done_are_undone(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = home / "config" / "settings.toml"
    target.parent.mkdir()
    target.write_text("receptor.ambient.silence = 240\n")
    left = Chain("save-1", home / "config" / "chains")
    left.write(target, b"half")
    left._journal._file.close()
    code, told = asked(capsys)
    assert (code, len(told["chains"]["undone"]), told["chains"]["open"]) == (0, 1, [])
    assert target.read_text() == "receptor.ambient.silence = 240\n"


def test_a_write_that_cannot_be_undone_stays_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = home / "config" / "chains"
    left = Chain("save-2", folder, {"strange": lambda payload: None})
    left.step("one", lambda: None, "strange", {})
    left._journal._file.close()
    for _ in range(2):
        code, told = asked(capsys)
        assert code == 1
        assert any("save-2" in each for each in told["chains"]["open"])


@pytest.mark.parametrize(("days", "level"), [(0, "fine"), (120, "fine"), (121, "note")])
def test_the_age_of_the_model_table_is_told(days: int, level: str) -> None:
    """An old table is no fault, but newer models will be missing from it."""
    known = Models.load()
    assert known.made_on is not None
    section = checkup.models(known, known.made_on + timedelta(days=days))
    assert section.facts["days"] == days and section.findings[0].level == level
    assert f"made {known.made_on}" in section.findings[0].text
    assert "litellm" in section.findings[1].text


@pytest.mark.parametrize(
    ("environment", "depth"),
    [
        ({"TERM": "xterm"}, 16),
        ({"TERM": "xterm-256color"}, 256),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, 1 << 24),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor", "NO_COLOR": "1"}, 0),
        ({"TERM": "dumb", "COLORTERM": "truecolor"}, 0),
        ({}, 0),
    ],
)
def test_colours(environment: dict[str, str], depth: int) -> None:
    assert checkup.colour_depth(environment) == depth


@pytest.mark.parametrize(
    ("name", "right"), [("utf-8", True), ("UTF8", True), ("ascii", False), ("latin-1", False), ("?", False)]
)
def test_utf8_by_its_names(name: str, right: bool) -> None:
    assert checkup.is_utf8(name) is right


def test_a_full_disk_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    assert checkup.unwritable(tmp_path / "not" / "yet") == ""
    monkeypatch.setattr("tempfile.TemporaryFile", full)
    assert checkup.unwritable(tmp_path) == "cannot be written (no space left on device)"
