"""A folder of logs, a cache beside it, and a count of what is read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.report.cost import SessionCost, session_cost
from core.report.log_tree import LogTree, SessionName
from core.settings import Settings
from core.store.reading_cache import ReadingCache


class Tree:
    """Reads the cost of every session below a folder, each time as a new process would."""

    def __init__(self, folder: Path, cache: ReadingCache | None) -> None:
        self.folder = folder
        self.cache = cache
        self.read = 0
        """Sessions that were read."""
        self.searched = False

    def costs(self) -> list[SessionCost]:
        """What every session costs now."""
        tree = LogTree(Settings(), self.cache)
        names = tree.sessions([self.folder])
        found = tree.each("cost", names, SessionCost, self._make)
        self.searched = tree.searched
        return found

    def _make(self, missing: list[SessionName]) -> Iterator[SessionCost]:
        for one in missing:
            self.read += 1
            yield session_cost(one.session, Settings())


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """An empty folder and an empty cache."""
    folder = tmp_path / "logs"
    folder.mkdir()
    return Tree(folder, ReadingCache(tmp_path / "cache" / "readings.db", 1_000_000))
