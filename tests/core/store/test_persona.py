"""Personas in a folder: ours replaces ours, others' are read with care."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from core.engine.receptor.persona import Encounter
from core.store.carry_over import PersonaStore
from tests.core.engine.receptor.test_persona import persona


@pytest.fixture
def store(tmp_path: Path) -> PersonaStore:
    return PersonaStore(tmp_path / "shared", tmp_path / "record.json")


def other(tmp_path: Path) -> PersonaStore:
    return PersonaStore(tmp_path / "shared", tmp_path / "other-record.json")


def test_one_meets_others_and_never_oneself(store: PersonaStore, tmp_path: Path) -> None:
    assert store.others() == []
    store.leave(persona(mean=0.1))
    other(tmp_path).leave(persona(mean=0.2))
    assert store.others() == [persona(mean=0.2)]
    assert other(tmp_path).others() == [persona(mean=0.1)]


def test_a_new_persona_takes_the_old_ones_place(store: PersonaStore) -> None:
    first = store.leave(persona(mean=0.1))
    second = store.leave(persona(mean=0.2))
    assert list(store.folder.iterdir()) == [second]
    assert first != second


def test_a_file_tells_nothing_by_its_name(store: PersonaStore) -> None:
    path = store.leave(persona())
    assert path.name == f"persona-{persona().origin.profile}.json"


def test_what_is_no_persona_is_left_out_and_counted(store: PersonaStore) -> None:
    store.folder.mkdir()
    good = persona()
    names = [f"persona-{number:032x}.json" for number in range(3)]
    for name, content in zip(names, (b"{", msgspec.json.encode(good), b"x" * 70_000), strict=True):
        (store.folder / name).write_bytes(content)
    (store.folder / "holiday.jpg").write_bytes(b"")
    assert store.others() == []
    assert store.skipped == 3


def test_a_meeting_is_recorded_with_its_seed(store: PersonaStore) -> None:
    meeting = Encounter("ab", 42, 0.9, 0.5, 3)
    store.add_encounter(meeting)
    store.leave(persona())
    assert store.record().encounter == meeting
    assert store.record().own == persona().origin.profile
