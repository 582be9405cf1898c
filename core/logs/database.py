"""SQLite files of agents, opened for reading only."""

from __future__ import annotations

import errno
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from core.logs.door import is_there, open_log

MAGIC = b"SQLite format 3\0"
_WAL = 2
"""The version in a database's header that says it has a log beside it."""
_COLUMNS = {"message": "data", "part": "data", "session": "title"}
"""Where the words of a row stand, by the table's name."""


def content(path: Path, entry: str) -> bytes:
    """What stands in the row an entry names now; blank where it is gone."""
    name, _, row_id = entry.partition("/")
    column = _COLUMNS.get(name)
    if column is None:
        return b""
    try:
        with closing(connect(path)) as database:
            statement = f"SELECT {column} FROM {name} WHERE id = ?"  # noqa: S608 our own words
            found = database.execute(statement, (row_id,)).fetchone()
    except sqlite3.Error as fault:
        raise OSError(errno.EIO, f"the database cannot be read: {fault}") from fault
    if found is None or found[0] is None:
        return b""
    return found[0] if isinstance(found[0], bytes) else str(found[0]).encode("utf-8", "replace")


def tables(path: Path) -> set[str]:
    """The names of a database's tables; none where it cannot be read."""
    try:
        with closing(connect(path)) as database:
            return {str(name) for (name,) in database.execute("SELECT name FROM sqlite_master")}
    except (sqlite3.Error, OSError):
        return set()


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
    database = sqlite3.connect(f"file:{place}?{how}", uri=True, timeout=0.2, isolation_level=None)
    database.execute("PRAGMA query_only = 1")
    return database


def _copied(path: Path, log: Path) -> sqlite3.Connection:
    """A copy of a database and its log of changes, gone from the disk once it is closed."""
    with tempfile.TemporaryDirectory(prefix="nooscope-") as folder:
        twin = Path(folder) / path.name
        shutil.copyfile(path, twin)
        shutil.copyfile(log, twin.with_name(log.name))
        database = sqlite3.connect(twin, timeout=0.2, isolation_level=None)
        database.execute("SELECT count(*) FROM sqlite_master").fetchone()
    database.execute("PRAGMA query_only = 1")
    return database
