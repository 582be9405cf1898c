"""The sessions of Goose on this machine: rows of its database, and older files of lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from core.agents.goose.store import goose_rows
from core.agents.loose import decode, table, text
from core.logs.door import is_file
from core.logs.found import Found
from core.logs.times import seconds

_NEVER = 1 << 62
"""A number that no message has."""
_MESSAGE = 2_000
"""Bytes that a message takes up, by and large."""


def survey_goose(agent: str, root: Path, now: float, active_within: float) -> Iterator[Found]:
    """Sessions of the database, and files that are not in it."""
    seen: set[str] = set()
    path = root / "sessions.db"
    try:
        known = [table(decode(row.data)) for row in goose_rows(path, _NEVER)] if is_file(path) else []
        size = path.stat().st_size if known else 0
    except OSError:
        known, size = [], 0
    main = [one for one in known if one.get("table") == "sessions"]
    for one in main:
        seen.add(text(one.get("id")))
        modified = seconds(one.get("updated_at")) or 0.0
        share = size // len(main)
        yield _found(
            agent,
            text(one.get("id")),
            text(one.get("working_dir")),
            path,
            modified,
            share,
            now - modified <= active_within,
        )
    for file in root.glob("*.jsonl"):
        if file.stem not in seen and is_file(file):
            try:
                status = file.stat()
            except OSError:
                continue
            fresh = now - status.st_mtime <= active_within
            yield _found(agent, file.stem, "", file, status.st_mtime, status.st_size, fresh)


def _found(
    agent: str, session: str, project: str, path: Path, modified: float, size: int, active: bool
) -> Found:
    return Found(
        agent=agent,
        session=session,
        project=project,
        path=path,
        paths=(path,),
        modified=modified,
        size=size,
        events=size // _MESSAGE,
        active=active,
    )
