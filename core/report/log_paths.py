"""The files that a person named, one by one, by folder or by pattern."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Sequence
from pathlib import Path

from core.errors import UnreadableLog
from core.logs.log_files import expanded, is_folder, is_there
from core.logs.walking import names_below


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


def names_single_logs(paths: Iterable[Path]) -> bool:
    """Whether single logs are named: those of their sub-agents may come and grow anywhere beside them."""
    return any(
        not is_folder(path) and (is_there(path) or glob.has_magic(str(path))) for path in map(expanded, paths)
    )
