"""The tasks of Cline and its kin on this machine: each a folder of a few documents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.agents.cline.reader import API, UI, first_request
from core.agents.loose import decode, items, table, text
from core.logs.discovery import Found
from core.logs.event_redaction import cleaned
from core.logs.glimpse import shown
from core.logs.log_files import is_file, read_log
from core.logs.times import seconds


def survey_cline(agent: str, root: Path, now: float, active_within: float) -> Iterator[Found]:
    """Every task below a root, and every session of the newer form."""
    for place in root.iterdir():
        main = next(
            (place / name for name in (API, UI, f"{place.name}.messages.json") if _has(place / name)), None
        )
        if main is None:
            continue
        try:
            yield _found(agent, place, main, now, active_within)
        except OSError:
            continue


def _has(path: Path) -> bool:
    try:
        return is_file(path)
    except OSError:
        return False


def _found(agent: str, place: Path, main: Path, now: float, active_within: float) -> Found:
    names = (main.name, UI, "history_item.json", f"{place.name}.json")
    paths = [place / name for name in dict.fromkeys(names) if _has(place / name)]
    statuses = [path.stat() for path in paths]
    facts = _facts(paths[1:])
    value = decode(read_log(main))
    messages = items(value) or items(table(value).get("messages"))
    modified = max(status.st_mtime for status in statuses)
    last = _last(messages) or _last(items(_read(place / UI)))
    whole = main if table(value) else place
    return Found(
        agent=agent,
        session=place.name,
        project=cleaned(text(facts.get("workspace") or facts.get("cwd"))),
        path=whole,
        paths=(whole,),
        modified=modified,
        told=last,
        size=sum(status.st_size for status in statuses),
        events=sum(max(1, len(items(table(one).get("content")))) for one in messages),
        active=now - (modified if last is None else min(last, modified)) <= active_within,
        title=shown(text(facts.get("task") or facts.get("title")) or _asked(messages)),
    )


def _facts(paths: list[Path]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path in paths:
        if path.name != UI:
            found.update(table(_read(path)))
    return found


def _read(path: Path) -> Any:
    try:
        return decode(read_log(path))
    except OSError:
        return None


def _last(messages: list[Any]) -> float | None:
    return next((at for one in reversed(messages) if (at := seconds(table(one).get("ts"))) is not None), None)


def _asked(messages: list[Any]) -> str:
    first = table(next(iter(messages), None))
    return first_request(text(first.get("text")) or first.get("content"))
