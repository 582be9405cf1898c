"""SQLite files of agents, opened for reading only, and how far their rows were read."""

from __future__ import annotations

import errno
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from math import inf
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

import msgspec

from core.logs.lines import unpacked
from core.logs.log_files import is_there, open_log

T = TypeVar("T")

MAGIC = b"SQLite format 3\0"
_SECONDS = 20.0  # Time that SQLite itself may take for all queries of one connection.
_RETRY = 300.0  # Seconds after which a database that took too long is tried again although it has not changed.
_ROWS = 20_000_000  # Rows that one query may give.
_STEPS = 1000  # Steps of SQLite between two looks at the clock, at which ctrl+c is heard too.
_WAL = 2  # The version in a database's header that means it has a write-ahead log.
# Columns that may contain the words of a row, by table; the first that is there and not null is taken.
_COLUMNS = {
    "message": ("data",),
    "part": ("data",),
    "session": ("title",),
    "messages": ("parts", "content_json", "role", "content", "tool_call_id", "tool_calls"),
    "sessions": ("title", "name"),
    "threads": ("data",),
    "conversations": ("value",),
    "conversations_v2": ("value",),
    "transcript_events": ("event_json",),
}
_NUMBERED = frozenset(("conversations", "conversations_v2", "transcript_events"))  # Tables whose rows have no id.
_POINTED = frozenset(("threads", "conversations", "conversations_v2"))  # Tables whose rows are whole sessions.


def _key(table: str) -> str:
    """Return the column that names the rows of a table."""
    return "rowid" if table in _NUMBERED else "id"


def split_entry(entry: str) -> tuple[str, str]:
    """Return the row that an entry names, and the JSON pointer in it or in a record; either may be blank."""
    table, _, rest = entry.partition("/")
    if table not in _POINTED:
        return ("", entry) if entry.startswith("/") else (entry, "")
    row_id, slash, pointer = rest.partition("/")
    return f"{table}/{row_id}", slash + pointer


def content(path: Path, entry: str) -> bytes:
    """Return the content of the row that an entry names; blank if it is gone."""
    name, _, row_id = entry.partition("/")
    columns = _COLUMNS.get(name)
    if columns is None:
        return b""
    with reading(path) as database:
        row = next(select(database, name, columns, f"WHERE {_key(name)} = ?", (row_id,)), {})
    if "content" in row and not {"parts", "content_json"} & row.keys():
        return msgspec.json.encode(row)
    stored = next((value for value in row.values() if value is not None), b"")
    return unpacked(stored if isinstance(stored, bytes) else str(stored).encode("utf-8", "replace"))


