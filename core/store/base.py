"""The base of our stores: one typed JSON file, and one SQLite file, each with a version and a place if damaged."""

from __future__ import annotations

import contextlib
import fcntl
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec
from blake3 import blake3

from core.errors import StoreError
from core.folders import make_private, private_file
from core.store import atomic

T = TypeVar("T")

LARGEST = 64_000_000  # Bytes a file may have.
_PAUSE = 0.01  # Seconds between two attempts to get a lock.


@contextlib.contextmanager
def locked(
    lock: Path, patience: float | None = None, *, fault: Callable[[OSError], str] | None = None
) -> Iterator[None]:
    """Keep other nooscopes out while files are read and replaced; `OSError` if one stays busy too long.

    With `fault`, which words it, the error is a `StoreError`.
    """
    with contextlib.ExitStack() as stack:
        try:
            make_private(lock.parent)
            file = stack.enter_context(private_file(lock).open("a"))
            if patience is None:
                fcntl.flock(file, fcntl.LOCK_EX)
            else:
                _lock_within(file.fileno(), time.monotonic() + patience)
        except OSError as error:
            if fault is None:
                raise
            raise StoreError(fault(error)) from error
        yield


def _lock_within(handle: int, give_up: float) -> None:
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() >= give_up:
                raise
        time.sleep(_PAUSE)


class JsonFile(Generic[T]):
    """One JSON file of a type: replaced whole, changed under a lock; a damaged one is set aside."""

    def __init__(self, path: Path, kind: type[T], what: str, *, largest: int = LARGEST) -> None:
        self.path = path
        self.what = what  # What the file contains, for messages.
        self.notices: list[str] = []  # What a person should know: files that were set aside or cannot be read.
        self._kind = kind
        self._largest = largest

    def load(self) -> T | None:
        """Return the content, None if the file does not exist; `ValueError` if it is damaged, else `StoreError`."""
        from core.folders import small_file

        try:
            data = small_file(self.path, self._largest)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise StoreError(f"{self.path}: {self.what} cannot be read ({error.strerror})") from error
        return self.decode(data)

    def decode(self, data: bytes) -> T:
        """Return the content of a file; `ValueError` if it is damaged."""
        return msgspec.json.decode(data, type=self._kind)

    def encode(self, content: T) -> bytes:
        """Return a file's bytes."""
        return msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"

    def read(self) -> T | None:
        """Return the content, or None if there is none that can be used, with a notice if it is damaged."""
        try:
            return self.load()
        except ValueError as fault:
            self.notices.append(atomic.set_aside(self.path, fault))
        except StoreError as error:
            self.notices.append(str(error))
        return None

    def fault(self) -> str:
        """Return why the file cannot be used, blank if it can; nothing is changed."""
        try:
            self.load()
        except (StoreError, ValueError) as fault:
            return str(fault) if isinstance(fault, StoreError) else f"{self.path}: {fault}"
        return ""

    def write(self, content: T) -> None:
        """Replace the file."""
        try:
            atomic.replace(self.path, self.encode(content))
        except OSError as error:
            raise StoreError(self._unwritable(error)) from error

    def locked(self) -> contextlib.AbstractContextManager[None]:
        """Keep other nooscopes out while the file is read and replaced."""
        return locked(self.path.with_name(self.path.name + ".lock"), fault=self._unwritable)

    def _unwritable(self, error: OSError) -> str:
        return f"{self.path}: {self.what} cannot be written ({error.strerror})"

    def remove(self) -> bool:
        """Delete the file; return whether there was one."""
        try:
            self.path.unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be removed ({error.strerror})") from error
        return True


class _Checked(msgspec.Struct):
    check: str
    content: msgspec.Raw


def pack_checked(content: dict[str, Any]) -> bytes:
    """Return a file's bytes: its content with a version, and a check of just that."""
    body = msgspec.json.encode(content)
    return msgspec.json.encode(_Checked(_check(body), msgspec.Raw(body))) + b"\n"


def unpack_checked(data: bytes, what: str, version: int) -> dict[str, Any]:
    """Return what a file contains; `ValueError` if it is damaged, `StoreError` if it is newer."""
    try:
        file = msgspec.json.decode(data, type=_Checked)
        if file.check != _check(bytes(file.content)):
            raise ValueError("its content has another hash")
        content = msgspec.json.decode(file.content, type=dict[str, Any])
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    own = content.get("version")
    if not isinstance(own, int) or own < 1:
        raise ValueError("it has no version")
    if own > version:
        raise newer(what, own, version)
    return content


def newer(what: str, own: int, version: int) -> StoreError:
    """Return the error of a file that a newer nooscope wrote."""
    return StoreError(
        f"{what} was made by a newer nooscope (schema {own}, this one knows {version}); "
        "update nooscope or move the file away"
    )


def _check(body: bytes) -> str:
    return blake3(body).hexdigest(length=16)


class CheckedFile(JsonFile[dict[str, Any]]):
    """A JSON file with a version and a check of its content."""

    def __init__(self, path: Path, what: str, version: int) -> None:
        super().__init__(path, dict[str, Any], what)
        self._version = version

    def decode(self, data: bytes) -> dict[str, Any]:
        return unpack_checked(data, str(self.path), self._version)

    def encode(self, content: dict[str, Any]) -> bytes:
        return pack_checked({"version": self._version, **content})


def key_of_session(session: str) -> str:
    """Return a session's name among the files, from which nothing about it can be read."""
    return blake3(session.encode("utf-8", "surrogatepass")).hexdigest(length=16)


class CacheDatabase:
    """A SQLite file of what can be made again: rebuilt if it is damaged or of another version."""

    def __init__(self, path: Path, version: int, statements: Sequence[str], timeout: float = 5.0) -> None:
        self.path = path
        self._version = version
        self._statements = statements
        self._timeout = timeout

    @contextlib.contextmanager
    def open(self) -> Iterator[sqlite3.Connection]:
        """Open the file for one transaction; raises `sqlite3.Error`."""
        private_file(self.path)
        store = sqlite3.connect(self.path, timeout=self._timeout)
        try:
            store.execute("PRAGMA synchronous = OFF")  # what a power cut loses is made again
            with store:
                self._prepare(store)
                yield store
        finally:
            store.close()

    def clear(self) -> bool:
        """Delete the file; return whether there was one."""
        existed = self.path.exists()
        for ending in ("", "-wal", "-shm", "-journal"):
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)
        return existed

    def _prepare(self, store: sqlite3.Connection) -> None:
        """Bring the file to this version, unless another nooscope has just done so.

        What an older version stored is overwritten, as it may contain what is known as a secret now.
        """
        if _version(store) == self._version:
            return
        store.execute("PRAGMA secure_delete = ON")
        store.execute("BEGIN IMMEDIATE")
        if _version(store) != self._version:
            for statement in self._statements:
                store.execute(statement)
            store.execute(f"PRAGMA user_version = {self._version}")
        store.commit()


def _version(store: sqlite3.Connection) -> int:
    return int(store.execute("PRAGMA user_version").fetchone()[0])
