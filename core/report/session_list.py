"""Sessions as `nooscope sessions` lists them, and the list kept for as long as no log changes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from blake3 import blake3

from core.store.kept_answers import code_stamp
from core.store.reading_cache import ReadingCache, reading_cache_path

if TYPE_CHECKING:
    from core.logs.discovery import Found


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
