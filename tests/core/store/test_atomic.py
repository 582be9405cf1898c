"""A file is replaced in one step, and nothing else at or beside its name is lost."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.store import atomic


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.usefixtures("umask")
def test_a_new_file_is_the_owners_own_unless_it_is_for_others(tmp_path: Path) -> None:
    mine, shared = tmp_path / "mine", tmp_path / "shared"
    atomic.replace(mine, b"1")
    atomic.replace(shared, b"2", atomic.AS_USUAL)
    assert (mode_of(mine), mode_of(shared)) == (0o600, 0o640)
    assert names(tmp_path) == ["mine", "shared"]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664])
def test_a_file_that_was_there_keeps_its_permissions(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "kept"
    path.write_bytes(b"old")
    path.chmod(mode)
    atomic.replace(path, b"1")
    assert (path.read_bytes(), mode_of(path)) == (b"1", mode)
    atomic.replace(path, b"2", atomic.AS_USUAL)
    assert (path.read_bytes(), mode_of(path)) == (b"2", mode)


def test_a_file_that_was_there_keeps_its_owner_and_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[int, int]] = []
    path = tmp_path / "kept"
    path.write_bytes(b"old")
    was = path.stat()
    monkeypatch.setattr(os, "fchown", lambda _, owner, group: given.append((owner, group)))
    monkeypatch.setattr(os, "fstat", lambda _: os.stat_result((0o600, 0, 0, 1, 4242, 4242, 0, 0, 0, 0)))
    atomic.replace(path, b"new")
    assert given == [(was.st_uid, was.st_gid)]


def test_a_link_stays_and_what_it_points_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    real, link, second = tmp_path / "far" / "real", tmp_path / "link", tmp_path / "second"
    real.write_bytes(b"old")
    link.symlink_to("far/real")
    second.symlink_to(link)
    atomic.replace(second, b"new")
    assert real.read_bytes() == b"new"
    assert link.is_symlink() and second.is_symlink()
    assert names(tmp_path / "far") == ["real"]


def test_what_a_link_points_to_is_made_where_it_is_missing(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("real")
    atomic.replace(link, b"new")
    assert link.is_symlink() and (tmp_path / "real").read_bytes() == b"new"


def test_a_link_to_itself_is_an_error(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("link")
    with pytest.raises(OSError, match="symbolic link"):
        atomic.replace(link, b"new")
    assert names(tmp_path) == ["link"]


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    atomic.replace(pipe, b"content" * 20_000)
    reader.join()
    assert read == [b"content" * 20_000]
    assert pipe.is_fifo() and names(tmp_path) == ["pipe"]


def test_an_open_file_is_written_on(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with path.open("wb", buffering=0) as out:
        out.write(b"before ")
        (tmp_path / "link").symlink_to(f"/dev/fd/{out.fileno()}")
        atomic.replace(Path(f"/dev/fd/{out.fileno()}"), b"content ")
        atomic.replace(tmp_path / "link", b"again ")
        out.write(b"after")
    assert path.read_bytes() == b"before content again after"


def test_a_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        atomic.replace(tmp_path, b"new")
    assert names(tmp_path) == []


def test_a_neighbour_is_left_alone(tmp_path: Path) -> None:
    for name in ("out.part", "out.new", ".out.new", "out~", "out.tmp"):
        (tmp_path / name).write_bytes(b"mine")
    atomic.replace(tmp_path / "out", b"new")
    assert {path.read_bytes() for path in tmp_path.iterdir() if path.name != "out"} == {b"mine"}
    assert len(names(tmp_path)) == 6


def test_a_name_as_long_as_they_come(tmp_path: Path) -> None:
    for letter in ("a", "é"):
        path = tmp_path / (letter * (255 // len(letter.encode())))
        atomic.replace(path, b"new")
        assert path.read_bytes() == b"new"


def test_what_fails_midway_leaves_the_old_content(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt), atomic.replacing(path) as out:
        out.write(b"half")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"old" and names(tmp_path) == ["out"]


def test_a_missing_folder_is_made_by_replace_alone(tmp_path: Path) -> None:
    atomic.replace(tmp_path / "a" / "b", b"new")
    assert (tmp_path / "a" / "b").read_bytes() == b"new"
    with pytest.raises(FileNotFoundError), atomic.replacing(tmp_path / "c" / "d"):
        pass
    assert names(tmp_path) == ["a"]


def test_a_name_to_set_aside_under_is_never_a_link(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.with_name("out.damaged").symlink_to("gone")
    path.with_name("out.damaged-2").write_bytes(b"2")
    assert atomic.free_name(path).name == "out.damaged-3"
    assert atomic.free_name(path, "replaced").name == "out.replaced"
