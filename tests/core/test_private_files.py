"""What we keep is for its owner alone, from the first byte, and what an older version left open is closed."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.store import atomic
from core.store.carry_over import EpisodeStore
from core.store.reading_cache import IndexedLog, ReadingCache, WordIndex, WordPlace
from tests.conftest import Run


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes(top: Path) -> dict[str, int]:
    every = [top, *top.rglob("*")]
    return {str(path.relative_to(top)): stat.S_IMODE(path.stat().st_mode) for path in every}


def keep_words(path: Path) -> None:
    log = IndexedLog("n", "p", "s", "a", "", "", "p", "", 0, 0, None, 0.0)
    WordIndex(path).add(log, [(WordPlace(None, 0, 1, ""), "my prompt")], lambda: log, replace=True)


def keep_episodes(path: Path) -> None:
    with EpisodeStore(path) as store:
        store.count()


KEEPERS: dict[str, Callable[[Path], object]] = {
    "words": keep_words,
    "readings": lambda path: ReadingCache(path, 10**6).save({"key": b"value"}),
    "episodes": keep_episodes,
    "file": lambda path: atomic.replace(path, b"content"),
}


@pytest.mark.parametrize("name", KEEPERS)
def test_nobody_else_can_read_what_is_kept(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[int] = []
    connect = sqlite3.connect

    def looking(path: Path, *given: object, **more: object) -> sqlite3.Connection:
        opened.append(stat.S_IMODE(Path(path).stat().st_mode))
        return connect(path, *given, **more)  # type: ignore[call-overload,no-any-return]

    monkeypatch.setattr(sqlite3, "connect", looking)
    KEEPERS[name](tmp_path / "share" / "nooscope" / "kept")
    assert set(opened) <= {0o600}
    for path, mode in modes(tmp_path / "share").items():
        assert mode == (0o700 if (tmp_path / "share" / path).is_dir() else 0o600), path


@pytest.mark.parametrize("kind", ["CACHE", "DATA", "CONFIG"])
def test_what_an_older_version_left_open_is_closed(
    kind: str, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path))
    inner = tmp_path / "nooscope" / "inner"
    inner.mkdir(parents=True)
    for path in (inner / "words.db", inner.parent / "tool"):
        path.write_bytes(b"")
        path.chmod(0o644 if path.suffix else 0o755)
    run("settings", "silence")
    assert modes(inner.parent)["."] == modes(inner.parent)["inner"] == 0o700
    assert modes(inner.parent)["inner/words.db"] == 0o600
    assert modes(inner.parent)["tool"] == 0o700
