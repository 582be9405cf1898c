"""The prior's file: whole or not at all, and each session counted once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.engine.percept import AXES
from core.engine.receptor.persona import AmbientPrior, Prior
from core.errors import StoreError
from core.settings.response import PriorSettings
from core.store.carry_over import PriorStore

FIGURES = PriorSettings()


def session(ts: float, level: float = 0.5) -> Prior:
    return Prior(ts, 1, AmbientPrior(dict.fromkeys(AXES, level), {}), {"wandering": 1.0}, {"search": 1.0})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "receptor-prior.json"


def test_the_file_has_the_published_names(path: Path) -> None:
    PriorStore(path).settle(session(10.0), FIGURES)
    tree = json.loads(path.read_text())
    assert list(tree) == ["ts", "sessionCount", "ambient", "patternDistribution", "actionSignature"]
    assert list(tree["ambient"]) == ["baselineEmotion", "adaptedThresholds"]
    assert PriorStore(path).read() == session(10.0)


def test_a_session_that_settles_again_replaces_what_it_said(path: Path) -> None:
    PriorStore(path).settle(session(10.0, 0.2), FIGURES)
    store = PriorStore(path)
    store.settle(session(20.0, 0.6), FIGURES)
    settled = store.settle(session(30.0, 1.0), FIGURES)
    assert settled == PriorStore(path).read()
    assert settled is not None and settled.session_count == 2
    assert settled.ambient.baseline_emotion["flow"] == pytest.approx(0.7 * 0.2 + 0.3 * 1.0)


def test_another_session_in_between_is_not_lost(path: Path) -> None:
    one, other = PriorStore(path), PriorStore(path)
    one.settle(session(10.0, 0.2), FIGURES)
    other.settle(session(20.0, 0.4), FIGURES)
    settled = one.settle(session(30.0, 0.8), FIGURES)
    assert settled is not None and settled.session_count == 3
    assert settled.ambient.baseline_emotion["flow"] == pytest.approx(0.7 * (0.7 * 0.2 + 0.3 * 0.4) + 0.3 * 0.8)


def test_an_old_log_teaches_nothing_twice(path: Path) -> None:
    PriorStore(path).settle(session(10.0, 0.2), FIGURES)
    before = path.read_bytes()
    assert PriorStore(path).settle(session(10.0, 0.9), FIGURES) is None
    assert PriorStore(path).settle(session(5.0, 0.9), FIGURES) is None
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"ts": "x"}', b"\xff"])
def test_a_damaged_file_is_named_and_begun_again(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    store = PriorStore(path)
    assert store.read() is None
    assert str(path) in store.file.notices[0]
    store.settle(session(1.0), FIGURES)
    assert PriorStore(path).read() == session(1.0)


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        PriorStore(tmp_path / "file" / "prior.json").settle(session(1.0), FIGURES)
