"""Writing files so that they contain the old or the new content, never a mixture."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO

from core.folders import make_private, private_file

OWNER_ONLY = 0o600  # Permissions of a new file of our own.
AS_USUAL = 0o666  # Permissions of a file for others, before the umask.
_DESCRIPTORS = ("/dev/fd", "/proc/self/fd")
_MOST_LINKS = 40


def replace(path: Path, content: bytes, mode: int = OWNER_ONLY) -> None:
    """Replace a file in one step; its folder is created if it is missing."""
    make_private(path.parent)
    with replacing(path, mode) as file:
        file.write(content)


@contextlib.contextmanager
def replacing(path: Path, mode: int = OWNER_ONLY) -> Iterator[BinaryIO]:
    """Yield a file to write to that replaces the one at `path` once it is on the disk.

    Links are followed, and an existing file keeps its permissions; what is not a regular file is written to
    directly.
    """
    try:
        was = path.stat()
    except FileNotFoundError:
        was = None
    descriptor = _open_descriptor(path)
    if descriptor is not None or (was is not None and not stat.S_ISREG(was.st_mode)):
        straight = os.open(path, os.O_WRONLY) if descriptor is None else os.dup(descriptor)
        with os.fdopen(straight, "wb") as file:
            yield file
        return
    real = path.resolve()
    draft = real.with_name(f".{real.name[:40]}.{os.urandom(6).hex()}.new")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode if was is None else OWNER_ONLY)
    try:
        with os.fdopen(handle, "wb") as file:
            if was is not None:
                _keep_rights(handle, was)
            yield file
            file.flush()
            os.fsync(handle)
        draft.replace(real)
    except BaseException as fault:
        with contextlib.suppress(OSError):
            draft.unlink()
        if isinstance(fault, OSError) and fault.filename is None:
            fault.filename = str(path)
        raise
    _settle(real.parent)


def _open_descriptor(path: Path) -> int | None:
    """Return the open descriptor that a name such as /dev/stdout refers to."""
    for _ in range(_MOST_LINKS):
        folder = path.parent
        if path.name.isdecimal() and folder.resolve() in [Path(name).resolve() for name in _DESCRIPTORS]:
            return int(path.name)
        if not path.is_symlink():
            return None
        path = folder / path.readlink()
    return None


def _keep_rights(handle: int, was: os.stat_result) -> None:
    """Give a new file the permissions of the old one, and its owner if possible."""
    now = os.fstat(handle)
    if (now.st_uid, now.st_gid) != (was.st_uid, was.st_gid):
        with contextlib.suppress(OSError):
            os.fchown(handle, was.st_uid, was.st_gid)
    os.fchmod(handle, stat.S_IMODE(was.st_mode) & 0o777)


def free_name(path: Path, word: str = "damaged") -> Path:
    """Return an unused name beside a file; a dangling link counts as used."""
    aside, number = path.with_name(f"{path.name}.{word}"), 2
    while aside.exists() or aside.is_symlink():
        aside, number = path.with_name(f"{path.name}.{word}-{number}"), number + 1
    return aside


def set_aside(path: Path, fault: object) -> str:
    """Rename a damaged file, so that the next write does not destroy it; return a notice."""
    try:
        aside = path.rename(free_name(path))
    except OSError as error:
        return f"{path} is damaged ({fault}) and cannot be set aside ({error.strerror})"
    return f"{path} was damaged ({fault}); it was set aside as {aside.name}"


def lock_alone(path: Path) -> IO[bytes] | None:
    """Open a private file that no other program has locked, and lock it; None if one has."""
    file = private_file(path).open("ab")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def append(path: Path, content: bytes, mode: int = OWNER_ONLY) -> None:
    """Append to a file, one program at a time; see `append_whole`."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, mode)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        append_whole(handle, content)
    except OSError as fault:
        fault.filename = fault.filename or str(path)
        raise
    finally:
        os.close(handle)


def append_whole(handle: int, content: bytes) -> None:
    """Append to an open file; if not all of it fits on the disk, nothing is added."""
    size, left = os.fstat(handle).st_size, memoryview(content)
    try:
        while left:
            left = left[os.write(handle, left) :]
    except OSError:
        with contextlib.suppress(OSError):
            os.ftruncate(handle, size)
        raise


def _settle(folder: Path) -> None:
    """Make the new name itself durable, where folders can be synced."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
