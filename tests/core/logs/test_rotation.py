"""What was written to a log before its name went to another file is still read, and nothing twice."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from core.agents.registry import make_kit
from core.events import Event, ToolUse
from core.logs.follow import Follower
from core.logs.log_files import HeldLog
from core.logs.tail import _MARK
from tests.core.logs import log_lines as logs

KIT = make_kit()


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def uses(events: list[Event]) -> list[str]:
    return [event.id for event in events if isinstance(event, ToolUse)]


def named(first: int, last: int) -> list[str]:
    return [f"t{number}" for number in range(first, last)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "s-1.jsonl"
    place.write_bytes(logs.session(2))
    return place


def test_lines_before_a_rename_are_read_before_the_new_file(path: Path) -> None:
    follower = Follower(path, KIT)
    assert uses(follower.poll()) == named(0, 2)
    append(path, logs.session(20, first=2))
    path.rename(path.with_name("s-1.jsonl.1"))
    path.write_bytes(logs.session(3, first=22))
    assert uses(follower.poll()) == named(2, 25)
    assert follower.notices() == ["s-1.jsonl: was replaced; reading it from the start"]
    append(path, logs.session(1, first=25))
    assert uses(follower.poll()) == named(25, 26)


def test_an_unended_last_line_is_taken_before_the_new_file(path: Path) -> None:
    follower = Follower(path, KIT)
    follower.poll()
    append(path, logs.session(1, first=2).removesuffix(b"\n"))
    path.rename(path.with_name("old"))
    path.write_bytes(logs.session(1, first=3))
    assert uses(follower.poll()) == named(2, 4)


def test_lines_after_the_rename_but_before_the_new_file_are_read(path: Path) -> None:
    old = path.with_name("old")
    follower = Follower(path, KIT)
    follower.poll()
    path.rename(old)
    append(old, logs.session(1, first=2))
    assert uses(follower.poll()) == named(2, 3)
    append(old, logs.session(1, first=3))
    assert uses(follower.poll()) == named(3, 4)
    path.write_bytes(logs.session(1, first=4))
    assert uses(follower.poll()) == named(4, 5)


def test_lines_before_a_replacement_are_read(path: Path) -> None:
    follower = Follower(path, KIT)
    follower.poll()
    append(path, logs.session(2, first=2))
    other = path.with_name("other")
    other.write_bytes(logs.session(6))
    other.replace(path)
    assert uses(follower.poll()) == [*named(2, 4), *named(4, 6)]
    assert follower.poll() == []


@pytest.mark.parametrize("name", ["s-1.jsonl.1", "s-1.jsonl-20260101"])
def test_lines_before_a_copy_and_cut_are_read_from_the_copy(path: Path, name: str) -> None:
    follower = Follower(path, KIT)
    follower.poll()
    append(path, logs.session(3, first=2))
    shutil.copy2(path, path.with_name(name))
    os.truncate(path, 0)
    append(path, logs.session(1, first=5))
    assert uses(follower.poll()) == named(2, 6)
    assert follower.notices() == ["s-1.jsonl: was cut short; reading it from the start"]


def test_a_file_beside_that_is_no_copy_is_not_read(path: Path) -> None:
    path.with_name("s-1.jsonl.1").write_bytes(logs.session(9, first=50))
    follower = Follower(path, KIT)
    follower.poll()
    os.truncate(path, 0)
    append(path, logs.session(1, first=5))
    assert uses(follower.poll()) == named(5, 6)


def test_lines_before_a_deletion_are_read(path: Path) -> None:
    follower = Follower(path, KIT)
    follower.poll()
    append(path, logs.session(2, first=2))
    path.unlink()
    assert uses(follower.poll()) == named(2, 4)
    assert follower.notices() == ["s-1.jsonl: vanished; waiting for it"]


def test_without_a_descriptor_to_spare_the_new_file_is_still_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HeldLog, "keep", lambda _: False)
    follower = Follower(path, KIT)
    follower.poll()
    path.rename(path.with_name("old"))
    path.write_bytes(logs.session(1, first=3))
    assert uses(follower.poll()) == named(3, 4)


@pytest.mark.parametrize(("back", "noticed"), [(_MARK - 1, True), (_MARK, True), (_MARK + 1, False)])
def test_a_rewrite_is_noticed_in_the_last_bytes_read(path: Path, back: int, noticed: bool) -> None:
    follower = Follower(path, KIT)
    follower.poll()
    data = bytearray(path.read_bytes())
    data[-back] ^= 1
    with path.open("r+b") as file:
        file.write(bytes(data) + logs.session(1, first=2))
    assert "t2" in uses(follower.poll())
    assert follower.notices() == (["s-1.jsonl: was rewritten; reading it from the start"] if noticed else [])


@pytest.mark.parametrize(("less", "cut"), [(1, True), (0, False), (-1, False)])
def test_a_log_is_cut_short_only_below_the_place_reached(path: Path, less: int, cut: bool) -> None:
    follower = Follower(path, KIT)
    follower.poll()
    size = path.stat().st_size
    os.truncate(path, size - less)
    follower.poll()
    assert follower.notices() == (["s-1.jsonl: was cut short; reading it from the start"] if cut else [])


def test_a_log_that_becomes_unreadable_is_said_once_and_counted(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kit = make_kit()
    follower = Follower(path, kit)
    follower.poll()
    path.unlink()
    os.mkfifo(path)
    for _ in range(3):
        assert follower.poll() == []
    said = follower.notices()
    assert said[-1] == "s-1.jsonl: not a regular file; trying again"
    assert len([one for one in said if "regular" in one]) == 1
    assert kit.diagnostics.counts == {"not a regular file": 1}
