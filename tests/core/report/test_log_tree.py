"""A tree of logs is read once, and again only where it changed."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from core.settings import Settings
from core.store.kept_answers import has_grown, stamp, stamps
from core.store.reading_cache import ReadingCache, reading_cache
from tests.core.logs import log_lines as logs
from tests.core.report.trees import Tree, tree

__all__ = ["tree"]


def test_an_unchanged_tree_is_not_read_again(tree: Tree) -> None:
    for name in ("a", "b"):
        (tree.folder / f"{name}.jsonl").write_bytes(logs.session(3, session=name))
    first = tree.costs()
    assert (tree.read, tree.searched) == (2, True)
    assert msgspec.msgpack.encode(tree.costs()) == msgspec.msgpack.encode(first)
    assert (tree.read, tree.searched) == (2, False)


@pytest.mark.parametrize("change", ["grown", "touched", "rewritten", "new"])
def test_only_what_changed_is_read_again(tree: Tree, change: str) -> None:
    one, other = tree.folder / "a.jsonl", tree.folder / "b.jsonl"
    one.write_bytes(logs.session(3, session="a"))
    other.write_bytes(logs.session(3, first=50, session="b"))
    tree.costs()
    status = one.stat()
    if change == "grown":
        one.write_bytes(one.read_bytes() + logs.call(90, "late", session="a"))
    elif change == "touched":
        os.utime(one, ns=(1, status.st_mtime_ns + 1))
    elif change == "rewritten":
        one.write_bytes(one.read_bytes().replace(b'"done"', b'"gone"'))
        os.utime(one, ns=(status.st_atime_ns, status.st_mtime_ns))
    else:
        (tree.folder / "c.jsonl").write_bytes(logs.session(2, first=90, session="c"))
    before = tree.read
    costs = tree.costs()
    assert tree.read == before + 1
    if change == "grown":
        assert sum(charge.priced + charge.unpriced for charge in costs[0].charges) == 4


def test_a_log_that_went_away_is_left_out(tree: Tree) -> None:
    for first, name in enumerate(("a", "b")):
        (tree.folder / f"{name}.jsonl").write_bytes(logs.session(3, first=50 * first, session=name))
    tree.costs()
    (tree.folder / "a.jsonl").unlink()
    assert [cost.session for cost in tree.costs()] == ["b"]
    assert tree.read == 2


def test_other_prices_are_read_again(tree: Tree, tmp_path: Path) -> None:
    from core.report.log_tree import LogTree

    (tree.folder / "a.jsonl").write_bytes(logs.session(3, session="a"))
    table = tmp_path / "models.toml"
    table.write_text('[models."claude-opus-4"]\ninput = 1\noutput = 2\n')
    plain = Settings()
    tables = plain.ingest.tables.replace(models=str(table))
    mine = plain.replace(ingest=plain.ingest.replace(tables=tables))
    keys = set()
    for settings in (plain, mine):
        one = LogTree(settings, None)
        keys.add(one.key("cost", one.sessions([tree.folder])[0]))
    table.write_text('[models."claude-opus-4"]\ninput = 1\noutput = 3\n')
    one = LogTree(mine, None)
    keys.add(one.key("cost", one.sessions([tree.folder])[0]))
    assert len(keys) == 3


@pytest.mark.parametrize("damage", [b"", b"not a database at all, not even nearly" * 40])
def test_a_damaged_cache_costs_only_time(tree: Tree, damage: bytes) -> None:
    (tree.folder / "a.jsonl").write_bytes(logs.session(3, session="a"))
    first = tree.costs()
    assert tree.cache is not None
    tree.cache.path.write_bytes(damage)
    assert msgspec.msgpack.encode(tree.costs()) == msgspec.msgpack.encode(first)
    assert tree.read == 2
    tree.costs()
    assert tree.read == 2, "it is made again"


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    cache = ReadingCache(tmp_path / "c.db", 1_000_000)
    values = {name: os.urandom(400) for name in "abc"}
    assert cache.save(values)
    assert cache.load("abcd") == values
    small = ReadingCache(cache.path, 900)
    assert small.save({"d": os.urandom(400)})
    assert small.count() == 2
    assert cache.clear() and not cache.clear()
    assert cache.load("abcd") == {}


@pytest.mark.parametrize(("size", "kept"), [(100, 20), (12_000, 3), (39_000, 1)])
def test_what_is_kept_stays_below_its_limit(tmp_path: Path, size: int, kept: int) -> None:
    cache = ReadingCache(tmp_path / "c.db", 40_000)
    for number in range(20):
        cache.save({f"{number:02}": os.urandom(size)})
        assert sum(map(len, cache.load([f"{one:02}" for one in range(20)]).values())) <= 40_000
    assert cache.count() == kept


def test_another_version_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = ReadingCache(tmp_path / "c.db", 1_000_000)
    cache.save({"a": b"1"})
    monkeypatch.setattr("core.store.reading_cache.READINGS_VERSION", 99)
    assert ReadingCache(tmp_path / "c.db", 1_000_000).load("a") == {}


def test_a_cache_that_cannot_be_written_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert not ReadingCache(tmp_path / "file" / "c.db", 1000).save({"a": b"1"})


def test_the_cache_can_be_switched_off() -> None:
    plain = Settings()
    chosen = plain.timeline.cache.replace(on=False)
    off = plain.replace(timeline=plain.timeline.replace(cache=chosen))
    assert reading_cache(off) is None
    assert reading_cache(plain) is not None


def test_growth_is_told_from_rewriting(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"x" * 9000)
    before = stamp(path)
    assert before is not None
    assert not has_grown(before), "the same is not grown"
    path.write_bytes(b"x" * 9000 + b"y")
    assert has_grown(before)
    path.write_bytes(b"x" * 8999 + b"zy")
    assert not has_grown(before)
    path.unlink()
    assert not has_grown(before)
    assert stamp(path) is None and stamps(path) == ()


def test_a_database_changes_with_the_log_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(b"one")
    alone = stamps(path)
    path.with_name("store.db-wal").write_bytes(b"more")
    assert alone != stamps(path) and len(stamps(path)) == 2
