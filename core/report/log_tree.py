"""The sessions below some folders, and the list of all, found again at once while nothing changes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec
from blake3 import blake3

from core.errors import UnreadableLog
from core.logs.format import Diagnostic
from core.report.answers import all_below, files_below, names_single_logs
from core.store.kept_answers import FileStamp, code_stamp, reading_stamp, stamps
from core.store.reading_cache import ReadingCache, reading_cache_path

if TYPE_CHECKING:
    from core.logs.discovery import Found
    from core.logs.format import Format
    from core.logs.records import Log
    from core.logs.session import LogSession
    from core.settings import Settings

VERSION = 21  # Raised when the same log gives a different result.

T = TypeVar("T")


class LogName(msgspec.Struct, array_like=True, frozen=True):
    """A log, or a stretch of one, by the names of its file and its format."""

    path: str
    format: str
    agent: str
    start: int
    line: int
    end: int | None
    run: int | None
    session: str


class SessionName(msgspec.Struct, array_like=True, frozen=True):
    """A session by the names of its logs, usable without any reader."""

    id: str
    tool: str
    logs: tuple[LogName, ...]
    copied: tuple[LogName, ...]
    repeated: bool
    helpers: tuple[LogName, ...] = ()

    @property
    def session(self) -> LogSession:
        """Return the session; raises `KeyError` if its format is no longer known."""
        from core.logs.session import LogSession

        return LogSession(self.id, self.tool, _logs(self.logs), _logs(self.copied), self.repeated, _logs(self.helpers))


class LogTree:
    """Finds sessions and analyses each; both results are cached until the logs change.

    Files are recognised and read again only when their size, their time or their end is another; where none
    is, no agent's reader is even imported.
    """

    def __init__(self, settings: Settings, cache: ReadingCache | None) -> None:
        self.settings = settings
        self.faults: list[Diagnostic] = []  # Paths without anything readable.
        self.searched = False  # Whether formats of files had to be recognized.
        self.enclosed = True  # Whether everything found is below the given paths, so that results can be cached.
        self._cache = cache
        self._stamps: dict[str, tuple[FileStamp, ...]] = {}
        self._about = reading_stamp(settings, VERSION)

    def sessions(self, paths: Sequence[Path]) -> list[SessionName]:
        """Return the sessions in files, folders and patterns; raises `UnreadableLog` if there is none."""
        if self._cache is None or names_single_logs(paths):
            return self._find(paths)
        key = self._listing(paths)
        cached = self._load([key], tuple[list[SessionName], list[Diagnostic]]).get(key)
        if cached is not None:
            self.faults = cached[1]
            return cached[0]
        listed = self._find(paths)
        if self.enclosed:
            self._save({key: (listed, self.faults)})
        return listed

    def sessions_or_none(self, paths: Sequence[Path]) -> list[SessionName]:
        """Return the sessions, or none if nothing is there."""
        with suppress(UnreadableLog):
            return self.sessions(paths)
        return []

    def each(
        self,
        kind: str,
        sessions: Sequence[SessionName],
        type_: type[T],
        make: Callable[[list[SessionName]], Iterable[T | None]],
        about: Sequence[str] = (),
    ) -> list[T]:
        """Return the result for every session, in order; `make` is called for those that are not stored.

        A session for which `make` gives None is left out.

        `about` says of each session what else decides it.
        """
        details = about or [""] * len(sessions)
        keys = [self.key(f"{kind} {more}".rstrip(), session) for session, more in zip(sessions, details, strict=True)]
        results = self._load(dict.fromkeys(keys), type_)
        missing = {key: name for key, name in zip(keys, sessions, strict=True) if key not in results}
        made_now = zip(missing, make(list(missing.values())), strict=True)
        fresh = {key: value for key, value in made_now if value is not None}
        self._save(fresh)
        results.update(fresh)
        return [results[key] for key in keys if key in results]

    def cached(self, kind: str, session: SessionName, type_: type[T]) -> T | None:
        """Return the cached result for one session if its logs are unchanged."""
        key = self.key(kind, session)
        return self._load([key], type_).get(key)

    def keep(self, kind: str, session: SessionName, value: object) -> None:
        """Cache the result for one session."""
        self._save({self.key(kind, session): value})

    def _load(self, keys: Iterable[str], type_: type[T]) -> dict[str, T]:
        """Return what is cached and can be read."""
        cached = self._cache.load(keys) if self._cache is not None else {}
        decoder = msgspec.msgpack.Decoder(type_)
        results: dict[str, T] = {}
        for key, value in cached.items():
            with suppress(msgspec.DecodeError):
                results[key] = decoder.decode(value)
        return results

    def _save(self, values: Mapping[str, object]) -> None:
        """Cache some results; names that are not UTF-8 are read again the next time."""
        if self._cache is not None:
            with suppress(UnicodeEncodeError):
                self._cache.save({key: msgspec.msgpack.encode(value) for key, value in values.items()})

    def key(self, kind: str, session: SessionName) -> str:
        """Return the cache key for a session's logs and one kind of result."""
        name = blake3(f"{kind}\n".encode())
        name.update(self._about)
        name.update(repr(msgspec.structs.replace(session, repeated=False)).encode("utf-8", "surrogatepass"))
        for log in (*session.logs, *session.copied, *session.helpers):
            name.update(repr(self.stamps(log.path)).encode("utf-8", "surrogatepass"))
        return name.hexdigest(length=16)

    def stamps(self, path: str) -> tuple[FileStamp, ...]:
        """Return the stamps of a log's files when this tree first looked at them."""
        if path not in self._stamps:
            self._stamps[path] = stamps(path)
        return self._stamps[path]

    def _find(self, paths: Sequence[Path]) -> list[SessionName]:
        from core.agents.registry import make_kit
        from core.logs.finder import Finder

        self.searched = True
        kit = make_kit(self.settings.ingest)
        sessions = Finder(kit, self.settings.ingest.lines).sessions(paths)
        self.faults = list(kit.diagnostics.first)
        self.enclosed = all_below(sessions, paths)
        return list(map(session_name, sessions))

    def _listing(self, paths: Sequence[Path]) -> str:
        """Return a cache key for some paths and all files below them."""
        name = blake3(b"listing\n" + self._about)
        name.update(repr(list(map(str, paths))).encode("utf-8", "surrogatepass"))
        for file in files_below(paths):
            name.update(repr((file, self.stamps(file))).encode("utf-8", "surrogatepass"))
        return name.hexdigest(length=16)


