"""The only way in which logs are opened: regular files, for reading, without blocking."""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

NOT_REGULAR = "not a regular file"
MOST_HELD = 256  # Most logs that are open at once.

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


def open_log(path: Path, size: int = -1) -> BinaryIO:
    """Open a regular file for reading; raises only `OSError`.

    A pipe, socket or device is refused before it is opened, as opening one may block or have effects; the
    type is checked again afterwards, as the name may have changed.
    """
    return os.fdopen(_descriptor(path), "rb", size)


class HeldLog:
    """A regular file that stays readable after its name is gone; closed after its last use."""

    __slots__ = ("_descriptor", "_kept", "stands")

    _spare = threading.BoundedSemaphore(MOST_HELD)

    def __init__(self, path: Path | str) -> None:
        self._kept = False
        self._descriptor = _descriptor(path)
        status = os.fstat(self._descriptor)
        self.stands = (status.st_dev, status.st_ino)  # Identity of the file, whatever its name.

    def keep(self) -> bool:
        """Return whether the file may stay open: the number is limited, so that descriptors do not run out."""
        if not self._kept:
            self._kept = self._spare.acquire(blocking=False)
        return self._kept

    def is_at(self, path: Path | str) -> bool:
        """Whether a path still names this file; raises only `OSError`."""
        status = os.stat(path)  # noqa: PTH116 a name serves as well
        return self.stands == (status.st_dev, status.st_ino)

    def read(self, place: int, size: int) -> bytes:
        """The bytes from a place on, fewer only at the end of the file."""
        return _read(self._descriptor, place, size)

    def __del__(self) -> None:
        descriptor = getattr(self, "_descriptor", -1)
        if descriptor >= 0:
            os.close(descriptor)
        if self._kept:
            self._spare.release()


def read_log(path: Path) -> bytes:
    """All of a regular file; raises only `OSError`."""
    with open_log(path) as stream:
        return stream.read()


def read_bytes_at(path: Path | str, place: int, size: int) -> bytes:
    """Read bytes of a regular file from a place on, fewer only at its end; raises only `OSError`."""
    descriptor = _descriptor(path)
    try:
        return _read(descriptor, place, size)
    finally:
        os.close(descriptor)


def _read(descriptor: int, place: int, size: int) -> bytes:
    pieces = []
    while size > 0 and (piece := os.pread(descriptor, size, place)):
        pieces.append(piece)
        place += len(piece)
        size -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _descriptor(path: Path | str) -> int:
    if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 a name serves as well
        raise _refused(path)
    descriptor = os.open(path, _FLAGS)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _refused(path)
    return descriptor


def _refused(path: Path | str) -> OSError:
    return OSError(errno.EINVAL, NOT_REGULAR, str(path))


def is_there(path: Path) -> bool:
    """Whether a path exists; never raises, even if a folder above cannot be entered."""
    return os.path.exists(path)  # noqa: PTH110 the method of a path raises


def size_and_change(path: Path) -> tuple[int, int]:
    """Return the bytes of a file and when it last changed, in nanoseconds; zeros if it is gone."""
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_size, status.st_mtime_ns


def expand_home(path: Path | str) -> Path:
    """Return a path with its home folder expanded; an unknown user's stays as it is."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 a path object raises what no caller expects


def absolute_path(path: Path | str) -> Path:
    """A path from the root on, in which a link stays as it is named."""
    return Path(os.path.abspath(path))  # noqa: PTH100 see above


def named_like(folder: Path, path: Path) -> Path:
    """Return a folder as an absolute or relative path, like the given path."""
    return folder if path.is_absolute() else Path(os.path.relpath(folder))


def closed_at(path: Path) -> Path | None:
    """The first on the way to a path, or it itself, that we have no permission to look into."""
    place = absolute_path(path)
    for above, part in zip(reversed(place.parents), [*reversed(place.parents), place][1:], strict=True):
        try:
            part.lstat()
        except PermissionError:
            return above
        except OSError:
            return None
    readable = os.R_OK | os.X_OK if is_folder(place) else os.R_OK
    return None if not is_there(place) or os.access(place, readable) else place


def is_folder(path: Path) -> bool:
    """Whether a name can be seen to be a folder; never raises."""
    return os.path.isdir(path)  # noqa: PTH112 as above


def is_file(path: Path) -> bool:
    """Whether a name can be seen to be a regular file; never raises."""
    return os.path.isfile(path)  # noqa: PTH113 as above


PASSED_OVER = frozenset((".git", "node_modules", "__pycache__", ".venv", ".mypy_cache", ".tox"))


def walk(folder: Path, closed: Callable[[OSError], None] | None = None) -> Iterator[Path]:
    """Yield every file below a folder in order of name; `closed` receives folders that cannot be listed."""
    return map(Path, names_below(folder, closed))


def names_below(folder: Path, closed: Callable[[OSError], None] | None = None) -> Iterator[str]:
    """Yield the files as names, which is faster than path objects."""
    for top, folders, files in os.walk(folder, onerror=closed):
        folders[:] = sorted(name for name in folders if name not in PASSED_OVER)
        start = "" if top == "." else os.path.join(top, "")  # noqa: PTH118 a name serves as well
        for name in sorted(files):
            yield start + name
