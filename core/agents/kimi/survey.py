"""The sessions of Kimi on this machine, each a folder named by its id."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from core.agents.kimi.places import WIRE, kimi_files, session_of
from core.logs.found import Found
from core.logs.glimpse import last_time
from core.logs.lines import opened

_EVENT = 800
"""Bytes that an event takes up in a log, by and large."""


def survey_kimi(agent: str, root: Path, now: float, active_within: float) -> Iterator[Found]:
    """The sessions below a root: of Kimi Code by project, of the older CLI by the folder's fingerprint."""
    for pattern in (f"*/*/agents/main/{WIRE}", f"*/*/{WIRE}"):
        for path in root.glob(pattern):
            try:
                paths = [path, *(one.path for one in kimi_files(path))]
                found = [file.stat() for file in paths]
                told = _told(paths)
            except OSError:
                continue
            size = sum(status.st_size for status in found)
            modified = max(status.st_mtime for status in found)
            yield Found(
                agent=agent,
                session=session_of(str(path), path.stem),
                project="",
                path=path,
                paths=tuple(paths),
                modified=modified,
                size=size,
                events=size // _EVENT,
                active=now - (modified if told is None else min(told, modified)) <= active_within,
                told=told,
            )


def _told(paths: list[Path]) -> float | None:
    """The last time any of a session's logs tells."""
    found: list[float] = []
    for path in paths:
        with opened(path) as stream:
            last = last_time(stream, path.stat().st_size)
        found += [] if last is None else [last]
    return max(found, default=None)
