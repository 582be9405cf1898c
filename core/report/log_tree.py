"""The sessions below some folders, found again at once while nothing there has changed."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
from blake3 import blake3

from core import __version__
from core.agents.registry import AGENTS, FORMATS, make_kit
from core.agents.tables import OURS
from core.errors import UnreadableLog
from core.logs.agent import roots
from core.logs.door import is_folder, is_there
from core.logs.finder import Finder, walk
from core.logs.format import Format
from core.logs.reader import Kit
from core.logs.records import Log
from core.logs.session import LogSession
from core.settings import Settings
from core.settings.tunable import canonical
from core.store.log_stamp import FileStamp, stamp, stamps
from core.store.reading_cache import ReadingCache

VERSION = 1
"""Raised when the same log gives something else."""

T = TypeVar("T")


class _StoredLog(msgspec.Struct, array_like=True):
    path: str
    format: str
    agent: str
    start: int
    line: int
    end: int | None
    run: int | None
    session: str


class _StoredSession(msgspec.Struct, array_like=True):
    id: str
    tool: str
    logs: list[_StoredLog]
    copied: list[_StoredLog]


class LogTree:
    """Finds sessions and makes something of each, and remembers both by what the logs were.

    Files are recognised and read again only when their size, their time or their end is another.
    """

    def __init__(self, settings: Settings, cache: ReadingCache | None) -> None:
        self.settings = settings
        self.kit: Kit = make_kit(settings.ingest)
        self.found_again = False
        """Whether the sessions were known from before."""
        self._cache = cache
        self._stamps: dict[str, tuple[FileStamp, ...]] = {}
        self._about = _about(settings)

    def sessions(self, paths: Sequence[Path]) -> list[LogSession]:
        """The sessions in files, folders and patterns; `UnreadableLog` where there is none."""
        if self._cache is None:
            return self._find(paths)
        key = self._listing(paths)
        kept = self._cache.load([key]).get(key)
        known = None if kept is None else _restored(kept)
        if known is not None:
            self.found_again = True
            return known
        found = self._find(paths)
        if not self.kit.diagnostics.first:
            self._cache.save({key: msgspec.msgpack.encode([_stored(one) for one in found])})
        return found

    def each(
        self,
        kind: str,
        sessions: Sequence[LogSession],
        made: type[T],
        make: Callable[[list[LogSession]], Iterable[T]],
    ) -> list[T]:
        """What is made of every session, in their order; `make` is asked for those that are not kept."""
        keys = [self.key(kind, session) for session in sessions]
        kept = self._cache.load(dict.fromkeys(keys)) if self._cache is not None else {}
        decoder = msgspec.msgpack.Decoder(made)
        results: dict[str, T] = {}
        for key, value in kept.items():
            try:
                results[key] = decoder.decode(value)
            except msgspec.DecodeError:
                continue
        missing = {key: session for key, session in zip(keys, sessions, strict=True) if key not in results}
        fresh = dict(zip(missing, make(list(missing.values())), strict=True))
        if self._cache is not None:
            self._cache.save({key: msgspec.msgpack.encode(value) for key, value in fresh.items()})
        results.update(fresh)
        return [results[key] for key in keys]

    def key(self, kind: str, session: LogSession) -> str:
        """What a session's logs are now, and what is made of them, as one name."""
        name = blake3(f"{kind}\n".encode())
        name.update(self._about)
        name.update(msgspec.msgpack.encode(_stored(session)))
        for log in (*session.logs, *session.copied):
            name.update(msgspec.msgpack.encode(self._of(log.path)))
        return name.hexdigest(length=16)

    def _of(self, path: Path) -> tuple[FileStamp, ...]:
        text = str(path)
        if text not in self._stamps:
            self._stamps[text] = stamps(path)
        return self._stamps[text]

    def _find(self, paths: Sequence[Path]) -> list[LogSession]:
        return Finder(self.kit, self.settings.ingest.lines).sessions(paths)

    def _listing(self, paths: Sequence[Path]) -> str:
        """All files below some paths as one name."""
        name = blake3(b"listing\n" + self._about)
        for file in _files(paths):
            one = stamp(file)
            if one is not None:
                self._stamps.setdefault(str(file), stamps(file) if file.suffix == ".db" else (one,))
            name.update(msgspec.msgpack.encode((str(file), one)))
        return name.hexdigest(length=16)


def agent_folders(environment: Mapping[str, str], home: Path) -> list[Path]:
    """Where agents keep their sessions on this machine."""
    return list(dict.fromkeys(root for _, root in roots(AGENTS, environment, home)))


def checked_paths(paths: Iterable[Path]) -> list[Path]:
    """Paths a person named, each of which is there or is a pattern."""
    given = [path.expanduser() for path in paths]
    for path in given:
        if not is_there(path) and not glob.has_magic(str(path)):
            raise UnreadableLog(f"{path}: no such file or folder")
    return given


def _files(paths: Sequence[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        if is_folder(path):
            found += walk(path)
        elif is_there(path):
            found.append(path)
        else:
            matches = map(Path, sorted(glob.glob(str(path), recursive=True)))  # noqa: PTH207 as the finder
            found += _files([match for match in matches if is_there(match)])
    return found


def _about(settings: Settings) -> bytes:
    """What else decides what is made of a log: versions, limits, tables of tools and prices."""
    tables = settings.ingest.tables
    own = [Path(name).expanduser() for name in (tables.tools, tables.models) if name]
    given = [one and (one.size, one.modified, one.end) for one in map(stamp, own)]
    ours = [(path.name, os.stat(path).st_mtime_ns) for path in sorted(OURS.glob("*.toml"))]  # noqa: PTH116
    return msgspec.msgpack.encode((VERSION, __version__, canonical(settings.ingest, set()), given, ours))


def _name(known: Format) -> str:
    return f"{known.name} {known.style} {known.reader.__module__}.{known.reader.__qualname__}"


_BY_NAME = {_name(known): known for known in FORMATS}


def _stored(session: LogSession) -> _StoredSession:
    def rows(logs: tuple[Log, ...]) -> list[_StoredLog]:
        return [
            _StoredLog(str(log.path), _name(log.format), *log[2:])  # the fields stand in the same order
            for log in logs
        ]

    return _StoredSession(session.id, session.tool, rows(session.logs), rows(session.copied))


def _restored(kept: bytes) -> list[LogSession] | None:
    try:
        rows = msgspec.msgpack.decode(kept, type=list[_StoredSession])
        return [LogSession(row.id, row.tool, _logs(row.logs), _logs(row.copied)) for row in rows]
    except (msgspec.DecodeError, KeyError):
        return None


def _logs(rows: list[_StoredLog]) -> tuple[Log, ...]:
    return tuple(
        Log(Path(row.path), _BY_NAME[row.format], row.agent, row.start, row.line, row.end, row.run, row.session)
        for row in rows
    )


