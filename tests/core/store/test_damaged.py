"""What a damaged file holds is not written over: it is set aside, and a person is told once."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.workload import session
from core.engine.society import Society
from core.live.carry_over import CarryOver
from core.settings import Settings
from core.store.carry_over import AffectLeft, AffectStore, LearnedStore, PersonaStore, PriorStore

GARBAGE = [b"", b"\x00\xff\x9b31m", b'[{"session":', b"{}1"]
LEFT = AffectLeft("s", "claude-code", 10.0, (0.1,) * 7)


@pytest.mark.parametrize("content", GARBAGE)
def test_affect_of_a_project(tmp_path: Path, content: bytes) -> None:
    store = AffectStore(tmp_path)
    store.leave("/p", LEFT)
    (path,) = tmp_path.glob("*.json")
    path.write_bytes(content)
    assert store.last("/p", "claude-code", "other", 11.0, 60.0) is None
    (said,) = store.notices
    assert said.endswith(f"it was set aside as {path.name}.damaged")
    assert path.with_name(f"{path.name}.damaged").read_bytes() == content
    store.leave("/p", LEFT)
    assert store.last("/p", "claude-code", "other", 11.0, 60.0) is not None
    path.write_bytes(content)
    assert store.neighbours("/p", "other", 11.0, 60.0) == ()
    assert path.with_name(f"{path.name}.damaged-2").read_bytes() == content
    assert len(store.notices) == 2


@pytest.mark.parametrize("content", GARBAGE)
def test_a_watched_session_says_it(tmp_path: Path, content: bytes) -> None:
    record, affect = tmp_path / "record.json", AffectStore(tmp_path / "affect")
    record.write_bytes(content)
    affect.leave("/p", LEFT)
    (path,) = affect.folder.glob("*.json")
    path.write_bytes(content)
    settings = Settings.parse({"response": {"persona": {"confidence": 0.0}}})
    carry_over = CarryOver(
        settings,
        prior=PriorStore(tmp_path / "prior.json"),
        learned=LearnedStore(tmp_path / "learned.json"),
        personas=PersonaStore(tmp_path / "personas", record),
        affect=affect,
    )
    carry_over.belongs("claude-code", "/p")
    society = Society(settings)
    for event in session(500):
        society.step(event)
    carry_over.on_rest(society)
    told = [one for one in carry_over.problems if "was damaged" in one]
    assert len(told) == 2 and str(path) in told[0] and str(record) in told[1]
    assert record.with_name("record.json.damaged").read_bytes() == content
    carry_over.on_rest(society)
    assert [one for one in carry_over.problems if "was damaged" in one] == told


def test_a_file_that_is_not_there_is_no_damage(tmp_path: Path) -> None:
    store, personas = AffectStore(tmp_path), PersonaStore(tmp_path, tmp_path / "record.json")
    assert store.neighbours("/p", "s", 1.0, 60.0) == () and not personas.record().own
    assert (store.notices, personas.notices) == ([], [])
