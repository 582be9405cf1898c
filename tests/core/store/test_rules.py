"""Rule files on disk: later ones win, a bad one keeps its last good word."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from core.response.rules import RuleSet, built_in
from core.store.rules import RuleFiles, project_file


def write(path: Path, **method: Any) -> Path:
    path.write_text(json.dumps({"methods": [method]}))
    return path


def sensitivity(rules: RuleSet) -> float:
    method = rules.method("path_suggest")
    assert method is not None
    return method.trigger.sensitivity


def test_the_projects_word_stands_over_the_persons(tmp_path: Path) -> None:
    user = write(tmp_path / "user.json", id="path_suggest", trigger={"sensitivity": 0.9})
    project = write(tmp_path / "project.json", id="path_suggest", trigger={"sensitivity": 0.1})
    assert sensitivity(RuleFiles([user, project]).load()) == 0.1
    assert sensitivity(RuleFiles([project, user]).load()) == 0.9
    assert RuleFiles([tmp_path / "none.json"]).load() == built_in()


def test_a_file_that_turns_bad_keeps_its_last_good_word(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.json", id="path_suggest", trigger={"sensitivity": 0.9})
    files = RuleFiles([path])
    files.load()
    write(path, id="path_suggest", trigger={"sensitivity": "high"})
    assert sensitivity(files.load()) == 0.9
    assert 'trigger.sensitivity is "high"; it may be a number from 0 to 1' in files.faults[0]
    assert "its last good content stays" in files.faults[-1]
    write(path, id="path_suggest", trigger={"sensitivity": 0.3})
    assert sensitivity(files.load()) == 0.3
    assert files.faults == ()
    path.unlink()
    assert files.load() == built_in()


def test_a_file_that_was_never_good_is_left_out_alone(tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text("{")
    good = write(tmp_path / "good.json", id="path_suggest", trigger={"sensitivity": 0.2})
    files = RuleFiles([bad, good])
    assert sensitivity(files.load()) == 0.2
    assert "the file is left out" in files.faults[-1]


def test_the_hidden_project_file_comes_first(tmp_path: Path) -> None:
    assert project_file(tmp_path).name == ".nooscope-rules.json"
    (tmp_path / "receptor-rules.json").write_text("{}")
    assert project_file(tmp_path).name == "receptor-rules.json"
    (tmp_path / ".nooscope-rules.json").write_text("{}")
    assert project_file(tmp_path).name == ".nooscope-rules.json"
