"""Sessions of all agents on this machine, from names, sizes, heads and tails alone."""

from __future__ import annotations

import os
import stat
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path, PurePath
from typing import NamedTuple

import msgspec

from core.logs import glimpse
from core.logs.database import wal_bytes
from core.logs.format import Agent, Location
from core.logs.lines import is_packed, open_unpacked, read_bytes
from core.logs.log_files import is_file, is_folder
from core.logs.records import Log
from core.logs.redact.values import redact_name
from core.logs.session import LogSession

NO_SESSIONS = """\
No sessions found on this machine.

nooscope reads the logs that coding agents already write. To get one, install an agent and run it once:

  npm install -g @anthropic-ai/claude-code  then: claude
  npm install -g @openai/codex              then: codex

Gemini CLI, OpenCode, Copilot CLI, OpenHands and others work too (`nooscope doctor` lists them). Meanwhile:

  nooscope demo             watch a sample session
  nooscope watch PATH       follow a log, even before it exists
  nooscope replay PATH      play a saved log
  nooscope sessions PATH    list the logs of another folder\
"""


class Found(msgspec.Struct, frozen=True):
    """One session on disk."""

    agent: str
    session: str
    project: str  # The folder the agent works in; blank if the log's beginning does not contain it.
    path: Path  # The main log.
    paths: tuple[Path, ...]  # The main log and those of sub-agents.
    modified: float
    size: int  # Bytes of all its logs.
    events: int  # About how many; guessed from its size and a sample.
    active: bool
    title: str = ""  # The title in its log, else the first prompt; safe to show.
    told: float | None = None  # The last timestamp in the log.

    @property
    def last(self) -> float:
        """Time of the last activity by the log's own clock, or of its last change on disk."""
        return self.modified if self.told is None else self.told


class Listed(NamedTuple):
    """One session as its agent describes it."""

    session: str
    project: str
    title: str
    last: float | None  # When something last happened in it.
    events: int  # About how many.


def listed_session(
    agent: str, path: Path, one: Listed, size: int, now: float, active_within: float, modified: float | None = None
) -> Found:
    """Return a session with its size in bytes and its last change; in a database, both are the session's own."""
    told = one.last if modified is not None else one.last or 0.0
    written = modified if modified is not None else one.last or 0.0
    return Found(
        agent=agent,
        session=one.session,
        project=redact_name(one.project),
        path=path,
        paths=(path,),
        modified=written,
        told=told,
        size=size,
        events=one.events,
        active=now - (written if told is None else min(told, written)) <= active_within,
        title=glimpse.display_title(one.title),
    )


def database_sessions(
    agent: str, path: Path, listing: Callable[[Path], list[Listed]], now: float, active_within: float
) -> Iterator[Found]:
    """Yield the sessions of a database, which share its size; none if it cannot be read."""
    try:
        listed = listing(path) if is_file(path) else []
        size = path.stat().st_size // max(1, len(listed)) if listed else 0
    except OSError:
        return
    for one in listed:
        yield listed_session(agent, path, one, size, now, active_within)


