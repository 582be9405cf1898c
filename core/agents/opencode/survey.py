"""The sessions of OpenCode on this machine: rows of its database, files of its older storage folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.agents.loose import decode, table, text, whole_number
from core.agents.opencode.store import opencode_rows, own_title
from core.logs.door import is_file, read_log
from core.logs.found import Found, extent
from core.logs.titles import shown

_NEVER = 1 << 62
"""Milliseconds after which nothing was written."""
_PART = 2_000
"""Bytes that a part of a message takes up in a database, by and large."""


def survey_opencode(agent: str, root: Path, now: float, active_within: float) -> Iterator[Found]:
    """Sessions of the database, and those of the older storage folder that are not in it."""
    seen: set[str] = set()
    for session in (*_database(root / "opencode.db"), *_storage(root / "storage")):
        if session["id"] not in seen:
            seen.add(session["id"])
            modified = session["updated"] / 1000.0
            yield Found(
                agent=agent,
                session=session["id"],
                project=session["directory"],
                path=session["path"],
                paths=(session["path"],),
                modified=modified,
                told=modified,
                size=session["size"],
                events=session["events"],
                active=now - modified <= active_within,
                title=shown(session["title"]),
            )


def _database(path: Path) -> list[dict[str, Any]]:
    try:
        told = (
            [table(decode(row.data)).get("data") for row in opencode_rows(path, _NEVER)]
            if is_file(path)
            else []
        )
        size = path.stat().st_size // max(1, len(told)) if told else 0
    except OSError:
        return []
    known = [session for session in map(table, told) if text(session.get("id"))]
    ids = {session["id"] for session in known}
    return [
        {
            "id": session["id"],
            "directory": text(session.get("directory")),
            "title": own_title(session),
            "updated": whole_number(session.get("time_updated")),
            "path": path,
            "size": size,
            "events": size // _PART,
        }
        for session in known
        if session.get("parent_id") not in ids
    ]


def _storage(folder: Path) -> Iterator[dict[str, Any]]:
    for file in folder.glob("session/*/*.json"):
        try:
            session = table(decode(read_log(file)))
            if not text(session.get("id")) or text(session.get("parentID")):
                continue
            size, _, number = extent(folder / "message" / text(session["id"]))
        except OSError:
            continue
        yield {
            "id": session["id"],
            "directory": text(session.get("directory")),
            "title": own_title(session),
            "updated": whole_number(table(session.get("time")).get("updated")),
            "path": file,
            "size": size,
            "events": number,
        }
