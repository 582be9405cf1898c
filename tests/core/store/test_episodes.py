"""The store on disk: two at once, killed in the middle, damaged, newer than us."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from core.engine.mind.episode import Episode
from core.errors import StoreError
from core.store.carry_over import EPISODES_VERSION, EpisodeStore, episodes_path, session_key

ROOT = Path(__file__).resolve().parents[3]

WRITER = """
import sys
from pathlib import Path
from core.engine.mind.episode import Episode
from core.store.carry_over import EpisodeStore

path, session, count, size, hold = Path(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:6])

def episode(number):
    return Episode(number, number, 1.0, float(number), "calm", 0.0, 0.0, 0.0, "search", "flat", "prompt",
                   "prompt", 1, 0, (("search", 1),), "s+")

sys.stdout.write("ready\\n")
sys.stdout.flush()
sys.stdin.readline()
with EpisodeStore(path, patience=60.0, keep=10**9) as store:
    for batch in range(count):
        store.save(session, "main", [episode(batch * size + each) for each in range(size)])
        if hold:
            sys.stdout.write(f"{batch}\\n")
            sys.stdout.flush()
"""

SUICIDE = """
import os, signal, sys
from pathlib import Path
from core.store.carry_over import EpisodeStore

def watch(statement):
    if statement.lstrip().startswith("DELETE"):
        sys.stdout.write("inserted\\n")
        sys.stdout.flush()
        os.kill(os.getpid(), signal.SIGKILL)

