"""The files below a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

_PASSED_OVER = frozenset((".git", "node_modules", "__pycache__", ".venv", ".mypy_cache", ".tox"))


def walk(folder: Path, closed: Callable[[OSError], None] | None = None) -> Iterator[Path]:
    """Every file below a folder in order of name; a folder that cannot be listed is told to `closed`."""
    for top, folders, files in os.walk(folder, onerror=closed):
        folders[:] = sorted(name for name in folders if name not in _PASSED_OVER)
        for name in sorted(files):
            yield Path(top, name)
