"""Caches of logs: values by the stamps of the logs, and an index of their words, never the text."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from core.errors import StoreError
from core.folders import own_folder
from core.logs.log_files import is_there
from core.store.base import CacheDatabase
from core.zstd import zstd

if TYPE_CHECKING:
    from core.settings import Settings


READINGS_VERSION = 1
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
        self._database = CacheDatabase(path, READINGS_VERSION, ("DROP TABLE IF EXISTS kept", _TABLE), timeout=2.0)

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


WORDS_VERSION = 9
_TABLES = (
    """CREATE TABLE log (
        id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, path TEXT NOT NULL, session TEXT NOT NULL,
        agent TEXT NOT NULL, project TEXT NOT NULL, title TEXT NOT NULL, main TEXT NOT NULL,
        stamp TEXT NOT NULL, offset INTEGER NOT NULL, line INTEGER NOT NULL, at REAL, changed REAL NOT NULL
    )""",
    """CREATE TABLE place (
        id INTEGER PRIMARY KEY, log INTEGER NOT NULL, at REAL, offset INTEGER NOT NULL,
        length INTEGER NOT NULL, entry TEXT NOT NULL, file TEXT NOT NULL
    )""",
    "CREATE INDEX place_log ON place (log)",
    """CREATE VIRTUAL TABLE words USING fts5(
        said, content='', tokenize="unicode61 tokenchars '_./-'"
    )""",
)
_ANEW = (*(f"DROP TABLE IF EXISTS {name}" for name in ("words", "place", "log")), *_TABLES)
_LOOKED_AT = 20_000  # Most matches that are sorted, the newest, if nothing narrows the search.


class IndexedLog(NamedTuple):
    """An indexed log."""

    name: str  # Distinguishes it from other stretches of the same file.
    path: str
    session: str
    agent: str
    project: str
    title: str
    main: str  # The main log of its session.
    stamp: str  # Stamp of the file.
    offset: int  # Bytes read so far.
    line: int
    at: float | None  # Its last timestamp.
    changed: float  # When the file was last written.


class WordPlace(NamedTuple):
    """A place of words in a log."""

    at: float | None
    offset: int
    length: int
    entry: str
    file: str = ""  # The file in a log that is a folder; blank if it is the log itself.


class Match(NamedTuple):
    """A place with the words that were looked for, and its log."""

    log: IndexedLog
    place: WordPlace


class Narrowed(NamedTuple):
    """Restricts a search to logs and times."""

    agent: str = ""
    project: str = ""  # A part of the project's path.
    since: float | None = None
    main: tuple[str, ...] | None = None  # Only sessions with one of these main logs.


class WordIndex:
    """A file that several nooscopes may use at once; it can be rebuilt from the logs."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or word_index_path()
        self._database = CacheDatabase(self.path, WORDS_VERSION, _ANEW)

    def logs(self) -> dict[str, IndexedLog]:
        """Every log in the index, by name."""
        if not is_there(self.path):
            return {}
        with self._open() as store:
            rows = store.execute(f"SELECT {_COLUMNS} FROM log").fetchall()  # noqa: S608 our own words
        return {row[0]: IndexedLog(*row) for row in rows}

    def add(
        self, log: IndexedLog, words: Iterable[tuple[WordPlace, str]], after: Callable[[], IndexedLog], *, replace: bool
    ) -> int:
        """Index a log's words, replacing or extending its entry, and return the number of places.

        `after` returns the log's entry once its words were read. All of it is written, or nothing.
        """
        with self._open() as store:
            if replace:
                _remove_words(store, log.name)
            number = _note(store, log)
            last = max(
                store.execute("SELECT coalesce(max(id), 0) FROM words_docsize").fetchone()[0],
                store.execute("SELECT coalesce(max(id), 0) FROM place").fetchone()[0],
            )
            rowid = last
            for rowid, (place, text) in enumerate(words, last + 1):
                store.execute("INSERT INTO place VALUES (?, ?, ?, ?, ?, ?, ?)", (rowid, number, *place))
                store.execute("INSERT INTO words (rowid, said) VALUES (?, ?)", (rowid, text))
            _note(store, after())
        return int(rowid - last)

    def remove(self, names: Iterable[str]) -> None:
        """Take out logs; once most of the index is of such, it is emptied to be made again."""
        with self._open() as store:
            for name in names:
                _remove_words(store, name)
            live = store.execute("SELECT count(*) FROM place").fetchone()[0]
            every = store.execute("SELECT count(*) FROM words_docsize").fetchone()[0]
            if every > 1000 and live * 2 < every:
                for statement in _ANEW:
                    store.execute(statement)

    def find(self, query: str, narrowed: Narrowed, most: int) -> list[Match]:
        """The places that match a query of FTS5, the latest first."""
        if not is_there(self.path):
            return []
        conditions, values = _conditions(narrowed)
        columns = ", ".join(f"log.{name}" for name in IndexedLog._fields)
        places = ", ".join(f"place.{name}" for name in WordPlace._fields)
        bound = "" if conditions else f"ORDER BY rowid DESC LIMIT {_LOOKED_AT}"
        statement = f"""
            SELECT {columns}, {places}
            FROM (SELECT rowid AS number FROM words WHERE words MATCH ? {bound})
            JOIN place ON place.id = number JOIN log ON log.id = place.log
            {conditions} ORDER BY coalesce(place.at, log.changed) DESC, place.id DESC LIMIT ?
        """  # noqa: S608 our own words
        with self._open() as store:
            rows = store.execute(statement, (query, *values, most)).fetchall()
        size = len(IndexedLog._fields)
        return [Match(IndexedLog(*row[:size]), WordPlace(*row[size:])) for row in rows]

    def clear(self) -> bool:
        """Forget everything; return whether there was anything."""
        return self._database.clear()

    def clear_blank(self) -> None:
        """Delete a file that was created on a full disk and is empty."""
        with contextlib.suppress(OSError):
            if not self.path.stat().st_size:
                self.clear()

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Open the index; it is rebuilt if it is damaged or of another version."""
        try:
            with self._database.open() as store:
                yield store
        except sqlite3.OperationalError as error:
            raise StoreError(f"{self.path}: {error}") from error
        except sqlite3.DatabaseError as error:
            self.clear()
            raise StoreError(f"{self.path} was damaged ({error}) and was deleted; search again") from error


def word_index_path() -> Path:
    """Return the path of the index."""
    return own_folder("cache") / "words.db"


_COLUMNS = ", ".join(IndexedLog._fields)
_UPDATES = ", ".join(f"{name} = excluded.{name}" for name in IndexedLog._fields)


def _note(store: sqlite3.Connection, log: IndexedLog) -> int:
    """Write down what is known of a log; its number."""
    values = ", ".join("?" * len(log))
    statement = (
        f"INSERT INTO log ({_COLUMNS}) VALUES ({values}) "  # noqa: S608 our own words
        f"ON CONFLICT (name) DO UPDATE SET {_UPDATES}"
    )
    store.execute(statement, log)
    return int(store.execute("SELECT id FROM log WHERE name = ?", (log.name,)).fetchone()[0])


def _remove_words(store: sqlite3.Connection, name: str) -> None:
    store.execute("DELETE FROM place WHERE log IN (SELECT id FROM log WHERE name = ?)", (name,))
    store.execute("DELETE FROM log WHERE name = ?", (name,))


def _conditions(narrowed: Narrowed) -> tuple[str, Sequence[str | float]]:
    parts: list[str] = []
    values: list[str | float] = []
    if narrowed.agent:
        parts.append("log.agent = ?")
        values.append(narrowed.agent)
    if narrowed.project:
        parts.append("instr(lower(log.project), lower(?)) > 0")
        values.append(narrowed.project)
    if narrowed.since is not None:
        parts.append("coalesce(place.at, log.changed) >= ?")
        values.append(narrowed.since)
    if narrowed.main is not None:
        parts.append("log.main IN (SELECT value FROM json_each(?))")
        values.append(msgspec.json.encode(narrowed.main).decode())
    return ("WHERE " + " AND ".join(parts) if parts else ""), values
