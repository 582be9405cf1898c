"""Answers of commands and lists of sessions, kept for as long as no log and no setting changes."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from blake3 import blake3

from core.errors import UnreadableLog
from core.folders import PROJECT_SETTINGS, user_settings_file
from core.logs.log_files import expanded, from_root, is_folder, is_there, names_below
from core.store.kept_answers import code_stamp, kept_answers, stamps
from core.store.reading_cache import ReadingCache, reading_cache_path

if TYPE_CHECKING:
    from core.logs.discovery import Found
    from core.logs.session import LogSession
    from core.settings import Settings


def checked_paths(paths: Iterable[Path]) -> list[Path]:
    """Paths a person named, each of which is there or is a pattern."""
    given = [expanded(path) for path in paths]
    for path in given:
        if not is_there(path) and not glob.has_magic(str(path)):
            raise UnreadableLog(f"{path}: no such file or folder")
    return given


def files_below(paths: Sequence[Path]) -> list[str]:
    """Every file in files, folders and patterns."""
    found: list[str] = []
    for path in map(expanded, paths):
        if is_folder(path):
            found += names_below(path)
        elif is_there(path):
            found.append(str(path))
        else:
            matches = map(Path, sorted(glob.glob(str(path), recursive=True)))  # noqa: PTH207 as the finder
            found += files_below([match for match in matches if is_there(match)])
    return found


def all_below(sessions: Iterable[LogSession], paths: Iterable[Path]) -> bool:
    """Whether all logs of some sessions lie below folders, and those of sub-agents to come will."""
    above = tuple(map(_as_folder, map(expanded, paths)))
    return all(
        _as_folder(folder).startswith(above)
        for session in sessions
        for folder in (session.logs[0].format.beside or _nowhere)(session.path)
    )


def _as_folder(path: Path) -> str:
    return os.path.join(from_root(path), "")  # noqa: PTH118 the last separator counts


def _nowhere(_: Path) -> list[Path]:
    return []


def names_single_logs(paths: Iterable[Path]) -> bool:
    """Whether single logs are named: those of their sub-agents may come and grow anywhere beside them."""
    return any(
        not is_folder(path) and (is_there(path) or glob.has_magic(str(path))) for path in map(expanded, paths)
    )


_PREFIX = "NOOSCOPE_"
_PROJECT = (PROJECT_SETTINGS, ".nooscope-policy.toml", ".nooscope-rules.json", "receptor-rules.json")
"""What is read of a watched project."""
_OWN = ("affect-policy.toml", "receptor-rules.json")
"""What is read beside a person's settings."""


class KeptQuestion(NamedTuple):
    """All that decides an answer, as one name: equal names have equal answers."""

    key: str
    keeps: bool = True
    """Whether it knows all that was read; of a single log it does not."""

    def answer(self) -> bytes | None:
        """What was answered before; None where nothing is kept."""
        return kept_answers().load(self.key) if self.keeps else None

    def keep(self, answer: bytes, settings: Settings) -> None:
        """Keep an answer, unless settings name files of which a question knows nothing."""
        tables = settings.ingest.tables
        chosen = settings.timeline.cache
        unknown = tables.tools or tables.models or settings.response.persona.folder
        if self.keeps and chosen.on and chosen.limit and not unknown:
            kept_answers().save(self.key, answer, chosen.limit * 1_000_000)


