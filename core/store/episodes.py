"""Episodes of past sessions, in one SQLite file that several nooscopes may use at once."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Self, TypeVar

import msgspec
from blake3 import blake3

from core.engine.mind.episode import Episode
from core.errors import StoreError
from core.folders import own_folder, private_file
from core.store import atomic
from core.store.base import locked, newer

T = TypeVar("T")

SCHEMA = 1  # Written into the file; a file with a higher one was made by a newer nooscope.

_TABLE = """
CREATE TABLE IF NOT EXISTS episodes (
    session TEXT NOT NULL,
    number INTEGER NOT NULL,
    until REAL NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (session, number)
) WITHOUT ROWID
"""
_INDEX = "CREATE INDEX IF NOT EXISTS episodes_until ON episodes (until)"
_SAVE = "INSERT OR REPLACE INTO episodes (session, number, until, body) VALUES (?, ?, ?, ?)"
_PRUNE = """
DELETE FROM episodes WHERE (session, number) IN (
    SELECT session, number FROM episodes ORDER BY until DESC, session, number LIMIT -1 OFFSET ?
)
"""
_RECENT = "SELECT body FROM episodes WHERE session <> ? ORDER BY until DESC, session, number LIMIT ?"

_PAUSE = 0.01

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Episode).decode


def episodes_path() -> Path:
    """Return the path of the episodes."""
    return own_folder("data") / "episodes.sqlite"


def session_key(session: str, agent: str) -> str:
    """Return a name for one agent of one session, from which nothing can be read."""
    return blake3(f"{session}\0{agent}".encode()).hexdigest(length=16)


class EpisodeStore:
    """Saves and fetches episodes; a damaged file is set aside and a new one started."""

    def __init__(self, path: Path | None = None, *, keep: int = 10_000, patience: float = 5.0) -> None:
        self.path = path or episodes_path()
        # What a person should know: files that were set aside, episodes that could not be read.
        self.notices: list[str] = []
        self._keep = keep
        self._patience = patience
        self._link: sqlite3.Connection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        if self._link is not None:
            self._link.close()
            self._link = None

    def save(self, session: str, agent: str, episodes: Iterable[Episode]) -> int:
        """Write episodes of one agent, all or none; one with the same number is replaced."""
        key = session_key(session, agent)
        rows = [
            (key, episode.number, episode.until, _encode(msgspec.structs.replace(episode, session=key)))
            for episode in episodes
        ]

        def write(link: sqlite3.Connection) -> int:
            with _transaction(link):
                link.executemany(_SAVE, rows)
                link.execute(_PRUNE, (self._keep,))
            return len(rows)

        return self._run(write) if rows else 0

    def recent(self, limit: int, *, session: str = "", agent: str = "") -> list[Episode]:
        """The newest episodes, newest first, without those of the session named."""
        key = session_key(session, agent) if session else ""
        rows = self._run(lambda link: link.execute(_RECENT, (key, limit)).fetchall())
        episodes: list[Episode] = []
        for (body,) in rows:
            with contextlib.suppress(msgspec.DecodeError):
                episodes.append(_decode(body))
        if unread := len(rows) - len(episodes):
            self.notices.append(f"{unread} saved episodes in {self.path} could not be read and were left out")
        return episodes

    def count(self) -> int:
        """Return how many episodes are stored."""
        return self._run(lambda link: int(link.execute("SELECT count(*) FROM episodes").fetchone()[0]))

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run the work; if the file turns out to be damaged, set it aside and run it again."""
        try:
            return self._attempt(work)
        except sqlite3.DatabaseError as error:
            self.close()
            if not _damaged(error):
                raise self._unreachable(error) from error
            try:
                self._set_aside(error)
            except OSError as refused:
                raise self._unreachable(refused) from error
        try:
            return self._attempt(work)
        except sqlite3.DatabaseError as error:
            self.close()
            raise self._unreachable(error) from error

    def _unreachable(self, error: Exception) -> StoreError:
        return StoreError(f"the episodes in {self.path} cannot be read: {error}")

    def _attempt(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do the work, again and again while another nooscope is busy with the file."""
        give_up = time.monotonic() + self._patience
        while True:
            try:
                if self._link is None:
                    self._link = self._open()
                return work(self._link)
            except sqlite3.OperationalError as error:
                if not _busy(error) or time.monotonic() >= give_up:
                    raise
            time.sleep(_PAUSE)

    def _open(self) -> sqlite3.Connection:
        try:
            private_file(self.path)
        except OSError as error:
            raise StoreError(f"the folder of {self.path} cannot be created: {error}") from error
        link = sqlite3.connect(self.path, timeout=self._patience, isolation_level=None, check_same_thread=False)
        try:
            self._prepare_store(link)
        except BaseException:
            link.close()
            raise
        return link

    def _prepare_store(self, link: sqlite3.Connection) -> None:
        version = int(link.execute("PRAGMA user_version").fetchone()[0])
        if version > SCHEMA:
            raise newer(str(self.path), version, SCHEMA)
        link.execute("PRAGMA journal_mode=WAL")
        link.execute("PRAGMA synchronous=NORMAL")
        if version < SCHEMA:
            with _transaction(link):
                link.execute(_TABLE)
                link.execute(_INDEX)
                link.execute(f"PRAGMA user_version={SCHEMA}")

    def _set_aside(self, error: sqlite3.DatabaseError) -> None:
        """Rename the damaged file, unless another nooscope has done so already."""
        with locked(self.path.with_name(self.path.name + ".lock")):
            if self._sound():
                return
            aside = atomic.free_name(self.path)
            for ending in ("", "-wal", "-shm"):
                with contextlib.suppress(FileNotFoundError):
                    self.path.with_name(self.path.name + ending).rename(aside.with_name(aside.name + ending))
        self.notices.append(f"{self.path} was damaged ({error}); it was set aside as {aside.name}")

    def _sound(self) -> bool:
        try:
            with contextlib.closing(sqlite3.connect(self.path, timeout=self._patience)) as link:
                link.execute("SELECT session, number, until, body FROM episodes LIMIT 1")
                return bool(link.execute("PRAGMA quick_check").fetchone() == ("ok",))
        except sqlite3.DatabaseError:
            return False


def _code(error: sqlite3.DatabaseError) -> int:
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF


def _busy(error: sqlite3.DatabaseError) -> bool:
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _damaged(error: sqlite3.DatabaseError) -> bool:
    if isinstance(error, sqlite3.OperationalError):
        return "no such table" in str(error) or "no such column" in str(error)
    return _code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


@contextlib.contextmanager
def _transaction(link: sqlite3.Connection) -> Iterator[None]:
    link.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            link.execute("ROLLBACK")
        raise
    link.execute("COMMIT")
