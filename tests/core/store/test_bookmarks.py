"""Bookmarks on disk: two at once, killed in the middle, damaged, newer than us."""

from __future__ import annotations

import fcntl
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import StoreError
from core.store.base import key_of_session, pack_checked
from core.store.bookmarks import Bookmark, Bookmarks, bookmarks_folder

ROOT = Path(__file__).resolve().parents[3]

WRITER = """
import sys
from pathlib import Path
from core.store.bookmarks import Bookmark, Bookmarks
folder, who, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
store = Bookmarks("s", folder, patience=60.0)
print("ready", flush=True)
sys.stdin.readline()
for number in range(count):
    store.put(Bookmark(f"{who} {number}", number, 1.0, 2.0))
"""

KILLED = """
import os, signal, sys
from pathlib import Path
from core.store.bookmarks import Bookmark, Bookmarks
folder, moment = Path(sys.argv[1]), sys.argv[2]
store = Bookmarks("s", folder)
def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)
replace = Path.replace
def replaced(self, target):
    replace(self, target)
    die()
if moment == "written":
    os.fsync = die
elif moment == "before":
    Path.replace = die
else:
    Path.replace = replaced
store.put(Bookmark("new", 7, 1.0, 2.0))
"""


def mark(name: str, place: int = 3, **more: Any) -> Bookmark:
    return Bookmark(name, place, 100.0 + place, 500.0, **more)


def test_what_is_put_comes_back_in_order(tmp_path: Path) -> None:
    store = Bookmarks("s", tmp_path / "deep")
    store.put(mark("late", 9, note="look\nhere", checkpoint="ab" * 32))
    store.put(mark("early", 2))
    assert [each.name for each in Bookmarks("s", tmp_path / "deep").read()] == ["early", "late"]
    assert Bookmarks("s", tmp_path / "deep").read()[1] == mark("late", 9, note="look\nhere", checkpoint="ab" * 32)
    store.put(mark("late", 1, note="moved"))
    assert [(each.name, each.note) for each in store.read()] == [("late", "moved"), ("early", "")]
    assert store.remove("early") and not store.remove("early")
    assert [each.name for each in store.read()] == ["late"]


def test_sessions_are_apart_and_their_names_stay_off_the_disk(tmp_path: Path) -> None:
    Bookmarks("very-private", tmp_path).put(mark("a"))
    assert Bookmarks("other", tmp_path).read() == ()
    assert [file.name for file in tmp_path.glob("*.json")] == [f"{key_of_session('very-private')}.json"]
    assert all(b"private" not in file.read_bytes() for file in tmp_path.iterdir())
    assert bookmarks_folder().name == "bookmarks"


def test_looking_writes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "none"
    assert Bookmarks("s", folder).read() == ()
    assert not folder.exists()


@pytest.mark.parametrize("name", ["", " \n"])
def test_a_blank_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(StoreError, match="needs a name"):
        Bookmarks("s", tmp_path).put(mark(name))
    with pytest.raises(StoreError, match="no valid time"):
        Bookmarks("s", tmp_path).put(Bookmark("x", 1, float("nan"), 1.0))


@settings(max_examples=40)
@given(st.text(min_size=1).filter(str.strip), st.text(), st.integers(0, 2**60), st.floats(0, 1e11))
def test_any_words_survive(
    tmp_path_factory: pytest.TempPathFactory, name: str, note: str, place: int, at: float
) -> None:
    store = Bookmarks("words", tmp_path_factory.getbasetemp() / "words")
    store.put(Bookmark(name, place, at, at, note))
    written = name.encode("utf-8", "replace").decode()
    (found,) = [each for each in store.read() if each.name == written]
    assert (found.place, found.at) == (place, at)
    assert found.note == note.encode("utf-8", "replace").decode()
    store.remove(written)


def test_what_a_later_nooscope_keeps_beside_stays(tmp_path: Path) -> None:
    store = Bookmarks("s", tmp_path)
    row = {**msgspec.structs.asdict(mark("a")), "label": "wrong"}
    store.path.write_bytes(pack_checked({"version": 1, "bookmarks": [row], "labels": [{"event": 5}]}))
    store.put(mark("a", note="seen"))
    store.put(mark("b"))
    kept = json.loads(store.path.read_bytes())["content"]
    assert kept["labels"] == [{"event": 5}]
    assert kept["bookmarks"][0]["label"] == "wrong" and kept["bookmarks"][0]["note"] == "seen"


def test_a_newer_file_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    store = Bookmarks("s", tmp_path)
    store.path.write_bytes(pack_checked({"version": 2, "bookmarks": {}}))
    before = store.path.read_bytes()
    for act in (store.read, lambda: store.put(mark("a"))):
        with pytest.raises(StoreError, match="newer nooscope"):
            act()
    assert store.path.read_bytes() == before