from msgspec import structs
store = EpisodeStore(Path(sys.argv[1]))
saved = store.recent(10)
store._link.set_trace_callback(watch)
store.save("one", "main", [structs.replace(each, until=99.0) for each in saved])
"""


def episode(number: int, until: float = 5.0) -> Episode:
    return Episode(
        number,
        10 * number,
        1.0,
        until,
        "turbulence",
        0.25,
        -0.5,
        0.1,
        "file_edit",
        "loss",
        "prompt",
        "pattern",
        4,
        2,
        (("file_edit", 4), ("src/", 3)),
        "e+e-",
    )


def writer(path: Path, session: str, count: int, size: int, hold: int = 0) -> subprocess.Popen[str]:
    arguments = [str(path), session, str(count), str(size), str(hold)]
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, *arguments], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def ready(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"


def test_what_is_saved_comes_back_newest_first(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "episodes.sqlite"
    with EpisodeStore(path) as store:
        assert store.save("s1", "main", [episode(0, 1.0), episode(1, 3.0)]) == 2
        assert store.save("s2", "main", [episode(0, 2.0)]) == 1
    with EpisodeStore(path) as store:
        found = store.recent(10)
        assert [each.until for each in found] == [3.0, 2.0, 1.0]
        assert found[0].session == session_key("s1", "main")
        assert found[0].signature == episode(1).signature
        assert [each.until for each in store.recent(1)] == [3.0]
        assert [each.until for each in store.recent(10, session="s1", agent="main")] == [2.0]


def test_saving_twice_replaces(tmp_path: Path) -> None:
    with EpisodeStore(tmp_path / "e.sqlite") as store:
        store.save("s", "main", [episode(0, 1.0)])
        store.save("s", "main", [episode(0, 9.0)])
        store.save("s", "child", [episode(0, 4.0)])
        assert [each.until for each in store.recent(10)] == [9.0, 4.0]


def test_the_oldest_go_first(tmp_path: Path) -> None:
    with EpisodeStore(tmp_path / "e.sqlite", keep=5) as store:
        for number in range(12):
            store.save("s", "main", [episode(number, float(number))])
        assert [each.number for each in store.recent(100)] == [11, 10, 9, 8, 7]
        assert store.count() == 5


def test_no_name_of_a_session_reaches_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "e.sqlite"
    with EpisodeStore(path) as store:
        store.save("very-private-session", "ann-the-agent", [episode(0)])
    written = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"private" not in written and b"ann-the" not in written
    assert b"turbulence" in written


def test_a_failing_save_leaves_the_old(tmp_path: Path) -> None:
    path = tmp_path / "e.sqlite"
    with EpisodeStore(path) as store:
        store.save("s", "main", [episode(0, 1.0)])
        with contextlib.closing(sqlite3.connect(path)) as link:
            link.execute(
                "CREATE TRIGGER stop BEFORE INSERT ON episodes WHEN NEW.number = 2 BEGIN SELECT RAISE(ABORT, 'no'); END"
            )
            link.commit()
        with pytest.raises(StoreError, match="cannot be read"):
            store.save("s", "main", [episode(0, 7.0), episode(1), episode(2)])
        assert [each.until for each in store.recent(10)] == [1.0]


def test_two_nooscopes_write_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "e.sqlite"
    writers = [writer(path, name, 60, 5) for name in ("one", "two")]
    for each in writers:
        ready(each)
    for each in writers:
        go(each)
    for each in writers:
        each.communicate(timeout=120)
        assert each.returncode == 0
    with EpisodeStore(path) as store:
        assert store.count() == 600
        assert len(store.recent(1000, session="one", agent="main")) == 300
        assert store.notices == []


@pytest.mark.parametrize("after", [1, 4, 9])
def test_a_killed_writer_leaves_whole_batches(tmp_path: Path, after: int) -> None:
    path = tmp_path / "e.sqlite"
    process = writer(path, "one", 100_000, 40, hold=1)
    ready(process)
    go(process)
    assert process.stdout is not None
    for _ in range(after):
        process.stdout.readline()
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    with EpisodeStore(path) as store:
        kept = {each.number for each in store.recent(10**6)}
        assert store.notices == []
        assert len(kept) >= 40 * after
        assert kept == set(range(len(kept))) and len(kept) % 40 == 0
        store.save("two", "main", [episode(0)])
        assert store.count() == len(kept) + 1


def test_a_writer_killed_before_it_commits_leaves_the_old(tmp_path: Path) -> None:
    path = tmp_path / "e.sqlite"
    with EpisodeStore(path) as store:
        store.save("one", "main", [episode(0, 1.0), episode(1, 2.0)])
    process = subprocess.run(
        [sys.executable, "-c", SUICIDE, str(path)], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert process.returncode == -signal.SIGKILL, process.stderr
    assert process.stdout == "inserted\n"
    with EpisodeStore(path) as store:
        assert [each.until for each in store.recent(10)] == [2.0, 1.0]
        assert store.notices == []


def test_a_damaged_file_is_named_set_aside_and_rebuilt(tmp_path: Path) -> None:
    path = tmp_path / "e.sqlite"
    junk = b"this is no database, but somebody's bytes" * 100
    path.write_bytes(junk)
    (tmp_path / "neighbour.txt").write_text("mine")
    with EpisodeStore(path) as store:
        assert store.save("s", "main", [episode(0)]) == 1
        assert store.count() == 1
        assert len(store.notices) == 1
        assert "e.sqlite.damaged" in store.notices[0] and str(path) in store.notices[0]
    assert (tmp_path / "e.sqlite.damaged").read_bytes() == junk
    assert (tmp_path / "neighbour.txt").read_text() == "mine"
    path.write_bytes(junk)
    with EpisodeStore(path) as store:
        assert store.recent(5) == []
    assert (tmp_path / "e.sqlite.damaged-2").read_bytes() == junk


def test_pages_torn_in_the_middle_are_found_while_reading(tmp_path: Path) -> None:
    path = tmp_path / "e.sqlite"
    with EpisodeStore(path) as store:
        store.save("s", "main", [episode(number, float(number)) for number in range(500)])
    whole = bytearray(path.read_bytes())
    whole[4096:] = b"\xa5" * (len(whole) - 4096)
    path.write_bytes(whole)
    with EpisodeStore(path) as store:
        assert store.recent(1000) == []
        assert len(store.notices) == 1
        store.save("s", "main", [episode(1)])
        assert store.count() == 1
    assert (tmp_path / "e.sqlite.damaged").exists()


def test_a_sound_file_is_not_set_aside_by_one_who_came_late(tmp_path: Path) -> None:
    path = tmp_path / "e.sqlite"
    path.write_bytes(b"junk" * 2000)
    late = EpisodeStore(path)
    with EpisodeStore(path) as first:
        first.save("s", "main", [episode(0)])
        late._set_aside(sqlite3.DatabaseError("seen before the other one mended it"))
        assert late.notices == []
        assert first.count() == late.count() == 1
    late.close()


def test_a_table_that_is_gone_counts_as_damage(tmp_path: Path) -> None:
    path = tmp_path / "e.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as link:
        link.execute(f"PRAGMA user_version={EPISODES_VERSION}")
    with EpisodeStore(path) as store:
        assert store.count() == 0
        assert len(store.notices) == 1


def test_one_unreadable_episode_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "e.sqlite"
    with EpisodeStore(path) as store:
        store.save("s", "main", [episode(0), episode(1)])
        with contextlib.closing(sqlite3.connect(path)) as link:
            link.execute("UPDATE episodes SET body = x'c1' WHERE number = 0")
            link.commit()
        assert [each.number for each in store.recent(10)] == [1]
        assert store.notices == [f"1 saved episodes in {path} could not be read and were left out"]


def test_a_file_of_a_newer_nooscope_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "e.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as link:
        link.execute(f"PRAGMA user_version={EPISODES_VERSION + 1}")
    before = path.read_bytes()
    with EpisodeStore(path) as store, pytest.raises(StoreError, match="newer nooscope"):
        store.count()
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["e.sqlite"]


def test_a_file_held_for_too_long_is_said_to_be_out_of_reach(tmp_path: Path) -> None:
    path = tmp_path / "e.sqlite"
    with EpisodeStore(path, patience=0.05) as store:
        store.save("s", "main", [episode(0)])
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreError, match="locked"):
                store.save("s", "main", [episode(1)])
            assert store.count() == 1
        store.save("s", "main", [episode(1)])
        assert store.count() == 2


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with EpisodeStore(tmp_path / "file" / "e.sqlite") as store, pytest.raises(StoreError, match="cannot be created"):
        store.count()


def test_the_default_place_is_the_platforms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert episodes_path().name == "episodes.sqlite"
    assert "nooscope" in episodes_path().parts
