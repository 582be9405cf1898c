"""A person's labels of sessions: too few, no help, or help that is used."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from core.engine.response.loops import DETECTORS
from core.engine.response.outlook import stage_fit
from core.events import Event, Prompt, ToolUse
from core.folders import learned_settings_file
from core.settings import Settings
from core.settings.layers import read_file, resolve
from core.store.bookmarks import Labels, SessionLabel
from core.timeline.own_labels import FEWEST, events_at, label_session, learn, save_label

NEVER: dict[str, int] = dict.fromkeys(DETECTORS, 1)


def session(
    good: bool, tests: int = 0, reached: int = 1, stages: tuple[str, ...] = ("10", "15", "20", "end")
) -> SessionLabel:
    counts = {}
    for stage in stages:
        names = stage_fit(stage, Settings().response.outlook).names
        counts[stage] = dict.fromkeys(names, 2) | {"tests": tests}
    return SessionLabel(good, 1.0, counts, {**NEVER, "rework": reached})


def failing(number: int) -> list[Event]:
    prompt = Prompt(at=0.0, characters=10)
    return [
        prompt,
        *(ToolUse(at=float(n), action="shell_exec", tool="Bash", outcome="failure", call=n) for n in range(number)),
    ]


@pytest.mark.parametrize(("good", "bad", "enough"), [(7, 8, False), (8, 7, False), (8, 8, True)])
def test_below_eight_of_each_there_are_too_few(good: int, bad: int, enough: bool) -> None:
    learned = learn([*[session(True)] * good, *[session(False)] * bad])
    assert FEWEST == 8
    assert all(("too few" in lesson.sentence) is not enough for lesson in learned.lessons)
    assert ("too few" in learned.summary) is not enough
    assert not any(lesson.helps for lesson in learned.lessons)
    assert all((lesson.own is not None) is (lesson.shipped is not None) is enough for lesson in learned.lessons)
    assert bool(learned.values) is enough  # The usual and the base rate are known, no weight changes.


def test_labels_that_say_nothing_change_no_weight() -> None:
    learned = learn([session(good, tests) for good in (True, False) for tests in range(10)])
    assert not any(lesson.helps for lesson in learned.lessons)
    assert {tuple(change) for change in learned.values["response.outlook.weights"].values()} == {("usual",)}
    assert learned.values["response.outlook.base_rate"] == 0.5
    assert learned.summary == "your labels are 10 good, 10 bad; they do not help yet"


def test_labels_that_contradict_the_shipped_weights_are_followed_some_way() -> None:
    learned = learn([*(session(True, n % 2) for n in range(20)), *(session(False, 30 + n % 2) for n in range(20))])
    at_end = next(lesson for lesson in learned.lessons if lesson.part == "outlook at the end")
    assert at_end.helps
    assert at_end.own is not None
    assert at_end.shipped is not None
    assert at_end.own < at_end.shipped
    assert at_end.sentence.startswith("outlook at the end: your labels help, in use")
    change = learned.values["response.outlook.weights"]["end"]["tests"]
    assert 0.0 < change < 1.0
    assert "they help with" in learned.summary


def test_a_limit_rises_where_good_sessions_are_alarmed_and_falls_where_bad_ones_are_missed() -> None:
    noisy = learn([*[session(True, reached=9)] * 12, *[session(False)] * 12])
    assert noisy.values["response.loops.rework.times"] == 10
    missed = learn([*[session(True)] * 12, *[session(False, reached=6)] * 12])
    assert missed.values["response.loops.rework.times"] == 6
    held = learn([*[session(True)] * 30, *[session(False, reached=4)] * 2, *[session(False)] * 28])
    assert not any(name.startswith("response.loops") for name in held.values)


def test_a_label_holds_counts_at_every_stage_and_the_limits_that_are_reached() -> None:
    label = label_session(failing(16), False, 5.0)
    assert {stage: counts["failures"] for stage, counts in label.counts.items()} == {"10": 10, "15": 15, "end": 16}
    assert label.reached["failing"] == 16
    assert label.reached["oscillation"] == 1
    assert label.word == "bad"
    assert label_session([], True, 5.0).counts == {}


def test_actions_of_sub_agents_are_not_counted() -> None:
    other = [ToolUse(at=1.0, agent="helper", action="shell_exec", outcome="failure")] * 20
    assert label_session([*failing(3), *other], True, 1.0).counts["end"]["failures"] == 3


def test_what_was_learned_is_a_settings_file_and_goes_with_the_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOOSCOPE_CONFIG", str(tmp_path / "settings.toml"))
    monkeypatch.setattr("core.store.bookmarks.bookmarks_folder", lambda: tmp_path / "labels")
    monkeypatch.setattr("core.store.bookmarks.bookmarks_folder", lambda: tmp_path / "labels")
    for number in range(24):
        save_label(Labels(f"s{number}"), session(number % 2 == 0, 0 if number % 2 == 0 else 30))
    path = learned_settings_file()
    assert path == tmp_path / "learned.toml"
    assert tomllib.loads(path.read_text())["response"]["outlook"]["base_rate"] == 0.5
    layer, faults = read_file(path, "person")
    resolved = resolve([layer])
    assert (faults, resolved.complaints) == ((), ())
    assert resolved.settings.response.outlook.weights["end"]["tests"] > 0.0
    assert Labels("s0").session() is not None
    for number in range(24):
        learned = save_label(Labels(f"s{number}"), None)
    assert (learned.values, path.exists(), Labels("s0").session()) == ({}, False, None)


def test_events_of_a_session_that_is_gone_are_none(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"type":"user","sessionId":"a","message":{"role":"user","content":"hi"},"uuid":"u"}\n')
    assert list(events_at(log, "other", Settings())) == []
