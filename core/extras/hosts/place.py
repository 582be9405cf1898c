"""How far a host's sessions were sent: the ids the stream holds, kept on the host."""

from __future__ import annotations

import contextlib
import fcntl
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO

from core.errors import StoreError

_TABLES = """
CREATE TABLE IF NOT EXISTS sent (session TEXT, id BLOB, seq INTEGER, PRIMARY KEY (session, id)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS sent_seq ON sent (seq);
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value BLOB);
"""
_INSERT = "INSERT OR REPLACE INTO sent VALUES (?, ?, ?)"


class SenderFile:
    """One file for one host on one server; only one sender may have it open."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._path = path
        self._unnoted: list[tuple[str, bytes, int]] = []
        """What the stream holds and could not be written down yet."""
        self._lock = _alone(path.with_suffix(".lock"))
        try:
            self._base = sqlite3.connect(path, isolation_level=None)
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.execute("PRAGMA synchronous=NORMAL")
            self._base.executescript(_TABLES)
        except sqlite3.OperationalError as fault:
            self._lock.close()
            raise self._fault(fault) from None
        except sqlite3.Error as fault:
            self._lock.close()
            raise StoreError(
                f"{path} cannot be used ({fault}); remove it to read it again from the stream"
            ) from None

    def close(self) -> None:
        """Let another sender have it."""
        self._base.close()
        self._lock.close()

    def key(self) -> bytes:
        """What this host hides names with."""
        return self._fact("key", lambda: secrets.token_bytes(32))

    def stream(self, created: str, last: int) -> tuple[int, bool]:
        """Take note of how the stream stands: from which sequence on it must be asked what it holds, and
        whether it holds less than was thought.

        Another stream holds nothing of ours; one that lost its end holds none of that.
        """
        with self._whole():
            lost = len(self._unnoted)
            other = self._fact("stream", created.encode) != created.encode()
            if other:
                self._base.execute("DELETE FROM sent")
                self._base.execute("UPDATE facts SET value = ? WHERE name = 'stream'", (created.encode(),))
                self._unnoted = []
            self._unnoted = [row for row in self._unnoted if row[2] <= last]
            lost -= len(self._unnoted)
            self._base.executemany(_INSERT, self._unnoted)
            lost += self._base.execute("DELETE FROM sent WHERE seq > ?", (last,)).rowcount
        self._unnoted = []
        highest = self._base.execute("SELECT max(seq) FROM sent").fetchone()[0]
        return int(highest or 0) + 1, other or lost > 0

    def add(self, rows: Iterable[tuple[str, bytes, int]]) -> str:
        """The stream holds these: subject, id and sequence of each.

        Why they could not be written down, blank where they were; then they are with the next ones, for a
        later one alone would say that all before it is there.
        """
        self._unnoted += rows
        try:
            with self._whole():
                self._base.executemany(_INSERT, self._unnoted)
        except StoreError as fault:
            return str(fault)
        self._unnoted = []
        return ""

    def sent(self, session: str) -> set[bytes]:
        """The ids of one session that the stream holds."""
        rows = self._base.execute("SELECT id FROM sent WHERE session = ?", (session,))
        return {bytes(row[0]) for row in rows} | {row[1] for row in self._unnoted if row[0] == session}

    def has(self, session: str, id_: bytes) -> bool:
        """Whether the stream holds this one."""
        if any(row[:2] == (session, id_) for row in self._unnoted):
            return True
        rows = self._base.execute("SELECT 1 FROM sent WHERE session = ? AND id = ?", (session, id_))
        return rows.fetchone() is not None

    def _fact(self, name: str, make: Callable[[], bytes]) -> bytes:
        row = self._base.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        if row is not None:
            return bytes(row[0])
        value = make()
        try:
            self._base.execute("INSERT INTO facts VALUES (?, ?)", (name, value))
        except sqlite3.Error as fault:
            raise self._fault(fault) from None
        return value

    def _fault(self, fault: sqlite3.Error) -> StoreError:
        return StoreError(f"{self._path} cannot be written ({fault})")

    @contextlib.contextmanager
    def _whole(self) -> Iterator[None]:
        try:
            self._base.execute("BEGIN IMMEDIATE")
            yield
            self._base.execute("COMMIT")
        except sqlite3.Error as fault:
            raise self._fault(fault) from None
        finally:
            if self._base.in_transaction:
                self._base.execute("ROLLBACK")


def _alone(path: Path) -> IO[bytes]:
    """The lock, or an error where another process has it."""
    file = path.open("ab")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise StoreError("another `nooscope ship` sends this host's sessions there already") from None
    return file
