"""Which agents' sessions lie on this machine, from names, sizes, heads and tails alone."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from core.logs.agent import Agent, Location
from core.logs.database import MAGIC, changes
from core.logs.door import is_folder
from core.logs.event_redaction import cleaned
from core.logs.found import Found
from core.logs.lines import opened, packed, take
from core.logs.records import Log, stem
from core.logs.session import LogSession
from core.logs.times import seconds

_HEAD = 16_384
_TAIL = 4_096
_ROW = 4_000
"""Bytes that an event takes up in a database, by and large."""
_TEXT = rb'\s*:\s*"((?:[^"\\]|\\.){1,4096})"'
_CWD = re.compile(rb'"(?:cwd|directory|projectPath)"' + _TEXT)
_PROJECT_HASH = re.compile(rb'"projectHash"' + _TEXT)
_SESSION = re.compile(rb'"(?:sessionId|session_id)"' + _TEXT)
_TIME = re.compile(rb'"(?:timestamp|lastUpdated)"' + _TEXT)
_ANYWHERE = Location(
    lambda _environment, _home: [], (), (b'"role":', b'"action":', b'"observation":', b'"tool":')
)
"""What is known of logs that lie in no agent's usual place."""
_COLON = re.compile(rb'"\s*:\s*')
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def find(
    agents: tuple[Agent, ...],
    environment: Mapping[str, str],
    home: Path,
    *,
    now: float | None = None,
    active_within: float = 300.0,
) -> list[Found]:
    """Every session where agents keep theirs, the newest first; what cannot be read is left out."""
    moment = time.time() if now is None else now
    found = [
        session
        for agent in agents
        if agent.location is not None
        for root in agent.location.roots(environment, home)
        if is_folder(root)
        for session in _survey(agent.name, agent.location, root, moment, active_within)
    ]
    return sorted(found, key=_newest_first)


class _Glimpse(NamedTuple):
    """What the two ends of a file tell."""

    project: str
    session: str
    events: int
    last: float | None
    ended: bool


def describe(
    agents: tuple[Agent, ...], sessions: list[LogSession], now: float, active_within: float = 300.0
) -> list[Found]:
    """The same of sessions that were found by path, the newest first."""
    locations = {agent.name: agent.location for agent in agents}
    found = []
    for session in sessions:
        known = locations.get(session.tool)
        location = known if known is not None and known.marks else _ANYWHERE
        paths = list(dict.fromkeys(log.path for log in session.logs))
        one = _weigh(session.tool, location, paths, now, active_within)
        if one is not None:
            share = _share(session.logs[0], one.size)
            events = one.events * share // max(1, one.size)
            found.append(msgspec.structs.replace(one, session=session.id, size=share, events=events))
    return sorted(found, key=_newest_first)


def _survey(agent: str, location: Location, root: Path, now: float, active_within: float) -> Iterator[Found]:
    if location.survey is not None:
        yield from location.survey(agent, root, now, active_within)
        return
    for path in _logs(location, root):
        one = _weigh(agent, location, [path], now, active_within)
        if one is not None:
            nested = list(_nested(location, path, one.session))
            yield (nested and _weigh(agent, location, [path, *nested], now, active_within)) or one


def _weigh(
    agent: str, location: Location, paths: list[Path], now: float, active_within: float
) -> Found | None:
    """One session from the two ends of its main log and the sizes of all of them."""
    try:
        size, modified = _extent(paths[0])
        glimpse = _look(location, paths[0], size)
    except OSError:
        return None
    own = max(1, size)
    last = modified if glimpse.last is None else min(modified, glimpse.last)
    for path in paths[1:]:
        try:
            more, when = _extent(path)
        except OSError:
            continue
        size += more
        modified, last = max(modified, when), max(last, when)
    return Found(
        agent=agent,
        session=glimpse.session,
        project=glimpse.project,
        path=paths[0],
        paths=tuple(paths),
        modified=modified,
        size=size,
        events=glimpse.events * size // own,
        active=not glimpse.ended and now - last <= active_within,
    )


def _share(log: Log, size: int) -> int:
    """How much of its file a session takes up."""
    return size if log.whole else (size if log.end is None else log.end) - log.start


def _extent(path: Path) -> tuple[int, float]:
    """Size and change time of a file, or of all files in a folder."""
    status = path.stat()
    if not stat.S_ISDIR(status.st_mode):
        return status.st_size, status.st_mtime
    size, modified = 0, status.st_mtime
    for entry in os.scandir(path):
        inner = entry.stat()
        size += inner.st_size
        modified = max(modified, inner.st_mtime)
    return size, modified


def _logs(location: Location, root: Path) -> Iterator[Path]:
    for pattern in location.patterns:
        try:
            for path in root.glob(pattern):
                if not (location.passed_over and path.name.startswith(location.passed_over)):
                    yield path
        except OSError:
            continue


def _nested(location: Location, path: Path, session: str) -> Iterator[Path]:
    """The logs of a session's sub-agents."""
    if not location.nested or "/" in session or session in ("", ".", ".."):
        return
    for top, folders, files in os.walk(path.parent / session / location.nested):
        folders.sort()
        for name in sorted(files):
            if name.endswith((".jsonl", ".json")) and not name.startswith("agent-acompact-"):
                yield Path(top, name)


def _look(location: Location, path: Path, size: int) -> _Glimpse:
    if is_folder(path):
        return _Glimpse("", path.parent.name, sum(1 for _ in path.iterdir()), None, ended=False)
    with opened(path) as stream:
        head = take(stream, _HEAD)
        if head.startswith(MAGIC):
            return _Glimpse("", _named(path), (size + changes(path)) // _ROW, None, ended=False)
        tail = b""
        if size > _HEAD and not packed(path):
            stream.seek(max(_HEAD, size - _TAIL))
            tail = take(stream, _TAIL)
    sample = head + tail
    tight = _COLON.sub(b'":', sample)
    marks = sum(map(tight.count, location.marks))
    cwd, session, times = _CWD.search(head), _SESSION.search(head), _TIME.findall(tail or head)
    project = _text(cwd[1]) if cwd else _hash(head)
    return _Glimpse(
        project=cleaned(project),
        session=_text(session[1]) if session else _named(path),
        events=marks * max(size, len(sample)) // max(1, len(sample)),
        last=seconds(_text(times[-1])) if times else None,
        ended=bool(location.ended) and location.ended in (tail or head),
    )


def _newest_first(found: Found) -> tuple[float, str, str]:
    return -found.modified, found.agent, str(found.path)


def _hash(head: bytes) -> str:
    found = _PROJECT_HASH.search(head)
    return _text(found[1])[:12] if found else ""


def _named(path: Path) -> str:
    """The id in a file's name."""
    uuid = _UUID.search(path.name)
    return uuid[0] if uuid else stem(path).rpartition("_")[2]


def _text(raw: bytes) -> str:
    try:
        return str(msgspec.json.decode(b'"' + raw + b'"', type=str))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return raw.decode("utf-8", "replace")
