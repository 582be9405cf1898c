"""Two nooscopes on the same stores: both write, and nothing is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from core.store.bookmarks import Bookmarks
from core.store.carry_over import CarryOverStore
from core.store.labels import Labels
from core.store.learned import LearnedStore
from core.store.prior import PriorStore

ROOT = Path(__file__).resolve().parents[3]
TIMES = 25

WRITER = """
import sys
from pathlib import Path
from tests.core.store.killed import STORES
from core.store.carry_over import CarryOverStore

name, folder, own, times = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
sys.stdout.write("ready\\n")
sys.stdout.flush()
sys.stdin.readline()
for number in range(times):
    if name == "carry_over":
        CarryOverStore(folder).begin(f"s{number}", f"{own} gave {number}".encode())
        CarryOverStore(folder).begin(f"s{own}-{number}", b"the same")
    else:
        STORES[name].write(folder, 2 * number + own + 1)
"""


def both(name: str, folder: Path) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, name, str(folder), str(own), str(TIMES)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for own in (0, 1)
    ]
    for writer in writers:
        assert writer.stdout is not None and writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate(timeout=120)
        assert writer.returncode == 0


def test_bookmarks_and_labels(tmp_path: Path) -> None:
    both("bookmarks", tmp_path)
    both("labels", tmp_path)
    store = Labels("s", tmp_path)
    numbers = list(range(1, 2 * TIMES + 1))
    assert [mark.place for mark in Bookmarks("s", tmp_path).read()] == numbers
    assert [label.place for label in store.judged()] == numbers
    assert store.notices == []


def test_what_was_given_is_what_the_first_gave(tmp_path: Path) -> None:
    both("carry_over", tmp_path)
    store = CarryOverStore(tmp_path)
    assert store.count() == 3 * TIMES
    for number in range(TIMES):
        kept = store.read(f"s{number}")
        assert kept is not None and kept.start in (b"0 gave %d" % number, b"1 gave %d" % number)


@pytest.mark.parametrize("name", ["learned", "prior"])
def test_what_sessions_teach_stays_whole(tmp_path: Path, name: str) -> None:
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
    assert not learned.problem and not prior.problem
