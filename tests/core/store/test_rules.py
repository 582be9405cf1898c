"""Rule files on disk: later ones win, a bad one keeps its last good word."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.engine.percept import Signal
from core.engine.response.rules import MOST, RuleSet, add_rules, built_in
from core.engine.response.scoring import Scorer
from core.settings.response import ScoringSettings
from core.store.profiles import RuleFiles, project_file


def write(path: Path, **method: Any) -> Path:
    path.write_text(json.dumps({"methods": [method]}))
    return path


def sensitivity(rules: RuleSet) -> float:
    method = rules.method("path_suggest")
    assert method is not None
    return method.trigger.sensitivity


def test_a_later_file_of_the_persons_wins(tmp_path: Path) -> None:
    user = write(tmp_path / "user.json", id="path_suggest", trigger={"sensitivity": 0.9})
    other = write(tmp_path / "other.json", id="path_suggest", trigger={"sensitivity": 0.1})
    assert sensitivity(RuleFiles([user, other]).load()) == 0.1
    assert sensitivity(RuleFiles([other, user]).load()) == 0.9
    assert RuleFiles([tmp_path / "none.json"]).load() == built_in()


def test_a_file_that_turns_bad_keeps_its_last_good_word(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.json", id="path_suggest", trigger={"sensitivity": 0.9})
    files = RuleFiles([path])
    files.load()
    write(path, id="path_suggest", trigger={"sensitivity": "high"})
    assert sensitivity(files.load()) == 0.9
    assert 'trigger.sensitivity is "high"; it must be a number from 0 to 1' in files.faults[0]
    assert "its last valid content stays in use" in files.faults[-1]
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
    assert "the file is ignored" in files.faults[-1]


def test_the_hidden_project_file_comes_first(tmp_path: Path) -> None:
    assert project_file(tmp_path).name == ".nooscope-rules.json"
    (tmp_path / "receptor-rules.json").write_text("{}")
    assert project_file(tmp_path).name == "receptor-rules.json"
    (tmp_path / ".nooscope-rules.json").write_text("{}")
    assert project_file(tmp_path).name == ".nooscope-rules.json"


def laid(tmp_path: Path, **method: Any) -> tuple[RuleSet, tuple[str, ...]]:
    """A project's rules over what a person says of path_suggest."""
    mine = write(
        tmp_path / "mine.json", id="path_suggest", trigger={"sensitivity": 0.4, "frequency": "medium", "threshold": 0.2}
    )
    files = RuleFiles([mine], [write(tmp_path / "theirs.json", **method)])
    return files.load(), files.faults


@pytest.mark.parametrize(
    ("field", "value", "may"),
    [
        ("enabled", False, False),
        ("enabled", True, True),
        ("mode", "background", False),
        ("type", "action_log", False),
        ("action", {"say": "All is well."}, False),
        ("action", {"kind": "done"}, False),
        ("action", {"deliver": {"kind": "steer"}}, False),
        ("trigger", {"sensitivity": 0.39}, False),
        ("trigger", {"sensitivity": 0.4}, True),
        ("trigger", {"sensitivity": 0.41}, True),
        ("trigger", {"frequency": "low"}, False),
        ("trigger", {"frequency": "high"}, True),
        ("trigger", {"threshold": 0.21}, False),
        ("trigger", {"threshold": 0.2}, True),
        ("trigger", {"threshold": 0.19}, True),
        ("trigger", {"threshold": None}, False),
        ("trigger", {"signals": ["halt"]}, False),
        ("trigger", {"signals": ["any"]}, False),
        ("trigger", {"states": ["idle"]}, False),
        ("trigger", {"states": ["any"]}, True),
        ("trigger", {"despite_flow": True}, True),
    ],
)
def test_a_project_may_only_make_a_method_more_sensitive(tmp_path: Path, field: str, value: Any, may: bool) -> None:
    rules, faults = laid(tmp_path, id="path_suggest", **{field: value})
    mine = RuleFiles([tmp_path / "mine.json"]).load()
    own = add_rules(mine, (tmp_path / "theirs.json").read_bytes(), "x")
    assert rules.methods == (own.methods if may else mine.methods)
    assert len(faults) == (not may)
    if faults:
        name = f"{field}.{next(iter(value))}" if field == "trigger" else field
        assert faults[0].startswith(f"{tmp_path / 'theirs.json'}:1: path_suggest: {name}: ignored; ")
        assert rules.origins == mine.origins


