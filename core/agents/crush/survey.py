"""The sessions of Crush on this machine: it keeps a database in each project, and a list of projects."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from core.agents.crush.store import crush_rows
from core.agents.loose import decode, items, table, text
from core.logs.door import is_file, read_log
from core.logs.found import Found
from core.logs.times import seconds

_NEVER = 1 << 62
"""A moment after which nothing was written."""
_MESSAGE = 4_000
"""Bytes that a message takes up in a database, by and large."""


def survey_crush(agent: str, root: Path, now: float, active_within: float) -> Iterator[Found]:
    """The sessions of every project on Crush's list."""
    try:
        listed = items(table(decode(read_log(root / "projects.json"))).get("projects"))
    except OSError:
        return
    for project in map(table, listed):
        folder = Path(text(project.get("path")))
        path = folder / (text(project.get("data_dir")) or ".crush") / "crush.db"
        try:
            if not is_file(path):
                continue
            known = [table(decode(row.data)) for row in crush_rows(path, _NEVER)]
            size = path.stat().st_size
        except (OSError, ValueError):
            continue
        main = [one for one in known if one.get("table") == "spent"]
        for one in main:
            modified = seconds(one.get("updated_at")) or 0.0
            yield Found(
                agent=agent,
                session=text(one.get("id")),
                project=str(folder),
                path=path,
                paths=(path,),
                modified=modified,
                size=size // len(main),
                events=size // len(main) // _MESSAGE,
                active=now - modified <= active_within,
            )
