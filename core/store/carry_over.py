"""The start of watched sessions: blobs named by content, and one small file per session."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
from blake3 import blake3

from core.errors import StoreError
from core.folders import carry_over_folder
from core.store import atomic
from core.store.base import CheckedFile, key_of_session, locked

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LIMIT = 100_000_000  # Bytes stored at most; the sessions that were not used for longest are deleted first.
LARGEST = 64_000_000  # Bytes one blob may have once it is unpacked.

_BLOB = ".blob"
_SESSION = ".json"


class Later(NamedTuple):
    """Something given after the start, at its place."""

    after: int  # Events before it.
    content: bytes


class KeptStart(NamedTuple):
    """The stored start of a session, and its later changes."""

    start: bytes
    later: tuple[Later, ...] = ()


class _Row(msgspec.Struct):
    start: str
    later: list[tuple[int, str]] = []


_UNWRITTEN = "the session's start cannot be written ({}); a replay will start without it"
_UNFORGOTTEN = "the starts of sessions cannot be deleted ({})"


class CarryOverStore:
    """A folder that several nooscopes may use at once; the first one to start a session decides its start."""

    def __init__(self, folder: Path | None = None, *, limit: int = LIMIT) -> None:
        self.folder = folder or carry_over_folder()
        self.limit = limit

    def read(self, session: str) -> KeptStart | None:
        """Return the start of a session; None if it was never watched, `StoreError` if it cannot be used."""
        path = self._path(session)
        row = self._row(path)
        if row is None:
            return None
        stored = self._stored(row)
        with contextlib.suppress(OSError):
            os.utime(path)
        return stored

    def begin(self, session: str, start: bytes) -> KeptStart:
        """Store the start of a session unless there is one, and return the stored one."""
        path = self._path(session)
        with self._locked(_UNWRITTEN):
            row = self._row(path)
            if row is not None:
                return self._stored(row)
            self._tidy(path)
            self._write(path, _Row(self._keep(start)))
        return KeptStart(start)

    def change(self, session: str, after: int, content: bytes) -> None:
        """Store a later change of a session, in place of those from there on."""
        path = self._path(session)
        with self._locked(_UNWRITTEN):
            row = self._row(path)
            if row is not None:
                row.later = [each for each in row.later if each[0] <= after]
                row.later.append((after, self._keep(content)))
                self._write(path, row)

    def set_aside(self, session: str) -> str:
        """Rename the file of a session whose start cannot be used;

        return its new name, blank if there is none.
        """
        path = self._path(session)
        with self._locked(_UNWRITTEN):
            aside = atomic.free_name(path)
            try:
                path.rename(aside)
            except FileNotFoundError:
                return ""
        return aside.name

    def remove(self, session: str) -> bool:
        """Forget the start of one session; return whether there was one."""
        with self._locked(_UNFORGOTTEN):
            path = self._path(session)
            there = path.exists()
            path.unlink(missing_ok=True)
            self._sweep()
        return there

    def clear(self) -> int:
        """Forget it all; how many sessions there were."""
        paths = self._sessions()
        if not self.folder.exists():
            return 0
        with self._locked(_UNFORGOTTEN):
            for path in paths:
                path.unlink(missing_ok=True)
            self._sweep()
        return len(paths)

    def count(self) -> int:
        """Return how many sessions are stored."""
        return len(self._sessions())

    def _sessions(self) -> list[Path]:
        try:
            return list(self.folder.glob(f"*{_SESSION}"))
        except OSError:
            return []

    def _path(self, session: str) -> Path:
        return self.folder / f"{key_of_session(session)}{_SESSION}"

    def _row(self, path: Path) -> _Row | None:
        try:
            content = self._file(path).load()
            return None if content is None else msgspec.convert(content, _Row)
        except ValueError as error:
            raise StoreError(f"{path} is damaged ({error})") from error

    def _write(self, path: Path, row: _Row) -> None:
        self._file(path).write(msgspec.to_builtins(row))

    def _file(self, path: Path) -> CheckedFile:
        return CheckedFile(path, "what the session received", 1)

    def _keep(self, content: bytes) -> str:
        """Write a blob, unless a sound one of the same content is there; its name."""
        name = blob_name(content)
        path = self.folder / f"{name}{_BLOB}"
        try:
            if self._blob(name) == content:
                return name
        except StoreError:
            pass
        atomic.replace(path, zstd.compress(content, 3))
        return name

    def _blob(self, name: str) -> bytes:
        path = self.folder / f"{Path(name).name}{_BLOB}"
        try:
            content = zstd.ZstdDecompressor().decompress(path.read_bytes(), LARGEST)
        except FileNotFoundError:
            raise StoreError(f"{path} is gone") from None
        except OSError as error:
            raise StoreError(f"{path}: cannot be read ({error.strerror})") from error
        except zstd.ZstdError as error:
            raise StoreError(f"{path} is damaged ({error})") from error
        if blob_name(content) != name:
            raise StoreError(f"{path} is damaged (its content has another hash)")
        return content

    def _tidy(self, spare: Path) -> None:
        """Forget the sessions that were not used for longest until the rest fits."""
        total = sum(_size(path) for path in self.folder.iterdir())
        if total <= self.limit:
            return
        for path in sorted(self._sessions(), key=_last_use):
            if total <= self.limit:
                return
            if path != spare:
                path.unlink(missing_ok=True)
                self._sweep()
                total = sum(_size(each) for each in self.folder.iterdir())

    def _sweep(self) -> None:
        """Delete blobs that no session names, and what a crash left half written; call it under the lock."""
        for path in self.folder.glob(".*.new"):
            path.unlink(missing_ok=True)
        used_blobs: set[str] = set()
        for path in self._sessions():
            with contextlib.suppress(StoreError):
                row = self._row(path)
                if row is not None:
                    used_blobs |= {row.start, *(name for _, name in row.later)}
        for path in self.folder.glob(f"*{_BLOB}"):
            if path.stem not in used_blobs:
                path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _locked(self, fault: str) -> Iterator[None]:
        """Keep other nooscopes out, and say what could not be done."""
        try:
            with locked(self.folder / "lock.lock"):
                yield
        except OSError as error:
            raise StoreError(f"{self.folder}: {fault.format(error.strerror)}") from error

    def _stored(self, row: _Row) -> KeptStart:
        return KeptStart(self._blob(row.start), tuple(Later(after, self._blob(name)) for after, name in row.later))


def blob_name(content: bytes) -> str:
    """A blob's name, made of its content."""
    return blake3(content).hexdigest(length=16)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _last_use(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
