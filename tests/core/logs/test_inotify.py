"""What the kernel announces of folders reaches whoever waits for it."""

from __future__ import annotations

import errno
import struct
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.logs.follow import file_changes
from core.settings.program import FollowSettings

if sys.platform != "linux":
    pytest.skip("inotify is part of Linux", allow_module_level=True)

from core.logs.follow import Inotify

PATIENCE = 20.0
"""Seconds after which what should be announced is taken for lost."""


@pytest.fixture
def below(tmp_path: Path) -> Iterator[Inotify]:
    (tmp_path / "one" / "deep").mkdir(parents=True)
    (tmp_path / "two").mkdir()
    with Inotify([tmp_path], recursive=True) as kernel:
        yield kernel


def announced(kernel: Inotify) -> set[Path]:
    assert kernel.wait(PATIENCE)
    return kernel.take()


def test_what_is_written_is_announced_and_what_is_read_is_not(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"one\n")
    with Inotify([tmp_path], recursive=False) as kernel:
        assert log.read_bytes() == b"one\n"
        assert not kernel.wait(0.0)
        assert kernel.take() == set()
        with log.open("ab") as file:
            file.write(b"two\n")
        assert announced(kernel) == {log}
        assert not kernel.wait(0.0)
        log.chmod(0o600)
        assert announced(kernel) == {log}
        log.rename(tmp_path / "old")
        assert announced(kernel) == {log, tmp_path / "old"}
        (tmp_path / "old").unlink()
        assert announced(kernel) == {tmp_path / "old"}


def test_only_the_folder_itself_is_announced_unless_all_below_is_wanted(tmp_path: Path, below: Inotify) -> None:
    deep = tmp_path / "one" / "deep" / "log"
    with Inotify([tmp_path], recursive=False) as flat:
        deep.touch()
        assert announced(below) == {deep}
        assert not flat.wait(0.0)


def test_folders_that_come_later_are_watched_too(tmp_path: Path, below: Inotify) -> None:
    new = tmp_path / "two" / "new"
    new.mkdir()
    assert announced(below) == {new}
    (new / "log").touch()
    assert announced(below) == {new / "log"}


def test_a_folder_that_moves_is_announced_by_its_new_name_alone(tmp_path: Path, below: Inotify) -> None:
    moved = tmp_path / "two" / "moved"
    (tmp_path / "one").rename(moved)
    assert announced(below) >= {tmp_path / "one", moved}
    (moved / "deep" / "log").touch()
    assert announced(below) == {moved / "deep" / "log"}


def test_a_folder_that_leaves_is_announced_no_longer(
    tmp_path: Path, below: Inotify, tmp_path_factory: pytest.TempPathFactory
) -> None:
    away = tmp_path_factory.mktemp("away") / "one"
    (tmp_path / "one").rename(away)
    assert tmp_path / "one" in announced(below)
    (away / "log").touch()
    (away / "deep" / "log").touch()
    assert below.take() == set()


def test_a_link_gives_a_folder_a_second_name_and_a_circle_of_links_ends(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "link").symlink_to("one")
    (tmp_path / "one" / "up").symlink_to("..")
    with Inotify([tmp_path], recursive=True) as kernel:
        (tmp_path / "one" / "log").touch()
        assert announced(kernel) >= {tmp_path / "one" / "log", tmp_path / "link" / "log"}


def test_a_folder_that_is_gone_again_costs_nothing(tmp_path: Path, below: Inotify) -> None:
    brief = tmp_path / "brief"
    brief.mkdir()
    brief.rmdir()
    assert announced(below) == {brief}
    (tmp_path / "log").touch()
    assert announced(below) == {tmp_path / "log"}


def test_a_folder_that_is_not_there_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Inotify([tmp_path / "missing"], recursive=True)


def test_a_limit_is_a_fault_and_leaves_nothing_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.logs.follow._fault", lambda name: OSError(errno.ENOSPC, "no space", name))
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(OSError, match="no space"):
        Inotify([tmp_path / "missing"], recursive=False)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_folder_nobody_may_see_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.logs.follow._fault", lambda name: OSError(errno.EACCES, "closed", name))
    with Inotify([tmp_path / "missing", tmp_path], recursive=True) as kernel:
        (tmp_path / "log").touch()
        assert announced(kernel) == {tmp_path / "log"}


def test_where_announcements_were_lost_the_caller_looks_and_begins_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Inotify, "wait", lambda *_: True)
    read = iter([struct.pack("iIII", -1, 0x4000, 0, 0)])

    def overflow(*_: object) -> bytes:
        for data in read:
            return data
        raise BlockingIOError

    monkeypatch.setattr("core.logs.follow.os.read", overflow)
    assert list(file_changes([tmp_path], threading.Event(), FollowSettings(), recursive=True)) == [set()]


def test_waiting_ends_when_it_is_told_to(tmp_path: Path) -> None:
    stop = threading.Event()
    told: list[set[Path]] = []

    def follow() -> None:
        told.extend(file_changes([tmp_path], stop, FollowSettings(poll=60.0), recursive=True))

    thread = threading.Thread(target=follow)
    thread.start()
    stop.set()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert told == []
