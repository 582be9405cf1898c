"""The sessions of Crush on this machine: it keeps a database in each project, and a list of projects."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from core.agents.crush.store import crush_listing
from core.agents.loose import decode, items, table, text
from core.logs.found import Found, listed_session
from core.logs.log_files import is_file, read_log


def survey_crush(agent: str, root: Path, now: float, active_within: float) -> Iterator[Found]:
    """The sessions of every project on Crush's list."""
    try:
        projects = items(table(decode(read_log(root / "projects.json"))).get("projects"))
    except OSError:
        return
    for project in map(table, projects):
        folder = Path(text(project.get("path")))
        path = folder / (text(project.get("data_dir")) or ".crush") / "crush.db"
        try:
            found = crush_listing(path) if is_file(path) else []
            size = path.stat().st_size if found else 0
        except (OSError, ValueError):
            continue
        for one in found:
            placed = one._replace(project=str(folder))
            yield listed_session(agent, path, placed, size // len(found), now, active_within)