def test_one_row_that_cannot_be_read_costs_no_other(tmp_path: Path) -> None:
    store = Bookmarks("s", tmp_path)
    good = msgspec.structs.asdict(mark("a"))
    store.path.write_bytes(pack_checked({"version": 1, "bookmarks": [{"name": 5}, good]}))
    assert store.read() == (mark("a"),)
    assert "could not be read" in store.notices[0]
    store.put(mark("b"))
    assert len(json.loads(store.path.read_bytes())["content"]["bookmarks"]) == 3


@settings(max_examples=40)
@given(st.integers(0, 10**9), st.integers(0, 7))
def test_any_flipped_bit_is_found_and_set_aside(tmp_path_factory: pytest.TempPathFactory, spot: int, bit: int) -> None:
    folder = tmp_path_factory.mktemp("flip")
    store, other = Bookmarks("s", folder), Bookmarks("other", folder)
    store.put(mark("a"))
    other.put(mark("b"))
    whole = store.path.read_bytes()
    damaged = bytearray(whole)
    damaged[spot % (len(whole) - 1)] ^= 1 << bit
    store.path.write_bytes(bytes(damaged))
    if store.read() == (mark("a"),):
        assert msgspec.json.decode(bytes(damaged)) == msgspec.json.decode(whole)
        return
    assert store.read() == ()
    aside = store.path.with_name(store.path.name + ".damaged")
    assert aside.read_bytes() == bytes(damaged)
    assert str(store.path) in store.notices[0] and aside.name in store.notices[0]
    store.put(mark("c"))
    assert store.read() == (mark("c"),) and other.read() == (mark("b"),)


def test_every_damaged_file_gets_a_name_of_its_own(tmp_path: Path) -> None:
    store = Bookmarks("s", tmp_path)
    for content in (b"", b"{", b"[1]", b'{"check":"","content":{}}', b'{"content":' + b"[" * 9000):
        store.path.write_bytes(content)
        assert store.read() == ()
    assert len(list(tmp_path.glob("*.damaged*"))) == 5


@pytest.mark.parametrize("moment", ["written", "before", "after"])
def test_killed_in_the_middle_leaves_the_old_or_the_new(tmp_path: Path, moment: str) -> None:
    store = Bookmarks("s", tmp_path)
    store.put(mark("old"))
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), moment], cwd=ROOT, check=False)
    assert killed.returncode == -signal.SIGKILL
    expected = ["old", "new"] if moment == "after" else ["old"]
    assert [each.name for each in store.read()] == expected
    store.put(mark("next", 9))
    assert [each.name for each in store.read()] == [*expected, "next"]
    assert store.notices == []


@pytest.mark.parametrize("seen", [1, 6, 15])
def test_killed_at_any_moment_leaves_whole_files(tmp_path: Path, seen: int) -> None:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path), "w", "100000"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert writer.stdin is not None and writer.stdout is not None
    writer.stdout.readline()
    writer.stdin.write("go\n")
    writer.stdin.flush()
    store = Bookmarks("s", tmp_path, patience=60.0)
    while len(store.read()) < seen and writer.poll() is None:
        pass
    writer.kill()
    writer.communicate()
    found = store.read()
    assert [each.name for each in found] == [f"w {number}" for number in range(len(found))]
    assert len(found) >= seen and store.notices == []


def test_two_nooscopes_write_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), who, "40"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for who in ("one", "two")
    ]
    for each in writers:
        assert each.stdout is not None
        assert each.stdout.readline() == "ready\n"
    for each in writers:
        assert each.stdin is not None
        each.stdin.write("go\n")
        each.stdin.flush()
    for each in writers:
        each.communicate(timeout=120)
        assert each.returncode == 0
    store = Bookmarks("s", tmp_path)
    assert len(store.read()) == 80 and store.notices == []


def test_a_lock_that_is_never_let_go_is_named(tmp_path: Path) -> None:
    store = Bookmarks("s", tmp_path, patience=0.0)
    store.put(mark("a"))
    with (tmp_path / "lock").open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(StoreError, match="another nooscope process is using"):
            store.put(mark("b"))
        assert store.read() == (mark("a"),)
    store.put(mark("b"))


def test_a_folder_out_of_reach_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError, match="cannot be read"):
        Bookmarks("s", tmp_path / "file" / "below").put(mark("a"))


def test_merging_takes_what_is_new_and_renames_what_clashes(tmp_path: Path) -> None:
    store = Bookmarks("s", tmp_path)
    store.put(mark("a", 1))
    rows = [msgspec.structs.asdict(each) for each in (mark("a", 1), mark("a", 2), mark("b", 3))]
    merged = store.merge(rows)
    assert (merged.added, merged.known) == (("a (2)", "b"), 1)
    assert store.merge(rows) == ((), 3)
    assert [(each.name, each.place) for each in store.read()] == [("a", 1), ("a (2)", 2), ("b", 3)]
