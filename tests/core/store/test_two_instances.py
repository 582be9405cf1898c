"""Two nooscopes on the same stores: both write, and nothing is lost."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.store.bookmarks import Bookmarks, Labels
from core.store.carry_over import CarryOverStore, LearnedStore, PriorStore

ROOT = Path(__file__).resolve().parents[3]
TIMES = 25

WRITER = """
import sys
from pathlib import Path
from tests.core.store.killed import STORES
from core.store.carry_over import CarryOverStore

own, times = int(sys.argv[1]), int(sys.argv[2])
print("ready", flush=True)
for line in sys.stdin:
    name, folder = line.split()
    for number in range(times):
        if name == "carry_over":
            CarryOverStore(Path(folder)).begin(f"s{number}", f"{own} gave {number}".encode())
            CarryOverStore(Path(folder)).begin(f"s{own}-{number}", b"the same")
        else:
            STORES[name].write(Path(folder), 2 * number + own + 1)
    print("done", flush=True)
"""

Both = Callable[[str, Path], None]


@pytest.fixture(scope="module")
def both() -> Iterator[Both]:
    """Has two processes write to a store at the same time."""
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(own), str(TIMES)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for own in (0, 1)
    ]

    def heard(word: str) -> None:
        for writer in writers:
            assert writer.stdout is not None and writer.stdout.readline() == f"{word}\n"

    def write(name: str, folder: Path) -> None:
        for writer in writers:
            assert writer.stdin is not None
            writer.stdin.write(f"{name} {folder}\n")
            writer.stdin.flush()
        heard("done")

    heard("ready")
    yield write
    for writer in writers:
        writer.communicate(timeout=120)
        assert writer.returncode == 0


def test_bookmarks_and_labels(tmp_path: Path, both: Both) -> None:
    both("bookmarks", tmp_path)
    both("labels", tmp_path)
    store = Labels("s", tmp_path)
    numbers = list(range(1, 2 * TIMES + 1))
    assert [mark.place for mark in Bookmarks("s", tmp_path).read()] == numbers
    assert [label.place for label in store.judged()] == numbers
    assert store.notices == []


def test_what_was_given_is_what_the_first_gave(tmp_path: Path, both: Both) -> None:
    both("carry_over", tmp_path)
    store = CarryOverStore(tmp_path)
    assert store.count() == 3 * TIMES
    for number in range(TIMES):
        kept = store.read(f"s{number}")
        assert kept is not None and kept.start in (b"0 gave %d" % number, b"1 gave %d" % number)


@pytest.mark.parametrize("name", ["learned", "prior"])
def test_what_sessions_teach_stays_whole(tmp_path: Path, name: str, both: Both) -> None:
    """One that is older than what is known teaches nothing: at least the newest counts, at most all."""
    both(name, tmp_path)
    learned, prior = LearnedStore(tmp_path / "l.json"), PriorStore(tmp_path / "p.json")
    if name == "learned":
        assert TIMES <= learned.read().stretches <= 2 * TIMES
        assert learned.read().until == 10.0 * 2 * TIMES
    else:
        known = prior.read()
        assert known is not None and TIMES <= known.session_count <= 2 * TIMES
        assert known.ts == 10.0 * 2 * TIMES
    assert not learned.file.notices and not prior.file.notices
