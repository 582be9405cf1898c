"""Values made from logs, stored by what those logs were, so that nothing unchanged is read twice."""

from __future__ import annotations

import contextlib
import sqlite3
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from core.folders import own_folder
from core.logs.log_files import is_there
from core.store.base import CacheDatabase

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from core.settings import Settings


VERSION = 1
LARGEST = 64_000_000  # Bytes one value may have once it is unpacked.
_DAY = 86_400
_TABLE = """
CREATE TABLE IF NOT EXISTS kept (
    key TEXT PRIMARY KEY, value BLOB NOT NULL, size INTEGER NOT NULL, used INTEGER NOT NULL
) WITHOUT ROWID
"""


class ReadingCache:
    """Small values by key in one file; whatever is wrong with that file costs only time."""

    def __init__(self, path: Path, limit: int) -> None:
        self.path = path
        self.limit = limit  # Bytes stored at most; the values that were not used for longest are deleted first.
        self._database = CacheDatabase(path, VERSION, ("DROP TABLE IF EXISTS kept", _TABLE), timeout=2.0)

    def load(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Return the stored values, by key."""
        key_list = list(keys)
        values: dict[str, bytes] = {}
        if not is_there(self.path):
            return values
        today = _today()
        with contextlib.suppress(sqlite3.Error, OSError), self._database.open() as store:
            stale = []
            for key in key_list:
                row = store.execute("SELECT value, used FROM kept WHERE key = ?", (key,)).fetchone()
                if row is None:
                    continue
                with contextlib.suppress(zstd.ZstdError, TypeError):
                    values[key] = zstd.ZstdDecompressor().decompress(row[0], LARGEST)
                if row[1] != today:
                    stale.append((today, key))
            if stale:
                store.executemany("UPDATE kept SET used = ? WHERE key = ?", stale)
        return values

    def save(self, values: dict[str, bytes]) -> bool:
        """Store values; return False if they cannot be written."""
        if not values:
            return True
        rows = [(key, packed, len(packed), _today()) for key, value in values.items() if (packed := _compress(value))]
        for _ in range(2):
            try:
                with self._database.open() as store:
                    store.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?)", rows)
                    self._tidy(store)
                return True
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):
                    return False
                self.clear()
            except OSError:
                return False
        return False

    def clear(self) -> bool:
        """Forget everything; return whether anything was stored."""
        return self._database.clear()

    def count(self) -> int:
        """Return how many values are stored."""
        if is_there(self.path):
            with contextlib.suppress(sqlite3.Error, OSError), self._database.open() as store:
                return int(store.execute("SELECT count(*) FROM kept").fetchone()[0])
        return 0

    def _tidy(self, store: sqlite3.Connection) -> None:
        if _used_bytes(store) <= self.limit:
            return
        total = int(store.execute("SELECT coalesce(sum(size), 0) FROM kept").fetchone()[0])
        if total <= self.limit:
            return
        for key, size in store.execute("SELECT key, size FROM kept ORDER BY used, key").fetchall():
            if total <= self.limit:
                return
            store.execute("DELETE FROM kept WHERE key = ?", (key,))
            total -= size


def reading_cache(settings: Settings) -> ReadingCache | None:
    """The cache on this machine, unless it is switched off."""
    chosen = settings.timeline.cache
    if not chosen.on or chosen.limit == 0:
        return None
    return ReadingCache(reading_cache_path(), chosen.limit * 1_000_000)


def reading_cache_path() -> Path:
    """Return the path of the cache."""
    return own_folder("cache") / "readings.db"


def _used_bytes(store: sqlite3.Connection) -> int:
    """Return the bytes in use in the file, without reading the values."""
    pages, free, size = (
        int(store.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def _compress(value: bytes) -> bytes:
    return zstd.compress(value, 3) if len(value) <= LARGEST else b""


def _today() -> int:
    return int(time.time()) // _DAY