def agent_folders(environment: Mapping[str, str], home: Path) -> list[Path]:
    """Return the folders where agents keep sessions on this machine."""
    from core.agents.registry import known_agents
    from core.logs.format import roots

    return list(dict.fromkeys(root for _, root in roots(known_agents(), environment, home)))


def _format_name(format_: Format) -> str:
    return f"{format_.name} {format_.style} {format_.reader.__module__}.{format_.reader.__qualname__}"


def session_name(session: LogSession) -> SessionName:
    """Return a session as names of its logs."""

    def names(logs: tuple[Log, ...]) -> tuple[LogName, ...]:
        return tuple(LogName(str(log.path), _format_name(log.format), *log[2:]) for log in logs)

    return SessionName(
        session.id, session.tool, names(session.logs), names(session.copied), session.repeated, names(session.helpers)
    )


@cache
def _format(name: str) -> Format:
    """Return a format by its name, importing readers of other agents only if its own has it no longer."""
    from core.agents.registry import known_agents

    agents = sorted(known_agents(), key=lambda agent: not name.startswith(f"{agent.name} "))
    for one in (format_ for agent in agents for format_ in agent.formats):
        if _format_name(one) == name:
            return one
    raise KeyError(name)


def _logs(names: tuple[LogName, ...]) -> tuple[Log, ...]:
    from core.logs.records import Log

    return tuple(
        Log(Path(one.path), _format(one.format), one.agent, one.start, one.line, one.end, one.run, one.session)
        for one in names
    )


class SessionRow(msgspec.Struct, array_like=True, frozen=True):
    """One session on disk, in plain values."""

    agent: str
    session: str
    title: str
    project: str
    path: str
    paths: tuple[str, ...]
    modified: float
    last: float
    size: int
    events: int
    active: bool

    def at(self, now: float, active_within: float) -> SessionRow:
        """Return the row as of a later moment, when it may no longer be active."""
        active = self.active and now - min(self.modified, self.last) <= active_within
        return self if active == self.active else msgspec.structs.replace(self, active=active)


class SessionList(msgspec.Struct, array_like=True, frozen=True):
    """The sessions found, and the seconds for which one counts as active."""

    rows: tuple[SessionRow, ...]
    active_within: float


class AgentPlaces(msgspec.Struct, array_like=True, frozen=True):
    """Every folder where an agent may keep sessions, existing or not, and what it depends on."""

    asked: dict[str, str | None]  # Environment variables that were read.
    folders: tuple[str, ...]
    elsewhere: tuple[str, ...]  # Those that refer to logs elsewhere.

    @property
    def complete(self) -> bool:
        """Whether all sessions are below the folders."""
        return not any(map(os.path.isdir, self.elsewhere))


class _Asked(Mapping[str, str]):
    """An environment that records which variables are read."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self.noted: dict[str, str | None] = {}

    def __getitem__(self, name: str) -> str:
        self.noted[name] = self._environment.get(name)
        return self._environment[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._environment)

    def __len__(self) -> int:
        return len(self._environment)


def listed_rows(sessions: list[Found]) -> tuple[SessionRow, ...]:
    """Return sessions as plain rows, most recently active first."""
    ordered = sorted(sessions, key=lambda one: -one.last)
    rows = ({name: getattr(one, name) for name in SessionRow.__struct_fields__} for one in ordered)
    return tuple(
        SessionRow(**{**row, "path": str(row["path"]), "paths": tuple(map(str, row["paths"]))}) for row in rows
    )


def kept_places(environment: Mapping[str, str], home: Path) -> AgentPlaces | None:
    """Return the cached places of sessions, or None."""
    key = _places_key(home)
    content = ReadingCache(reading_cache_path(), 0).load([key]).get(key)
    if content is None:
        return None
    with suppress(msgspec.DecodeError):
        places = msgspec.msgpack.decode(content, type=AgentPlaces)
        return places if all(environment.get(name) == value for name, value in places.asked.items()) else None
    return None


def agent_places(environment: Mapping[str, str], home: Path, cache: ReadingCache | None) -> AgentPlaces:
    """Find where agents keep sessions, and cache it."""
    from core.agents.registry import known_agents

    recorder = _Asked(environment)
    located = [agent.location for agent in known_agents() if agent.location is not None]
    roots = [(location, str(root)) for location in located for root in location.roots(recorder, home)]
    folders = tuple(dict.fromkeys(root for _, root in roots))
    places = AgentPlaces(recorder.noted, folders, tuple(root for one, root in roots if one.elsewhere))
    if cache is not None:
        cache.save({_places_key(home): msgspec.msgpack.encode(places)})
    return places


def _places_key(home: Path) -> str:
    return blake3(f"places\n{code_stamp()}\n{home}".encode("utf-8", "surrogatepass")).hexdigest(length=16)
