"""The journal of permits: every change to it is seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import StoreError
from core.store.journals import PermitEntry, PermitJournal


def entry(number: int, reason: str = "it writes") -> PermitEntry:
    return PermitEntry(float(number), "used", "s", "Write", "ab", "cd", "write", reason, number)


@pytest.fixture
def journal(tmp_path: Path) -> PermitJournal:
    made = PermitJournal(tmp_path / "below" / "permits.jsonl")
    for number in range(5):
        made.add(entry(number))
    return made


def test_it_is_read_back_and_whole(journal: PermitJournal) -> None:
    assert list(journal.read()) == [entry(number) for number in range(5)]
    assert journal.check()[:2] == (5, "")
    assert journal.path.stat().st_mode & 0o777 == 0o600


def test_an_empty_one_is_whole(tmp_path: Path) -> None:
    made = PermitJournal(tmp_path / "none")
    assert made.check()[:2] == (0, "") and list(made.read()) == []


@pytest.mark.parametrize("place", range(5))
def test_a_changed_line_is_named(journal: PermitJournal, place: int) -> None:
    lines = journal.path.read_bytes().splitlines(keepends=True)
    lines[place] = lines[place].replace(b'"Write"', b'"Wrote"')
    journal.path.write_bytes(b"".join(lines))
    assert journal.check()[:2] == (place, f"line {place + 1} was changed")


@pytest.mark.parametrize("place", range(4))
def test_a_line_taken_out_is_seen(journal: PermitJournal, place: int) -> None:
    lines = journal.path.read_bytes().splitlines(keepends=True)
    del lines[place]
    journal.path.write_bytes(b"".join(lines))
    assert journal.check().fault.startswith(f"before line {place + 1}")


def test_lines_that_change_places_are_seen(journal: PermitJournal) -> None:
    lines = journal.path.read_bytes().splitlines(keepends=True)
    journal.path.write_bytes(b"".join([lines[1], lines[0], *lines[2:]]))
    assert journal.check().fault


def test_a_cut_end_changes_what_it_stands_for(journal: PermitJournal) -> None:
    """It is whole in itself; only who noted the hash before sees that something is gone."""
    before = journal.check().head
    journal.path.write_bytes(b"".join(journal.path.read_bytes().splitlines(keepends=True)[:-1]))
    assert journal.check().fault == "" and journal.check().head != before


def test_long_lines_are_chained_too(journal: PermitJournal) -> None:
    journal.add(entry(5, "x" * 30_000))
    journal.add(entry(6))
    assert journal.check()[:2] == (7, "")


def test_what_cannot_be_kept_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError):
        PermitJournal(tmp_path / "file" / "permits.jsonl").add(entry(1))
