"""The files below a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

PASSED_OVER = frozenset((".git", "node_modules", "__pycache__", ".venv", ".mypy_cache", ".tox"))


def walk(folder: Path, closed: Callable[[OSError], None] | None = None) -> Iterator[Path]:
    """Every file below a folder in order of name; a folder that cannot be listed is told to `closed`."""
    return map(Path, names_below(folder, closed))


def names_below(folder: Path, closed: Callable[[OSError], None] | None = None) -> Iterator[str]:
    """The same as names, where a path object for each would cost more than it is worth."""
    for top, folders, files in os.walk(folder, onerror=closed):
        folders[:] = sorted(name for name in folders if name not in PASSED_OVER)
        start = "" if top == "." else os.path.join(top, "")  # noqa: PTH118 a name serves as well
        for name in sorted(files):
            yield start + name
