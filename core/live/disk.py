"""When files an agent works on changed on disk: looked at outside the engine, only in its project."""

from __future__ import annotations

import stat
from collections.abc import Mapping
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