@contextmanager
def reading(path: Path) -> Iterator[_Bounded]:
    """A database to be read; that it is busy, broken or endless is an `OSError`."""
    try:
        with closing(connect(path)) as database:
            yield database
    except sqlite3.Error as fault:
        if getattr(fault, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT and not database.exhausted:
            raise KeyboardInterrupt from fault  # raised while SQLite was at work, which dropped it
        raise OSError(errno.EIO, f"the database cannot be read: {fault}") from fault


def select(
    database: sqlite3.Connection, table: str, columns: Iterable[str], rest: str = "", values: Sequence[Any] = ()
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table, with the requested columns that its schema has.

    `rowid` gives the number of a row.
    """
    there = {str(column[1]) for column in database.execute(f"PRAGMA table_info({table})")}
    chosen = [column for column in columns if column in there or (there and column == "rowid")]
    if not chosen:
        raise sqlite3.DatabaseError(f"no {table} in it")
    statement = f"SELECT {', '.join(chosen)} FROM {table} {rest}"  # noqa: S608 our own words
    for row in database.execute(statement, values):
        yield dict(zip(chosen, row, strict=True))


def numbers(database: sqlite3.Connection, table: str) -> dict[str, int]:
    """Count the rows of each session in a table, by its index alone."""
    statement = f"SELECT session_id, count(*) FROM {table} GROUP BY session_id"  # noqa: S608 our own words
    return {str(session): int(number) for session, number in database.execute(statement)}


def tables(path: Path) -> set[str]:
    """Return the names of a database's tables; none if it cannot be read."""
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


class _Bounded(sqlite3.Connection):
    """A connection whose queries end: a hostile file may contain endless views."""

    left = _SECONDS
    exhausted = False
    path: Path | None = None
    _until = 0.0

    def work(self, step: Callable[[], T]) -> T:
        """Let SQLite do one step within the time that is left."""
        began = time.monotonic()
        self._until = began + self.left
        try:
            return step()
        except sqlite3.OperationalError as fault:
            if self.exhausted:
                if self.path is not None:
                    _endless[self.path] = time.monotonic(), _stamp(self.path)
                raise sqlite3.OperationalError(_TOO_LONG) from fault
            raise
        finally:
            self.left -= time.monotonic() - began

    def is_over(self) -> bool:
        """Whether the time is up, which ends the query."""
        self.exhausted = time.monotonic() > self._until
        return self.exhausted

    def execute(self, *statement: Any) -> sqlite3.Cursor:
        """Begin a query."""
        return self.work(partial(self.cursor(_BoundedCursor).execute, *statement))


_TOO_LONG = f"a query takes too long ({_SECONDS:g} s)"
# Databases that took too long, when, and as they were: nobody waits for them again at every look.
_endless: dict[Path, tuple[float, tuple[int, ...]]] = {}


def _stamp(path: Path) -> tuple[int, ...]:
    """When a database and its log of changes were last written, and their sizes."""
    states = [one.stat() for one in (path, path.with_name(f"{path.name}-wal")) if one.exists()]
    return tuple(figure for state in states for figure in (state.st_mtime_ns, state.st_size))


class _BoundedCursor(sqlite3.Cursor):
    """The rows of a query, each within the time that is left."""

    connection: _Bounded
    _rows = 0

    def __next__(self) -> Any:
        self._rows += 1
        if self._rows > _ROWS:
            raise sqlite3.OperationalError(f"a query returns too many rows ({_ROWS:,})")
        return self.connection.work(super().__next__)

    def fetchone(self) -> Any:
        """Return the next row, or None."""
        return next(self, None)

    def fetchall(self) -> list[Any]:
        """Return all rows that are left."""
        return list(self)


def connect(path: Path) -> _Bounded:
    """Open for reading only.

    A database in WAL mode without its shared index would need a new one. With a write-ahead log beside it,
    both are copied to a folder of our own and read there; without one it is opened as it is.
    """
    at, stamp = _endless.get(path, (-inf, ()))
    if time.monotonic() - at < _RETRY and stamp == _stamp(path):
        raise sqlite3.OperationalError(_TOO_LONG)
    database = _connect(path)
    database.path = path
    return database


def _connect(path: Path) -> _Bounded:
    with open_log(path) as stream:
        header = stream.read(20)
    place = quote(str(path.absolute()))
    alone = header[18:19] == bytes((_WAL,)) and not is_there(path.with_name(f"{path.name}-shm"))
    log = path.with_name(f"{path.name}-wal")
    if alone and is_there(log) and log.stat().st_size:
        return _open_copy(path, log)
    how = "mode=ro&immutable=1" if alone else "mode=ro&readonly_shm=1"
    return _open(f"file:{place}?{how}", "PRAGMA query_only = 1")


def _open_copy(path: Path, log: Path) -> _Bounded:
    """A copy of a database and its log of changes, gone from the disk once it is closed."""
    with tempfile.TemporaryDirectory(prefix="nooscope-") as folder:
        twin = Path(folder) / path.name
        shutil.copyfile(path, twin)
        shutil.copyfile(log, twin.with_name(log.name))
        return _open(twin.as_uri(), "SELECT count(*) FROM sqlite_master", "PRAGMA query_only = 1")


def _open(place: str, *first: str) -> _Bounded:
    """A database that has done these, or none."""
    database = sqlite3.connect(place, uri=True, timeout=0.2, isolation_level=None, factory=_Bounded)
    database.left = _SECONDS
    database.text_factory = _decode
    database.set_progress_handler(database.is_over, _STEPS)
    try:
        for statement in first:
            database.execute(statement).fetchall()
    except BaseException:
        database.close()
        raise
    return database


def _decode(data: bytes) -> str:
    """Decode text leniently: a damaged byte costs only itself, not the rest of the table."""
    return data.decode("utf-8", "replace")


_AGAIN = 16  # The newest rows of a table, read again at every look whether or not they seem to be done.


class DatabaseRow(NamedTuple):
    """One row, as a reader is fed it."""

    data: bytes
    entry: str  # Its table and id.


Rows = Iterator[DatabaseRow]


def families(
    sessions: Iterable[dict[str, Any]], parent: str, age: Callable[[dict[str, Any]], int]
) -> list[list[dict[str, Any]]]:
    """Return each session that no other one started, with all its descendants; the oldest come first."""
    ids = {one["id"] for one in sessions}
    below: dict[Any, list[dict[str, Any]]] = {}
    roots = []
    for one in sessions:
        if one.get(parent) in ids:
            below.setdefault(one[parent], []).append(one)
        else:
            roots.append([one])
    for family in roots:
        for member in family:
            family += below.pop(member["id"], [])
    return sorted(roots, key=lambda family: (age(family[0]), str(family[0]["id"])))


def json_row(table: str, row: Mapping[str, Any], raw: Mapping[str, str] | None = None) -> DatabaseRow:
    """Return a row as an object with its table; the columns in `raw` are JSON and get the names there.

    `spent` is a session's row again, after its messages.
    """
    record: dict[str, Any] = {"table": table}
    for name, value in row.items():
        if raw and name in raw:
            written = value if isinstance(value, bytes) else str(value or "null").encode("utf-8", "replace")
            record[raw[name]] = msgspec.Raw(written or b"null")
        elif name != "rowid" and not isinstance(value, bytes):
            record[name] = value
    return DatabaseRow(msgspec.json.encode(record), f"{'sessions' if table == 'spent' else table}/{row.get('id')}")


class TableRead:
    """How far one table was read: rows above the highest are new, open ones may still change."""

    __slots__ = ("_open", "_top", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self._top: tuple[int, Any] = (0, None)
        self._open: set[int] = set()

    def lost(self, database: sqlite3.Connection) -> bool:
        """Whether all must be read: nothing was read yet, or the highest row is another one now.

        Row numbers are reused when the newest rows are deleted or the file is vacuumed.
        """
        place, last_id = self._top
        statement = f"SELECT {_key(self.name)} FROM {self.name} WHERE rowid = ?"  # noqa: S608 our own words
        row = database.execute(statement, (place,)).fetchone()
        return row is None or row[0] != last_id

    def begin(self, database: sqlite3.Connection) -> None:
        """Remember the highest row, before the rows are read: what comes meanwhile is read again."""
        statement = f"SELECT rowid, {_key(self.name)} FROM {self.name} ORDER BY rowid DESC LIMIT 1"  # noqa: S608 as above
        row = database.execute(statement).fetchone()
        self._top = (0, None) if row is None else (int(row[0]), row[1])
        self._open.clear()

    def changed(self, database: sqlite3.Connection, names: Iterable[str]) -> list[dict[str, Any]]:
        """The rows that came since, the newest of those before, and the open ones."""
        columns = ("rowid", *names)
        after = max(0, self._top[0] - _AGAIN)
        still = sorted(place for place in self._open if place <= after)
        self.begin(database)
        rows: list[dict[str, Any]] = []
        for place in still:
            rows += select(database, self.name, columns, "WHERE rowid = ?", (place,))
        return [*rows, *select(database, self.name, columns, "NOT INDEXED WHERE rowid > ?", (after,))]

    def keep_open(self, place: int) -> None:
        """Read this row again at the next look."""
        self._open.add(place)


class RowsRead:
    """How far the rows of one session were read, table by table."""

    def __init__(self) -> None:
        self.members: set[str] = set()  # The session and its sub-agents' sessions.
        self._tables: dict[str, TableRead] = {}

    def of(self, name: str) -> TableRead:
        """Return how far one table was read."""
        return self._tables.setdefault(name, TableRead(name))

    def goes_on(self, database: sqlite3.Connection, names: Iterable[str]) -> bool:
        """Whether these tables can be read on from here; where not, they are read from the start."""
        tables = [self.of(name) for name in names]
        if not any(one.lost(database) for one in tables):
            return True
        for one in tables:
            one.begin(database)
        return False
