"""`nooscope rules`: listed, checked, forgotten."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.settings.response import LearningSettings
from core.store.carry_over import LearnedStore
from tui.cli import main


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person with folders of their own, in a project."""
    (tmp_path / "config").mkdir()
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("NOOSCOPE_CONFIG", str(tmp_path / "config" / "settings.toml"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


def bend(path: Path, sensitivity: object) -> None:
    entry = {"id": "path_suggest", "trigger": {"sensitivity": sensitivity}}
    path.write_text(json.dumps({"methods": [entry]}))


def test_the_table_names_every_method(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split()[:4] == ["id", "mode", "type", "signals"]
    assert rows[0].split()[0] == "engram_probe"
    assert len([row for row in rows if row.endswith("built-in")]) == 13


def test_as_json_with_where_each_came_from(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bend(home / "config" / "receptor-rules.json", 0.4)
    bend(home / "project" / ".nooscope-rules.json", 0.7)
    assert main(["rules", "--json"]) == 0
    methods = {row["id"]: row for row in json.loads(capsys.readouterr().out)["methods"]}
    assert methods["path_suggest"]["trigger"]["sensitivity"] == 0.7
    assert methods["path_suggest"]["origin"] == str(home / "project" / ".nooscope-rules.json")
    assert methods["engram_probe"]["origin"] == "built-in"


def test_a_bad_file_is_named_and_the_rest_stays(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bend(home / "config" / "receptor-rules.json", 0.9)
    bend(home / "project" / "receptor-rules.json", "high")
    assert main(["rules", "--json"]) == 0
    captured = capsys.readouterr()
    methods = {row["id"]: row for row in json.loads(captured.out)["methods"]}
    assert methods["path_suggest"]["trigger"]["sensitivity"] == 0.9
    assert f"{home / 'project' / 'receptor-rules.json'}: methods[0] (path_suggest)" in captured.err
    assert "it must be a number from 0 to 1" in captured.err


def test_check_says_what_a_file_does(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = home / "mine.json"
    bend(path, 0.4)
    assert main(["rules", "check", str(path)]) == 0
    assert capsys.readouterr().out.splitlines() == [f"{path}: fine", "  changes path_suggest"]


@pytest.mark.parametrize("content", ['{"methods": [{"id": "x"}]}', "nonsense", None])
def test_check_refuses_with_a_sentence(home: Path, content: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    path = home / "mine.json"
    if content is not None:
        path.write_text(content)
    assert main(["rules", "check", str(path)]) == 1
    assert str(path) in capsys.readouterr().err


def test_what_was_learned_is_shown_and_forgotten(capsys: pytest.CaptureFixture[str]) -> None:
    store = LearnedStore()
    for fires, until in ((2, 1.0), (8, 2.0)):
        store.add({"frustration": fires}, 3600.0, until, LearningSettings())
    assert main(["rules"]) == 0
    assert "Learned from 2 stretches of work: frustration -0.090." in capsys.readouterr().out
    assert main(["rules", "--reset-learned"]) == 0
    assert "Forgotten." in capsys.readouterr().out
    assert main(["rules", "--reset-learned"]) == 0
    assert "Nothing had been learned." in capsys.readouterr().out
