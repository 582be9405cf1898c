"""Several nooscopes write to the same stores at once, and nothing of any is lost."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from core.store.bookmarks import Bookmark, Bookmarks
from core.store.carry_over import AffectLeft, AffectStore
from core.store.model_spend import SpendStore

PROCESSES, WRITES = 4, 8


def _spend(folder: Path, who: int, number: int) -> None:
    del who, number
    assert SpendStore(folder / "spend.json").reserve(1e9, 0.001, 1, 10.0, 1000)


def _affect(folder: Path, who: int, number: int) -> None:
    left = AffectLeft(f"s{who}-{number}", "agent", 1.0 + number, (0.0,) * 7)
    AffectStore(folder).leave("/p", left)


def _bookmarks(folder: Path, who: int, number: int) -> None:
    Bookmarks("s", folder).put(Bookmark(f"b{who}-{number}", number, 1.0, 2.0))


STORES: dict[str, tuple[Callable[[Path, int, int], None], Callable[[Path], int]]] = {
    "spend": (_spend, lambda folder: SpendStore(folder / "spend.json").read(1e9).tokens),
    "affect": (_affect, lambda folder: len(AffectStore(folder).neighbours("/p", "", 100.0, 1000.0))),
    "bookmarks": (_bookmarks, lambda folder: len(Bookmarks("s", folder).read())),
}


@pytest.mark.parametrize("name", STORES)
def test_writes_of_several_programs_all_stay(name: str, tmp_path: Path) -> None:
    write, count = STORES[name]
    children = []
    for who in range(PROCESSES):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                for number in range(WRITES):
                    write(tmp_path, who, number)
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * PROCESSES
    assert count(tmp_path) == PROCESSES * WRITES
