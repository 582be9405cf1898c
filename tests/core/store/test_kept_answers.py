"""Answers kept a file each: bounded, removable, and never given cut or changed."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from core.store import kept_answers
from core.store.kept_answers import KeptAnswers

LIMIT = 1_000_000


@pytest.fixture
def answers(tmp_path: Path) -> KeptAnswers:
    return KeptAnswers(tmp_path / "deep" / "answers")


def test_an_answer_is_given_again_until_it_is_forgotten(answers: KeptAnswers) -> None:
    assert answers.load("a") is None
    assert not answers.clear()
    assert answers.save("a", b"one", LIMIT) and answers.save("a", b"two", LIMIT)
    assert answers.save("b", b"", LIMIT)
    assert (answers.load("a"), answers.load("b"), answers.load("c")) == (b"two", b"", None)
    assert answers.clear()
    assert (answers.load("a"), answers.clear()) == (None, False)


def test_what_is_no_answer_is_left_alone(answers: KeptAnswers) -> None:
    (answers.folder / "folder").mkdir(parents=True)
    answers.save("a", b"one", LIMIT)
    assert answers.clear()
    assert [path.name for path in answers.folder.iterdir()] == ["folder"]


def test_nobody_else_may_read_one(answers: KeptAnswers) -> None:
    answers.save("a", b"one", LIMIT)
    assert stat.S_IMODE((answers.folder / "a").stat().st_mode) == 0o600
    assert [path.name for path in answers.folder.iterdir()] == ["a"]


@pytest.mark.parametrize("spoil", [lambda told: told[:-1], lambda told: told[:7], lambda told: told + b"!"])
def test_one_that_is_damaged_is_none(answers: KeptAnswers, spoil: Callable[[bytes], bytes]) -> None:
    answers.save("a", b"a long answer", LIMIT)
    path = answers.folder / "a"
    path.write_bytes(spoil(path.read_bytes()))
    assert answers.load("a") is None
    assert answers.save("a", b"a new one", LIMIT)
    assert answers.load("a") == b"a new one"


def aged(answers: KeptAnswers, **days: float) -> None:
    for key, count in days.items():
        path = answers.folder / key
        os.utime(path, (path.stat().st_atime, path.stat().st_mtime - count * 86_400))


def test_what_was_not_asked_for_longest_goes_first(answers: KeptAnswers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_answers, "MOST", 2)
    answers.save("a", b"one", LIMIT)
    answers.save("b", b"two", LIMIT)
    aged(answers, a=3, b=2)
    assert answers.load("a") == b"one", "asked for today"
    answers.save("c", b"three", LIMIT)
    assert (answers.load("a"), answers.load("b"), answers.load("c")) == (b"one", None, b"three")


@pytest.mark.parametrize(("limit", "left"), [(50, {"a", "b"}), (49, {"b"}), (25, {"b"})])
def test_together_they_take_no_more_than_they_may(answers: KeptAnswers, limit: int, left: set[str]) -> None:
    answers.save("a", bytes(9), LIMIT)
    aged(answers, a=1)
    assert answers.save("b", bytes(9), limit)
    assert {path.name for path in answers.folder.iterdir()} == left


@pytest.mark.parametrize(("size", "kept"), [(99, True), (100, True), (101, False)])
def test_one_that_is_larger_than_all_may_be_is_not_kept(answers: KeptAnswers, size: int, kept: bool) -> None:
    assert answers.save("a", bytes(size), 116) is kept
    assert (answers.load("a") is not None) is kept


def test_what_cannot_be_written_is_not_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    answers = KeptAnswers(tmp_path / "file" / "answers")
    assert not answers.save("a", b"one", LIMIT)
    assert (answers.load("a"), answers.clear()) == (None, False)
