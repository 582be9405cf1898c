"""A session on disk, as a list of sessions shows it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import msgspec

from core.logs.event_redaction import cleaned
from core.logs.titles import shown


class Found(msgspec.Struct, frozen=True):
    """One session on disk."""

    agent: str
    session: str
    project: str
    """The folder the agent works in; blank where the log's beginning does not tell."""
    path: Path
    """The main log."""
    paths: tuple[Path, ...]
    """The main log and those of sub-agents."""
    modified: float
    size: int
    """Bytes of all its logs."""
    events: int
    """About how many; guessed from its size and a sample."""
    active: bool
    title: str = ""
    """What the session is about: the title its log keeps, else the first prompt; safe to show."""
    told: float | None = None
    """The last time the log itself tells."""

    @property
    def last(self) -> float:
        """When something last happened, by the log's own clock; its change on disk where it tells no time."""
        return self.modified if self.told is None else self.told


class Listed(NamedTuple):
    """One session of a database, as its own rows tell of it."""

    session: str
    project: str
    title: str
    last: float | None
    """When something last happened in it."""
    events: int
    """About how many, from the number of its rows."""


def listed_session(agent: str, path: Path, one: Listed, size: int, now: float, active_within: float) -> Found:
    """A session of a database that takes up so many bytes of it."""
    last = one.last or 0.0
    return Found(
        agent=agent,
        session=one.session,
        project=cleaned(one.project),
        path=path,
        paths=(path,),
        modified=last,
        told=last,
        size=size,
        events=one.events,
        active=now - last <= active_within,
        title=shown(one.title),
    )


def extent(folder: Path) -> tuple[int, float, int]:
    """Size, last change and number of a folder's files."""
    size, number, modified = 0, 0, folder.stat().st_mtime
    for entry in os.scandir(folder):
        status = entry.stat()
        size += status.st_size
        number += 1
        modified = max(modified, status.st_mtime)
    return size, modified, number
