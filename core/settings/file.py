"""Small files a person writes, read without trusting their size or kind."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

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