def question(
    command: str, words: Sequence[Any], paths: Sequence[Path], project: Path | None, given: Path | None
) -> KeptQuestion:
    """A command with its options about some logs, as these and all that settings are read from are now.

    `given` is the folder of what watched sessions started from, where that counts.
    """
    if names_single_logs(paths):
        return KeptQuestion("", keeps=False)
    name = blake3(f"{command}\n{code_stamp()}\n".encode())
    spoken = sorted((key, value) for key, value in os.environ.items() if key.startswith(_PREFIX))
    told = (list(words), [str(path) for path in paths], str(Path.cwd()), spoken)
    name.update(repr(told).encode("utf-8", "surrogatepass"))
    folder = project or Path.cwd()
    mine = user_settings_file()
    for path in (mine, *map(mine.with_name, _OWN), *(folder / one for one in _PROJECT)):
        name.update(_content(path))
    for path in () if given is None else _below(given):
        name.update(_content(path) if path.suffix == ".json" else os.fsencode(path))
    for log in files_below(paths):
        name.update(repr((log, stamps(log))).encode("utf-8", "surrogatepass"))
    return KeptQuestion(name.hexdigest(length=16))


def _below(folder: Path) -> Iterator[Path]:
    for top, folders, files in os.walk(folder):
        folders.sort()
        for file in sorted(files):
            yield Path(top, file)


def _content(path: Path) -> bytes:
    """A small file by name and content; one that is not there is another than an empty one."""
    try:
        return repr((os.fsencode(path), path.read_bytes())).encode()
    except OSError:
        return repr((os.fsencode(path), None)).encode()


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
        """The same at a later moment, when it may have fallen silent."""
        active = self.active and now - min(self.modified, self.last) <= active_within
        return self if active == self.active else msgspec.structs.replace(self, active=active)


class SessionList(msgspec.Struct, array_like=True, frozen=True):
    """The sessions that were found, and how long ago one may have been written to and still be active."""

    rows: tuple[SessionRow, ...]
    active_within: float


class AgentPlaces(msgspec.Struct, array_like=True, frozen=True):
    """Every folder in which an agent may keep sessions, there or not, and what that follows from."""

    asked: dict[str, str | None]
    """Variables of the environment that were looked at."""
    folders: tuple[str, ...]
    elsewhere: tuple[str, ...]
    """Those of them that name logs outside."""

    @property
    def complete(self) -> bool:
        """Whether all that is listed lies below the folders."""
        return not any(map(os.path.isdir, self.elsewhere))


class _Asked(Mapping[str, str]):
    """An environment that notes what it is asked for."""

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


def listed_rows(found: list[Found]) -> tuple[SessionRow, ...]:
    """Sessions in plain values, the one that did something last first."""
    return tuple(
        SessionRow(
            one.agent,
            one.session,
            one.title,
            one.project,
            str(one.path),
            tuple(map(str, one.paths)),
            one.modified,
            one.last,
            one.size,
            one.events,
            one.active,
        )
        for one in sorted(found, key=lambda one: -one.last)
    )


def kept_places(environment: Mapping[str, str], home: Path) -> AgentPlaces | None:
    """Where agents keep sessions, as it was found before; None where that is not known."""
    key = _places_key(home)
    content = ReadingCache(reading_cache_path(), 0).load([key]).get(key)
    if content is None:
        return None
    try:
        kept = msgspec.msgpack.decode(content, type=AgentPlaces)
    except msgspec.DecodeError:
        return None
    same = all(environment.get(name) == value for name, value in kept.asked.items())
    return kept if same else None


def agent_places(environment: Mapping[str, str], home: Path, cache: ReadingCache | None) -> AgentPlaces:
    """Where agents keep sessions, found anew and kept."""
    from core.agents.registry import known_agents

    asked = _Asked(environment)
    located = [agent.location for agent in known_agents() if agent.location is not None]
    roots = [(location, str(root)) for location in located for root in location.roots(asked, home)]
    folders = tuple(dict.fromkeys(root for _, root in roots))
    places = AgentPlaces(asked.noted, folders, tuple(root for one, root in roots if one.elsewhere))
    if cache is not None:
        cache.save({_places_key(home): msgspec.msgpack.encode(places)})
    return places


def _places_key(home: Path) -> str:
    return blake3(f"places\n{code_stamp()}\n{home}".encode("utf-8", "surrogatepass")).hexdigest(length=16)
