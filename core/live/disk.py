"""When files changed on disk: logs, and those an agent works on, only in its project."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath


def changed_files(project: str, seen: Mapping[str, float], at: float) -> tuple[tuple[str, float], ...]:
    """Plain files inside a project that changed after they were last seen and before `at`, with when."""
    if not project or not Path(project).is_absolute():
        return ()
    found = []
    for name, last in seen.items():
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts:
            continue
        try:
            status = (Path(project) / path).lstat()
        except (OSError, ValueError):
            continue
        if stat.S_ISREG(status.st_mode) and last < status.st_mtime <= at:
            found.append((name, status.st_mtime))
    return tuple(found)


def state_on_disk(paths: Iterable[Path]) -> tuple[float, int]:
    """When any of the files last changed, and the size of all; a file only touched keeps its size."""
    latest, size = 0.0, 0
    for path in paths:
        try:
            status = path.stat()
        except OSError:
            continue
        latest, size = max(latest, status.st_mtime), size + status.st_size
    return latest, size
