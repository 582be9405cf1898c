"""What was learned, on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.engine.response.rules import NOTHING_LEARNED
from core.settings.response import LearningSettings
from core.store.carry_over import LearnedStore

FIGURES = LearningSettings()


@pytest.fixture
def store(tmp_path: Path) -> LearnedStore:
    return LearnedStore(tmp_path / "deep" / "learned.json")


def test_stretches_add_up_across_sessions(store: LearnedStore) -> None:
    assert store.read() == NOTHING_LEARNED
    store.add({"frustration": 2}, 3600.0, 10.0, FIGURES)
    after = LearnedStore(store.path).add({"frustration": 6}, 3600.0, 20.0, FIGURES)
    assert after.deltas["frustration"] == pytest.approx(-0.06)
    assert LearnedStore(store.path).read() == after


def test_an_old_log_teaches_nothing_twice(store: LearnedStore) -> None:
    first = store.add({"frustration": 2}, 3600.0, 10.0, FIGURES)
    assert store.add({"frustration": 9}, 3600.0, 10.0, FIGURES) == first


def test_a_short_stretch_writes_nothing(store: LearnedStore) -> None:
    store.add({"frustration": 2}, 10.0, 10.0, FIGURES)
    assert not store.path.exists()


def test_it_can_be_forgotten(store: LearnedStore) -> None:
    assert not store.reset()
    store.add({"frustration": 2}, 3600.0, 10.0, FIGURES)
    assert store.reset()
    assert store.read() == NOTHING_LEARNED


@pytest.mark.parametrize("content", [b"{", b'{"deltas": {"joy": 1}}', b"\xff"])
def test_a_damaged_file_is_named_and_not_used(store: LearnedStore, content: bytes) -> None:
    store.path.parent.mkdir()
    store.path.write_bytes(content)
    assert store.read() == NOTHING_LEARNED
    assert str(store.path) in store.file.notices[0]
