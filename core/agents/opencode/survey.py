"""The sessions of OpenCode, and of Kilo made from it: rows of a database, files of a storage folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from core.agents.loose import decode, table, text, whole_number
from core.agents.opencode.store import opencode_listing, own_title
from core.logs.discovery import Found, Listed, extent, listed_session
from core.logs.log_files import is_file, read_log

_DATABASES = ("opencode.db", "kilo.db")


def survey_opencode(agent: str, root: Path, now: float, active_within: float) -> Iterator[Found]:
    """Sessions of the database, and those of the older storage folder that are not in it."""
    seen: set[str] = set()
    for path, one, size in (*_kept(root), *_storage(root / "storage")):
        if one.session not in seen:
            seen.add(one.session)
            yield listed_session(agent, path, one, size, now, active_within)


def _kept(root: Path) -> Iterator[tuple[Path, Listed, int]]:
    for path in (root / name for name in _DATABASES):
        try:
            found = opencode_listing(path) if is_file(path) else []
            size = path.stat().st_size if found else 0
        except OSError:
            continue
        for one in found:
            yield path, one, size // len(found)


def _storage(folder: Path) -> Iterator[tuple[Path, Listed, int]]:
    for file in folder.glob("session/*/*.json"):
        try:
            session = table(decode(read_log(file)))
            if not text(session.get("id")) or text(session.get("parentID")):
                continue
            size, _, number = extent(folder / "message" / text(session["id"]))
        except OSError:
            continue
        last = whole_number(table(session.get("time")).get("updated")) / 1000.0
        title = own_title(session)
        yield file, Listed(session["id"], text(session.get("directory")), title, last, number), size
