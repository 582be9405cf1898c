"""Labels live beside bookmarks and never disturb them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.store.bookmarks import Bookmark, Bookmarks, Label, Labels, Score, Verdict, export_labels, score


def label(place: int, verdict: Verdict = "right", name: str = "frustration_spike", at: float = 0.0) -> Label:
    return Label(place, at or 100.0 + place, verdict, name, "main", 5.0)


def test_a_judgement_is_kept_replaced_and_withdrawn(tmp_path: Path) -> None:
    labels = Labels("s", tmp_path)
    labels.judge(label(4))
    labels.judge(label(2, "missed", ""))
    assert [each.verdict for each in labels.judged()] == ["missed", "right"]
    labels.judge(label(4, "wrong"))
    assert [each.verdict for each in Labels("s", tmp_path).judged()] == ["missed", "wrong"]
    labels.withdraw(label(4))
    assert [each.place for each in labels.judged()] == [2]


def test_a_missed_moment_and_a_firing_at_one_place_are_two_things(tmp_path: Path) -> None:
    labels = Labels("s", tmp_path)
    labels.judge(label(4, "wrong", ""))
    labels.judge(label(4, "missed", ""))
    assert len(labels.judged()) == 2


def test_bookmarks_and_labels_share_a_file_and_leave_each_other_alone(tmp_path: Path) -> None:
    marks, labels = Bookmarks("s", tmp_path), Labels("s", tmp_path)
    marks.put(Bookmark("here", 3, 1.0, 2.0))
    labels.judge(label(4))
    marks.put(Bookmark("there", 5, 1.0, 2.0))
    labels.judge(label(6))
    assert [mark.name for mark in marks.read()] == ["here", "there"]
    assert [each.place for each in labels.judged()] == [4, 6]
    assert len(list(tmp_path.glob("*.json"))) == 1


def test_export_is_json_by_session(tmp_path: Path) -> None:
    Labels("one", tmp_path).judge(label(4))
    Labels("two", tmp_path).judge(label(5, "missed", ""))
    Bookmarks("three", tmp_path).put(Bookmark("here", 3, 1.0, 2.0))
    data, notices = export_labels(tmp_path)
    content = json.loads(data)
    assert notices == []
    assert len(content["sessions"]) == 2
    kept = content["sessions"][Labels("one", tmp_path).key]
    assert kept == [
        {"place": 4, "at": 104.0, "verdict": "right", "name": "frustration_spike", "agent": "main", "created": 5.0}
    ]


@pytest.mark.parametrize(
    ("labels", "fired", "hits", "misses", "false"),
    [
        ([label(1, at=100.0)], [(130.0, "main", "frustration_spike")], 1, 0, 0),
        ([label(1, at=100.0)], [(200.0, "main", "frustration_spike")], 0, 1, 0),
        ([label(1, at=100.0)], [(100.0, "main", "seeking_spike")], 0, 1, 0),
        ([label(1, at=100.0)], [(100.0, "other", "frustration_spike")], 0, 1, 0),
        ([label(1, "wrong", at=100.0)], [(100.0, "main", "frustration_spike")], 0, 0, 1),
        ([label(1, "wrong", at=100.0)], [], 0, 0, 0),
        ([label(1, "missed", "", at=100.0)], [(90.0, "main", "fatigue_rising")], 1, 0, 0),
        ([label(1, "missed", "", at=100.0)], [], 0, 1, 0),
    ],
)
def test_firings_are_held_against_labels(
    labels: list[Label], fired: list[tuple[float, str, str]], hits: int, misses: int, false: int
) -> None:
    assert score(labels, fired, near=60.0) == Score(hits, misses, false)


def test_precision_and_recall() -> None:
    assert Score(3, 1, 2).precision == pytest.approx(0.6)
    assert Score(3, 1, 2).recall == pytest.approx(0.75)
    assert Score(0, 0, 0).precision is None
    assert Score(0, 0, 0).recall is None