def file_session(
    agent: str, path: Path, event: int, now: float, active_within: float, project: str = "", title: str = ""
) -> Found:
    """Return the session of a file, its events counted at that many bytes each."""
    size, modified = _extent(path)
    one = Listed(path.stem, project, title, None, size // event)
    return listed_session(agent, path, one, size, now, active_within, modified)


def extent(folder: Path) -> tuple[int, float, int]:
    """Size, last change and number of a folder's files."""
    size, number, modified = 0, 0, folder.stat().st_mtime
    for entry in os.scandir(folder):
        status = entry.stat()
        size += status.st_size
        number += 1
        modified = max(modified, status.st_mtime)
    return size, modified, number


# The location of logs outside every agent's usual folders.
_ANYWHERE = Location(lambda *_: [], (), (b'"role":', b'"action":', b'"observation":', b'"tool":'))
# Bytes that are read to count the events of the newest sessions; older ones are guessed from samples.
_BUDGET = 32 * 1024 * 1024
_REMEMBERED = 2_000
_DATABASES = (".db", ".sqlite", ".sqlite3")
# Events and titles found before, by file, size and change.
_counts: dict[tuple[Path, int, float], tuple[int, str]] = {}


def find(
    agents: tuple[Agent, ...],
    environment: Mapping[str, str],
    home: Path,
    *,
    now: float | None = None,
    active_within: float = 300.0,
    faults: list[str] | None = None,
) -> list[Found]:
    """Find every session in the agents' folders, newest first;

    unreadable ones are left out. A session that was also received as telemetry is listed once, by its agent's
    own log, which contains more. With `faults`, a folder whose search fails is named there and the other
    folders are still searched.
    """
    moment = time.time() if now is None else now
    rows: list[Found] = []
    placed = [(agent, agent.location) for agent in agents if agent.location is not None]
    folders = [(*one, root) for one in placed for root in one[1].roots(environment, home) if is_folder(root)]
    for agent, location, root in folders:
        try:
            rows += _survey(agent, location, root, moment, active_within)
        except Exception as fault:
            if faults is None:
                raise
            faults.append(f"{root}: cannot be searched ({type(fault).__name__}: {str(fault)[:200]})")
    general = {agent.name for agent in agents if agent.general}
    logged = {one.session for one in rows if one.agent not in general and one.session}
    once = [one for one in rows if one.agent not in general or one.session not in logged]
    return _with_exact_counts(agents, sorted(once, key=_newest_first))


def describe_sessions(
    agents: tuple[Agent, ...], sessions: list[LogSession], now: float, active_within: float = 300.0
) -> list[Found]:
    """Describe sessions that were found by path, newest first."""
    locations = {agent.name: agent.location for agent in agents}
    sharing = Counter(session.logs[0].path for session in sessions)
    listings: dict[Path, dict[str, Listed]] = {}
    rows = []
    for session in sessions:
        own_location = locations.get(session.tool)
        location = own_location if own_location is not None and own_location.marks else _ANYWHERE
        log = session.logs[0]
        if log.format.style == "database":
            one = _row(session, listings, sharing[log.path], now, active_within)
            if one is not None:
                rows.append(one)
            continue
        paths = list(dict.fromkeys(log.path for log in session.logs))
        one = _session_found(session.tool, location, paths, now, active_within, log.format.titles)
        if one is not None:
            share = _share(log, one.size)
            events = _stretch(location, log, one, sharing[log.path])
            title = one.title if log.whole and log.format.outline is None else glimpse.title_of(session)
            last = _outlined(log) or one.told
            active = one.active and (last is None or now - last <= active_within)
            rows.append(
                msgspec.structs.replace(
                    one, session=session.id, size=share, events=events, title=title, told=last, active=active
                )
            )
    shared = {path for path, number in sharing.items() if number > 1}
    return _with_exact_counts(agents, sorted(rows, key=_newest_first), shared)


def _row(
    session: LogSession, listings: dict[Path, dict[str, Listed]], sharing: int, now: float, active_within: float
) -> Found | None:
    """A session of a database, by its own rows; where those are damaged, by its name alone."""
    log = session.logs[0]
    if log.path not in listings:
        listing = getattr(log.format.reader, "listing", None)
        try:
            listings[log.path] = {one.session: one for one in listing(log.path)} if listing else {}
        except OSError:
            listings[log.path] = {}
    try:
        status = log.path.stat()
        size = status.st_size + wal_bytes(log.path)
    except OSError:
        return None
    one = listings[log.path].get(session.id) or Listed(session.id, "", "", status.st_mtime, 0)
    return listed_session(session.tool, log.path, one, size // sharing, now, active_within)


def _outlined(log: Log) -> float | None:
    """Return the last timestamp of a log that is not JSON."""
    if log.format.outline is None:
        return None
    try:
        return log.format.outline(_session_bytes(log)).last
    except OSError:
        return None


def _session_bytes(log: Log) -> bytes:
    """The lines of a session that shares its file with others, as far as they are looked through."""
    with open_unpacked(log.path) as stream:
        stream.seek(log.start)
        return read_bytes(stream, glimpse.EXACT if log.end is None else min(glimpse.EXACT, log.end - log.start))


def _stretch(location: Location, log: Log, one: Found, sharing: int) -> int:
    """The events of a session that shares its file with others."""
    if log.whole:
        return one.events
    if log.format.style != "lines" or log.session:
        return one.events // sharing
    try:
        return glimpse.estimate_events(location, [_session_bytes(log)], 1.0)
    except OSError:
        return one.events


def _with_exact_counts(
    agents: tuple[Agent, ...], sessions: list[Found], shared: set[Path] | None = None
) -> list[Found]:
    """Return the list with exact counts and titles for the newest sessions."""
    by_name = {agent.name: agent for agent in agents}
    left = _BUDGET
    better = []
    for one in sessions:
        agent = by_name.get(one.agent)
        key = (one.path, one.size, one.modified)
        is_large = one.size > glimpse.EXACT or one.path.suffix in _DATABASES
        if is_large or one.path in (shared or ()) or is_folder(one.path):
            better.append(one)
            continue
        if key not in _counts and left >= one.size:
            left -= one.size
            if len(_counts) >= _REMEMBERED:
                _counts.clear()
            _counts[key] = _count_and_title(agent, one)
        events, title = _counts.get(key, (one.events, ""))
        better.append(msgspec.structs.replace(one, events=events, title=title or one.title))
    return better


def _count_and_title(agent: Agent | None, one: Found) -> tuple[int, str]:
    location = agent.location if agent is not None and agent.location is not None else _ANYWHERE
    parts = []
    for path in one.paths:
        try:
            with open_unpacked(path) as stream:
                parts.append(read_bytes(stream, glimpse.EXACT))
        except OSError:
            continue
    main = parts[0] if parts else b""
    titles = next((one_format.titles for one_format in agent.formats if one_format.titles), None) if agent else None
    whole = main.lstrip()[:1] == b"[" or b"\n{" not in main[: glimpse.HEAD]
    title = glimpse.read_title(main if whole else main[: glimpse.HEAD], b"" if whole else main[-glimpse.TAIL :], titles)
    return glimpse.estimate_events(location if location.marks else _ANYWHERE, parts, 1.0), title


def _survey(agent: Agent, location: Location, root: Path, now: float, active_within: float) -> Iterator[Found]:
    if location.survey is not None:
        yield from location.survey(agent.name, root, now, active_within)
        return
    titles = agent.formats[0].titles if agent.formats else None
    paths = list(logs_below(location, root))
    later = _later_logs(agent, location, paths)
    claimed = set(chain(*later.values()))
    for path in paths:
        if path in claimed:
            continue
        one = _session_found(agent.name, location, [path], now, active_within, titles)
        if one is not None:
            nested = [*later.get(path, ()), *_nested(location, path, one.session)]
            many = [path, *nested]
            yield (nested and _session_found(agent.name, location, many, now, active_within, titles)) or one


def _later_logs(agent: Agent, location: Location, paths: list[Path]) -> dict[Path, list[Path]]:
    """Return the logs in which sessions go on, by the first log of each, if names of files show it."""
    later: dict[Path, list[Path]] = {}
    for path in paths if location.goes_on else ():
        match = location.goes_on.match(path.name) if location.goes_on else None
        first = match and next((one for one in paths if one.name.partition(".")[0].endswith(f"-{match[1]}")), None)
        if first and (path.parent == first.parent or path.parent in _beside(agent, first)):
            later.setdefault(first, []).append(path)
    return later


def _beside(agent: Agent, path: Path) -> list[Path]:
    beside = agent.formats[0].beside
    return beside(path) if beside else []


def _session_found(
    agent: str, location: Location, paths: list[Path], now: float, active_within: float, titles: glimpse.Titles | None
) -> Found | None:
    """One session from the two ends of its main log and the sizes of all of them."""
    try:
        size, modified = _extent(paths[0])
        ends = _look(location, paths[0], size)
    except OSError:
        return None
    own = max(1, size)
    last = modified if ends.last is None else ends.last
    for path in paths[1:]:
        try:
            more, when = _extent(path)
            if now - when <= active_within:
                last = max(last, _own_time(path, more) or when)
        except OSError:
            continue
        size += more
        modified = max(modified, when)
    return Found(
        agent=agent,
        session=ends.session,
        project=ends.project,
        path=paths[0],
        paths=tuple(paths),
        modified=modified,
        told=last,
        size=size,
        events=ends.events * size // own,
        active=not ends.ended and now - min(modified, last) <= active_within,
        title=glimpse.read_title(ends.head, ends.tail, titles),
    )


def _share(log: Log, size: int) -> int:
    """Return how many bytes of its file a session takes up."""
    return size if log.whole else (size if log.end is None else log.end) - log.start


def _own_time(path: Path, size: int) -> float | None:
    with open_unpacked(path) as stream:
        return glimpse.last_time(stream, 0 if is_packed(path) else size)


def _extent(path: Path) -> tuple[int, float]:
    """Size and change time of a file, or of all files in a folder."""
    status = path.stat()
    return extent(path)[:2] if stat.S_ISDIR(status.st_mode) else (status.st_size, status.st_mtime)


def logs_below(location: Location, root: Path) -> Iterator[Path]:
    """Yield the logs below one of an agent's folders; a packed one only if it is not there unpacked too."""
    packed = [f"{pattern}.zst" for pattern in location.patterns if pattern.endswith(".jsonl")]
    for pattern in (*location.patterns, *packed):
        files = bool(PurePath(pattern).suffix)
        try:
            for path in root.glob(pattern):
                if (files and is_folder(path)) or (path.suffix == ".zst" and is_file(path.with_suffix(""))):
                    continue
                if not (location.passed_over and path.name.startswith(location.passed_over)):
                    yield path
        except OSError:
            continue


def _nested(location: Location, path: Path, session: str) -> Iterator[Path]:
    """The logs of a session's sub-agents."""
    if "/" in session or session in ("", ".", ".."):
        return
    if location.beside:
        place = path.parent / location.beside.format(session=session)
    elif location.nested:
        place = path.parent / session / location.nested
    else:
        return
    for top, folders, files in os.walk(place):
        folders.sort()
        for name in sorted(files):
            if name.endswith((".jsonl", ".json", ".jsonl.zst")) and not name.startswith("agent-acompact-"):
                yield Path(top, name)


def _look(location: Location, path: Path, size: int) -> glimpse.Glimpse:
    if is_folder(path):
        return glimpse.Glimpse("", path.parent.name, sum(1 for _ in path.iterdir()), None, ended=False)
    with open_unpacked(path) as stream:
        return glimpse.glimpse(location, stream, path, 0 if is_packed(path) else size)


def _newest_first(session: Found) -> tuple[float, str, str]:
    return -session.modified, session.agent, str(session.path)
