"""How far a database was read, so that a look costs what changed and not what is there."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any, NamedTuple

from core.logs.database import select

_AGAIN = 16
"""The newest rows of a table, read again at every look whether or not they seem to be done."""


class DatabaseRow(NamedTuple):
    """One row, as a reader is fed it."""

    data: bytes
    entry: str
    """Its table and id."""


class TableRead:
    """How far one table was read: rows above the highest are new, open ones may still change."""

    __slots__ = ("_open", "_top", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self._top: tuple[int, Any] = (0, None)
        self._open: set[int] = set()

    def lost(self, database: sqlite3.Connection) -> bool:
        """Whether all must be read: nothing was yet, or the highest row is no longer the one it was.

        Numbers of rows are given again when the newest are deleted or the file is packed.
        """
        place, known = self._top
        statement = f"SELECT id FROM {self.name} WHERE rowid = ?"  # noqa: S608 our own words
        found = database.execute(statement, (place,)).fetchone()
        return found is None or found[0] != known

    def begin(self, database: sqlite3.Connection) -> None:
        """Remember the highest row, before the rows are read: what comes meanwhile is read again."""
        statement = f"SELECT rowid, id FROM {self.name} ORDER BY rowid DESC LIMIT 1"  # noqa: S608 as above
        found = database.execute(statement).fetchone()
        self._top = (0, None) if found is None else (int(found[0]), found[1])
        self._open.clear()

    def changed(self, database: sqlite3.Connection, wanted: Iterable[str]) -> list[dict[str, Any]]:
        """The rows that came since, the newest of those before, and the open ones."""
        columns = ("rowid", *wanted)
        after = max(0, self._top[0] - _AGAIN)
        still = sorted(place for place in self._open if place <= after)
        self.begin(database)
        found: list[dict[str, Any]] = []
        for place in still:
            found += select(database, self.name, columns, "WHERE rowid = ?", (place,))
        return [*found, *select(database, self.name, columns, "NOT INDEXED WHERE rowid > ?", (after,))]

    def keep_open(self, place: int) -> None:
        """Read this row again at the next look."""
        self._open.add(place)


class RowsRead:
    """How far the rows of one session were read, table by table."""

    def __init__(self) -> None:
        self.members: set[str] = set()
        """The session and its sub-agents' sessions."""
        self._tables: dict[str, TableRead] = {}

    def of(self, name: str) -> TableRead:
        """How far one table was read."""
        return self._tables.setdefault(name, TableRead(name))

    def goes_on(self, database: sqlite3.Connection, names: Iterable[str]) -> bool:
        """Whether these tables can be read on from here; where not, they are read from the start."""
        tables = [self.of(name) for name in names]
        if not any(one.lost(database) for one in tables):
            return True
        for one in tables:
            one.begin(database)
        return False