def test_what_is_refused_costs_nothing_else_of_the_file(tmp_path: Path) -> None:
    rules, faults = laid(tmp_path, id="path_suggest", enabled=False, trigger={"sensitivity": 0.8, "frequency": "low"})
    method = rules.method("path_suggest")
    assert method is not None and method.enabled
    assert (method.trigger.sensitivity, method.trigger.frequency) == (0.8, "medium")
    assert len(faults) == 2


NEW: dict[str, Any] = {
    "type": "status_notify",
    "mode": "notify",
    "trigger": {"signals": ["fatigue"], "states": ["any"], "sensitivity": 0.5},
}


@pytest.mark.parametrize(
    ("more", "part"),
    [
        ({"id": "rest_now"}, ""),
        ({"id": "rest_now", "action": {"kind": "needs_you", "say": "Rest."}}, ""),
        ({"id": "rest_now", "action": {"kind": "done"}}, "action.kind is done"),
        ({"id": "rest_now", "type": "context_persist"}, "only your own rules may write checkpoints"),
        ({"id": "rest_now", "action": {"deliver": {"kind": "steer"}}}, "send text to an agent"),
        ({"id": "done"}, "a reserved name"),
        ({"id": "question"}, "a reserved name"),
    ],
)
def test_a_project_may_add_methods_that_warn(tmp_path: Path, more: dict[str, Any], part: str) -> None:
    rules, faults = laid(tmp_path, **{**NEW, **more})
    assert (rules.method(more["id"]) is None) == bool(part)
    assert (part in faults[0] and ":1: " in faults[0]) if part else faults == ()


def test_a_project_may_add_so_many_and_no_more(tmp_path: Path) -> None:
    path = tmp_path / "theirs.json"
    usual = len(built_in().methods)
    for count, kept, faults in ((MOST, MOST, 0), (MOST + 1, MOST, 1), (2000, MOST, 1)):
        path.write_text(json.dumps({"methods": [{"id": f"m{number}", **NEW} for number in range(count)]}))
        files = RuleFiles([], [path])
        assert len(files.load().methods) == usual + kept
        assert len(files.faults) == faults


def test_a_number_too_long_to_read_costs_only_the_file(tmp_path: Path) -> None:
    path = tmp_path / "theirs.json"
    path.write_text('{"methods": [' + "9" * 5000 + "]}")
    files = RuleFiles([], [path])
    assert files.load() == built_in()
    assert "is not JSON" in files.faults[0]


@pytest.mark.parametrize("name", ["push_reminder", "context_snapshot"])
def test_a_project_may_not_have_more_good_news_told_or_checkpoints_written(tmp_path: Path, name: str) -> None:
    rules, faults = laid(tmp_path, id=name, trigger={"sensitivity": 1.0, "frequency": "high"})
    assert rules.method(name) == built_in().method(name)
    assert len(faults) == 1 and "only your own rules may change a method that does not warn" in faults[0]


def test_another_signal_cannot_use_up_the_rest_of_an_alert(tmp_path: Path) -> None:
    rules, _ = laid(tmp_path, id="loop_alert", trigger={"signals": ["any"], "sensitivity": 1.0})
    scorer = Scorer(ScoringSettings(), rules, {})
    scorer.update(0.0, "deep_work", (Signal("confidence_sustained", 0.9, True),))
    shots = scorer.update(60.0, "stuck", (), [("loop", 0.9)])
    assert "loop_alert" in {shot.method.id for shot in shots}
