"""Bookmarks carried over: all sessions or none, whatever happens in the middle."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import StoreError
from core.store.base import pack_checked
from core.store.bookmarks import Bookmark, Bookmarks, export_bookmarks, import_bookmarks, recover_imports

ROOT = Path(__file__).resolve().parents[3]

CRASH = """
import os, signal, sys
from pathlib import Path
from core.store.bookmarks import Bookmarks
from core.store.bookmarks import import_bookmarks
folder, steps = Path(sys.argv[1]), int(sys.argv[2])
merge = Bookmarks.merge
done = []
def merged(self, rows):
    if len(done) == steps:
        os.kill(os.getpid(), signal.SIGKILL)
    done.append(self.key)
    return merge(self, rows)
Bookmarks.merge = merged
import_bookmarks(sys.stdin.buffer.read(), folder)
"""


def mark(name: str, place: int = 3, note: str = "") -> Bookmark:
    return Bookmark(name, place, 100.0 + place, 500.0, note)


def exported(folder: Path) -> bytes:
    for session in ("one", "two", "three"):
        Bookmarks(session, folder).put(mark(f"in {session}"))
    Bookmarks("one", folder).put(mark("shared", 5, "theirs"))
    data, notices = export_bookmarks(folder)
    assert notices == []
    return data


def everything(folder: Path) -> dict[str, list[str]]:
    sessions = ("one", "two", "three", "own")
    return {session: [each.name for each in Bookmarks(session, folder).read()] for session in sessions}


def test_what_is_exported_is_imported_once(tmp_path: Path) -> None:
    data = exported(tmp_path / "a")
    here = tmp_path / "b"
    Bookmarks("one", here).put(mark("shared", 8, "ours"))
    Bookmarks("own", here).put(mark("mine"))
    imported = import_bookmarks(data, here)
    assert imported == (3, 4, 0, ("shared (2)",))
    assert everything(here) == {
        "one": ["in one", "shared (2)", "shared"],
        "two": ["in two"],
        "three": ["in three"],
        "own": ["mine"],
    }
    assert import_bookmarks(data, here) == (3, 0, 4, ())
    assert list((here / "chains").iterdir()) == []
    assert export_bookmarks(tmp_path / "nothing") == (pack_checked({"version": 1, "sessions": {}}), [])


def test_a_session_that_cannot_be_written_undoes_the_others(tmp_path: Path) -> None:
    data = exported(tmp_path / "a")
    here = tmp_path / "b"
    Bookmarks("own", here).put(mark("mine"))
    last = sorted(Bookmarks(session, here).path for session in ("one", "two", "three"))[-1]
    last.write_bytes(pack_checked({"version": 9}))
    before = everything_but(here, last)
    with pytest.raises(StoreError, match="newer nooscope"):
        import_bookmarks(data, here)
    assert everything_but(here, last) == before


def everything_but(folder: Path, left_out: Path) -> list[tuple[str, list[str]]]:
    stores = [Bookmarks(session, folder) for session in ("one", "two", "three", "own")]
    return [(each.key, [mark.name for mark in each.read()]) for each in stores if each.path != left_out]


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_a_crash_in_the_middle_is_undone_and_nothing_else_is_lost(tmp_path: Path, steps: int) -> None:
    data = exported(tmp_path / "a")
    here = tmp_path / "b"
    Bookmarks("two", here).put(mark("mine"))
    crashed = subprocess.run([sys.executable, "-c", CRASH, str(here), str(steps)], cwd=ROOT, input=data, check=False)
    assert crashed.returncode == -signal.SIGKILL
    Bookmarks("one", here).put(mark("made after the crash"))
    (chain,) = recover_imports(here)
    assert chain.state == "compensated"
    assert everything(here) == {"one": ["made after the crash"], "two": ["mine"], "three": [], "own": []}
    assert recover_imports(here) == []
    assert import_bookmarks(data, here).added == 4


def test_a_damaged_or_hostile_file_changes_nothing(tmp_path: Path) -> None:
    data = exported(tmp_path / "a")
    here = tmp_path / "b"
    hostile = pack_checked({"version": 1, "sessions": {"../../x": []}})
    odd = pack_checked({"version": 1, "sessions": {"ab": [{"name": "no place"}]}})
    for bad in (b"", data[:-9], data.replace(b"theirs", b"others"), hostile, odd, pack_checked({"version": 7})):
        with pytest.raises(StoreError):
            import_bookmarks(bad, here)
    assert not here.exists()


def test_a_session_that_cannot_be_exported_is_named(tmp_path: Path) -> None:
    exported(tmp_path)
    Bookmarks("two", tmp_path).path.write_bytes(b"torn")
    Bookmarks("own", tmp_path).path.write_bytes(pack_checked({"version": 9}))
    data, notices = export_bookmarks(tmp_path)
    assert len(notices) == 2
    here = tmp_path / "b"
    assert import_bookmarks(data, here).sessions == 2
