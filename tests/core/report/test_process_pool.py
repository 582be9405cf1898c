"""Work shared out over processes, and in one."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.report.process_pool import one_by_one, shared_out

ROOT = Path(__file__).parents[3]
ITEMS = [("b", 1), ("a", 0), ("c", 0), ("b", 0), ("a", 2), ("a", 1)]


def family(item: tuple[str, int]) -> tuple[str, int]:
    return item


def spelled(item: tuple[str, int], more: str) -> tuple[str, int]:
    return f"{item[0]}{item[1]}{more}", os.getpid()


def test_results_keep_their_order_and_families_are_done_by_rank() -> None:
    done: list[tuple[str, int]] = []

    def note(item: tuple[str, int]) -> tuple[str, int]:
        done.append(item)
        return item

    results: Iterator[tuple[str, int]] = one_by_one(note, ITEMS, family=family)
    assert next(results) == ("b", 1)
    assert done == [("b", 0), ("b", 1)]
    assert [("b", 1), *results] == ITEMS
    assert [item for item in done if item[0] == "a"] == [("a", 0), ("a", 1), ("a", 2)]


@pytest.mark.parametrize("threads", [0, 1])
def test_a_family_stays_in_one_process(threads: int) -> None:
    """Also where another thread runs, beside which the program is not copied."""
    stop = threading.Event()
    beside = [threading.Thread(target=stop.wait) for _ in range(threads)]
    for thread in beside:
        thread.start()
    try:
        told = list(shared_out(2, spelled, ITEMS, "!", family=family))
    finally:
        stop.set()
        for thread in beside:
            thread.join()
    assert [text for text, _ in told] == ["b1!", "a0!", "c0!", "b0!", "a2!", "a1!"]
    for name in "abc":
        assert len({place for text, place in told if text.startswith(name)}) == 1
    assert os.getpid() not in {place for _, place in told}


DIES = """
import os, signal, sys, time
from pathlib import Path
from core.errors import NooscopeError
from core.report.process_pool import shared_out

def ends_the_others(item, program):
    # By now they wait for work, and hold the lock of what there is to do.
    if item == 0:
        time.sleep(0.3)
        for other in Path(f"/proc/{program}/task/{program}/children").read_text().split():
            if int(other) != os.getpid():
                os.kill(int(other), signal.SIGKILL)
        time.sleep(2)

signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
try:
    list(shared_out(2, ends_the_others, range(4), os.getpid()))
except NooscopeError as error:
    sys.exit(str(error))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="helpers are copies of the program on Linux alone")
def test_a_helper_that_died_ends_the_work_with_a_word() -> None:
    """Also in a program that takes a wish to end for a ctrl+c, which helpers do not hear."""
    done = subprocess.run([sys.executable, "-c", DIES], capture_output=True, check=False, cwd=ROOT, timeout=30)
    assert done.returncode == 1
    assert done.stderr == b"a helper process died; try again with --jobs 1\n"
