"""SQLite files of agents, opened for reading only."""

from __future__ import annotations

import errno
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from core.logs.log_files import is_there, open_log

MAGIC = b"SQLite format 3\0"
_WAL = 2
"""The version in a database's header that says it has a log beside it."""
_COLUMNS = {
    "message": ("data",),
    "part": ("data",),
    "session": ("title",),
    "messages": ("parts", "content_json"),
    "sessions": ("title", "name"),
}
"""Where the words of a row may stand, by the table's name."""


def content(path: Path, entry: str) -> bytes:
    """What stands in the row an entry names now; blank where it is gone."""
    name, _, row_id = entry.partition("/")
    wanted = _COLUMNS.get(name)
    if wanted is None:
        return b""
    with reading(path) as database:
        found = next(select(database, name, wanted, "WHERE id = ?", (row_id,)), {})
    told = next((value for value in found.values() if value is not None), b"")
    return told if isinstance(told, bytes) else str(told).encode("utf-8", "replace")


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A database to be read; that it is busy or broken is an `OSError`."""
    try:
        with closing(connect(path)) as database:
            yield database
    except sqlite3.Error as fault:
        raise OSError(errno.EIO, f"the database cannot be read: {fault}") from fault


def select(
    database: sqlite3.Connection, table: str, wanted: Iterable[str], rest: str = "", given: Sequence[Any] = ()
) -> Iterator[dict[str, Any]]:
    """The rows of a table, with those of the wanted columns that its version of the schema has.

    A row's number can be asked for as `rowid`.
    """
    there = {str(column[1]) for column in database.execute(f"PRAGMA table_info({table})")}
    chosen = [column for column in wanted if column in there or (there and column == "rowid")]
    if not chosen:
        raise sqlite3.DatabaseError(f"no {table} in it")
    statement = f"SELECT {', '.join(chosen)} FROM {table} {rest}"  # noqa: S608 our own words
    for row in database.execute(statement, given):
        yield dict(zip(chosen, row, strict=True))


def numbers(database: sqlite3.Connection, table: str) -> dict[str, int]:
    """How many rows of a table each session has, by its index alone."""
    statement = f"SELECT session_id, count(*) FROM {table} GROUP BY session_id"  # noqa: S608 our own words
    return {str(session): int(number) for session, number in database.execute(statement)}


def tables(path: Path) -> set[str]:
    """The names of a database's tables; none where it cannot be read."""
    try:
        with closing(connect(path)) as database:
            return {str(name) for (name,) in database.execute("SELECT name FROM sqlite_master")}
    except (sqlite3.Error, OSError):
        return set()


def wal_bytes(path: Path) -> int:
    """Bytes of the log of changes beside a database."""
    try:
        return path.with_name(f"{path.name}-wal").stat().st_size
    except OSError:
        return 0


def connect(path: Path) -> sqlite3.Connection:
    """Open for reading only.

    A logged database without its shared index would need one to be made. Where it has a log of changes
    beside it, both are copied to a folder of our own and read there; where it has none it is read as it is.
    """
    with open_log(path) as stream:
        header = stream.read(20)
    place = quote(str(path.absolute()))
    alone = header[18:19] == bytes((_WAL,)) and not is_there(path.with_name(f"{path.name}-shm"))
    log = path.with_name(f"{path.name}-wal")
    if alone and is_there(log) and log.stat().st_size:
        return _copied(path, log)
    how = "mode=ro&immutable=1" if alone else "mode=ro&readonly_shm=1"
    return _opened(f"file:{place}?{how}", "PRAGMA query_only = 1")


def _copied(path: Path, log: Path) -> sqlite3.Connection:
    """A copy of a database and its log of changes, gone from the disk once it is closed."""
    with tempfile.TemporaryDirectory(prefix="nooscope-") as folder:
        twin = Path(folder) / path.name
        shutil.copyfile(path, twin)
        shutil.copyfile(log, twin.with_name(log.name))
        return _opened(twin.as_uri(), "SELECT count(*) FROM sqlite_master", "PRAGMA query_only = 1")


def _opened(place: str, *first: str) -> sqlite3.Connection:
    """A database that has done these, or none."""
    database = sqlite3.connect(place, uri=True, timeout=0.2, isolation_level=None)
    database.text_factory = _text
    try:
        for statement in first:
            database.execute(statement).fetchall()
    except BaseException:
        database.close()
        raise
    return database


def _text(data: bytes) -> str:
    """A text as it stands in a row; a damaged byte costs itself alone, not the row and all that follow."""
    return data.decode("utf-8", "replace")
