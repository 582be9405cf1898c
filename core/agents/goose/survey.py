"""The sessions of Goose on this machine: rows of its database, and older files of lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from core.agents.goose.store import goose_listing
from core.logs.found import Found, listed_session
from core.logs.log_files import is_file

_MESSAGE = 2_000
"""Bytes that a message takes up, by and large."""


def survey_goose(agent: str, root: Path, now: float, active_within: float) -> Iterator[Found]:
    """Sessions of the database, and files that are not in it."""
    path = root / "sessions.db"
    try:
        found = goose_listing(path) if is_file(path) else []
        size = path.stat().st_size if found else 0
    except OSError:
        found, size = [], 0
    for one in found:
        yield listed_session(agent, path, one, size // len(found), now, active_within)
    seen = {one.session for one in found}
    for file in root.glob("*.jsonl"):
        if file.stem not in seen and is_file(file):
            try:
                status = file.stat()
            except OSError:
                continue
            yield Found(
                agent=agent,
                session=file.stem,
                project="",
                path=file,
                paths=(file,),
                modified=status.st_mtime,
                size=status.st_size,
                events=status.st_size // _MESSAGE,
                active=now - status.st_mtime <= active_within,
            )
