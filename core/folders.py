"""The platform's folders for nooscope, and small files in them, read without trusting their size or kind."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from pathlib import Path
from typing import Literal

_PLACES = {
    "cache": ("XDG_CACHE_HOME", "~/.cache"),
    "config": ("XDG_CONFIG_HOME", "~/.config"),
    "data": ("XDG_DATA_HOME", "~/.local/share"),
}


def own_folder(kind: Literal["cache", "config", "data"]) -> Path:
    """The folder for what can be made again, for what a person sets, or for what is kept."""
    variable, usual = _PLACES[kind]
    value = os.environ.get(variable, "")
    place = value if value.strip() else os.path.expanduser(usual)  # noqa: PTH111 it leaves an unknown home
    if sys.platform == "linux" and place.startswith("/") and "ANDROID_ROOT" not in os.environ:
        return Path(place, "nooscope")
    import platformdirs

    path: Path = getattr(platformdirs, f"user_{kind}_path")("nooscope", appauthor=False)
    return path


PROJECT_SETTINGS = ".nooscope.toml"  # The settings file of a project.


def user_settings_file() -> Path:
    """Return the person's own settings file; NOOSCOPE_CONFIG names another."""
    path = os.environ.get("NOOSCOPE_CONFIG")
    return Path(path) if path else own_folder("config") / "settings.toml"


def learned_settings_file() -> Path:
    """Return the file of settings that were learned from the person's labels; their own settings win."""
    return user_settings_file().with_name("learned.toml")


def carry_over_folder() -> Path:
    """Return the folder of everything that sessions received at their start."""
    return own_folder("data") / "carry-over"


def make_private(folder: Path) -> None:
    """Create a folder, and those above it that are missing, for its owner alone."""
    for missing in reversed([one for one in (folder, *folder.parents) if not one.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)


def private_file(path: Path) -> Path:
    """Make sure a file is there and nobody but its owner can read it, before its first byte is written."""
    make_private(path.parent)
    handle = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if os.fstat(handle).st_mode & 0o077:
            os.fchmod(handle, 0o600)
    finally:
        os.close(handle)
    return path


def close_to_others() -> None:
    """Take all rights of others from what an older version left open; one look once that is done."""
    for top in (own_folder("cache"), own_folder("config"), own_folder("data")):
        with contextlib.suppress(OSError):
            if not _is_open(top):
                continue
            for folder, _, files in os.walk(top, topdown=False):
                for path in (*(Path(folder, name) for name in files), Path(folder)):
                    with contextlib.suppress(OSError):
                        if _is_open(path):
                            path.chmod(stat.S_IMODE(path.stat().st_mode) & 0o700)


def _is_open(path: Path) -> bool:
    """Whether a file or folder of our own, no link, can be used by others."""
    status = path.lstat()
    return not stat.S_ISLNK(status.st_mode) and status.st_uid == os.getuid() and bool(status.st_mode & 0o077)


LARGEST = 1_000_000  # Bytes such a file may have.


def small_file(path: Path, most: int = LARGEST) -> bytes:
    """Return the content of a regular file; OSError says why it cannot be read.

    A device or a pipe could be read for ever; only the null device counts as an empty file.
    """
    if str(path) == os.devnull:
        return b""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    with path.open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes", str(path))
    return content


def read_failure(error: OSError | UnicodeDecodeError) -> str:
    """Why a file could not be read, in a few words."""
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
