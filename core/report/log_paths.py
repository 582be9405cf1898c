"""The files that a person named, one by one, by folder or by pattern."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import UnreadableLog
from core.logs.log_files import expanded, from_root, is_folder, is_there, names_below

if TYPE_CHECKING:
    from core.logs.session import LogSession


def checked_paths(paths: Iterable[Path]) -> list[Path]:
    """Paths a person named, each of which is there or is a pattern."""
    given = [expanded(path) for path in paths]
    for path in given:
        if not is_there(path) and not glob.has_magic(str(path)):
            raise UnreadableLog(f"{path}: no such file or folder")
    return given


def files_below(paths: Sequence[Path]) -> list[str]:
    """Every file in files, folders and patterns."""
    found: list[str] = []
    for path in map(expanded, paths):
        if is_folder(path):
            found += names_below(path)
        elif is_there(path):
            found.append(str(path))
        else:
            matches = map(Path, sorted(glob.glob(str(path), recursive=True)))  # noqa: PTH207 as the finder
            found += files_below([match for match in matches if is_there(match)])
    return found


def all_below(sessions: Iterable[LogSession], paths: Iterable[Path]) -> bool:
    """Whether all logs of some sessions lie below folders, and those of sub-agents to come will."""
    above = tuple(map(_as_folder, map(expanded, paths)))
    return all(
        _as_folder(folder).startswith(above)
        for session in sessions
        for folder in (session.logs[0].format.beside or _nowhere)(session.path)
    )


def _as_folder(path: Path) -> str:
    return os.path.join(from_root(path), "")  # noqa: PTH118 the last separator counts


def _nowhere(_: Path) -> list[Path]:
    return []


def names_single_logs(paths: Iterable[Path]) -> bool:
    """Whether single logs are named: those of their sub-agents may come and grow anywhere beside them."""
    return any(
        not is_folder(path) and (is_there(path) or glob.has_magic(str(path))) for path in map(expanded, paths)
    )
