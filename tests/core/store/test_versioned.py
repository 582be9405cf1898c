"""Two nooscopes that meet a new or outdated file at the same moment lose nothing of each other's."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from core.store.reading_cache import IndexedLog, Narrowed, ReadingCache, WordIndex, WordPlace

LOG = IndexedLog("a", "a", "s", "agent", "", "", "a", "", 0, 1, None, 0.0)


class Late(sqlite3.Connection):
    """Sees the file's version, and before it goes on another nooscope has made and filled the tables."""

    meanwhile: Callable[[], object] | None = None

    def execute(self, sql: str, *values: object) -> sqlite3.Cursor:
        seen = super().execute(sql, *values)  # type: ignore[arg-type]
        if sql == "PRAGMA user_version" and Late.meanwhile is not None:
            (version,) = seen.fetchone()
            work, Late.meanwhile = Late.meanwhile, None
            work()
            return super().execute(f"SELECT {version}")
        return seen


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Let the next connection be a late one."""
    plain = sqlite3.connect

    def between(work: Callable[[], object]) -> None:
        Late.meanwhile = work
        late = iter([Late])
        monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: plain(*a, factory=next(late, sqlite3.Connection), **k))

    return between


def add(index: WordIndex) -> None:
    index.add(LOG, [(WordPlace(1.0, 0, 9, ""), "needle")], lambda: LOG, replace=True)


@pytest.mark.parametrize("outdated", [False, True], ids=["new", "of another version"])
def test_a_search_leaves_what_another_has_just_indexed(
    tmp_path: Path, meanwhile: Callable[[Callable[[], object]], None], outdated: bool
) -> None:
    index = WordIndex(tmp_path / "words.db")
    index.path.touch()
    if outdated:
        with sqlite3.connect(index.path) as store:
            store.execute("CREATE TABLE log (old)")
            store.execute("PRAGMA user_version = 1")
        store.close()
    meanwhile(lambda: add(index))
    assert len(index.find('"needle"*', Narrowed(), 5)) == 1
    assert len(index.find('"needle"*', Narrowed(), 5)) == 1


def test_nothing_of_an_older_version_is_left_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = sqlite3.connect

    def careless(path: Path, timeout: float = 5.0) -> sqlite3.Connection:
        store = plain(path, timeout=timeout)
        store.execute("PRAGMA secure_delete = OFF")
        return store

    monkeypatch.setattr(sqlite3, "connect", careless)
    index = WordIndex(tmp_path / "words.db")
    index.add(LOG, [(WordPlace(1.0, 0, 9, ""), f"needle{n}x") for n in range(2_000)], lambda: LOG, replace=True)
    with sqlite3.connect(index.path) as store:
        store.execute("PRAGMA user_version = 1")
    store.close()
    assert b"needle" in index.path.read_bytes()
    assert index.logs() == {}
    assert b"needle" not in index.path.read_bytes()


def test_a_cache_leaves_what_another_has_just_kept(
    tmp_path: Path, meanwhile: Callable[[Callable[[], object]], None]
) -> None:
    cache = ReadingCache(tmp_path / "kept.db", 1_000_000)
    cache.path.touch()
    meanwhile(lambda: cache.save({"a": b"mine"}))
    cache.save({"b": b"other"})
    assert cache.load(["a", "b"]) == {"a": b"mine", "b": b"other"}
