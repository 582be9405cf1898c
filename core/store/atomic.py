"""Files that hold the old or the new content, never a mixture."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def replace(path: Path, content: bytes) -> None:
    """Put `content` in place of the file in one step, on the disk before it is seen."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".new", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
    _settle(path.parent)


def free_name(path: Path) -> Path:
    """A name beside a damaged file under which nothing is kept yet."""
    aside, number = path.with_name(f"{path.name}.damaged"), 2
    while aside.exists():
        aside, number = path.with_name(f"{path.name}.damaged-{number}"), number + 1
    return aside


def set_aside(path: Path, fault: object) -> str:
    """Keep a damaged file under another name, so that the next write does not end it; what to tell."""
    aside = free_name(path)
    try:
        path.rename(aside)
    except OSError as error:
        return f"{path} is damaged ({fault}) and cannot be set aside ({error.strerror})"
    return f"{path} was damaged ({fault}); it was set aside as {aside.name}"


def append(path: Path, content: bytes) -> None:
    """Add to the end of the file and wait until it is on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _settle(folder: Path) -> None:
    """Make the new name itself durable, where folders can be synced."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
