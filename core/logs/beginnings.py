"""How logs begin: which session each tells of, and which repeats what another told."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from core.events import Event, SessionStart
from core.logs.diagnostics import Diagnostics
from core.logs.glimpse import told_id
from core.logs.lines import LONG_HEAD, LineCutter, head
from core.logs.reader import Kit, Reader
from core.logs.records import Log, feed, line_record, stem
from core.logs.session import LogSession, identity
from core.settings.logs import LineSettings

_PIECE = 4096
_DEEDS = 16
"""Deeds at the beginning of a log that are looked at to tell a copy from a twin."""


class Beginning(NamedTuple):
    """What the head of a log tells of its session."""

    session: str
    tool: str
    first: Hashable
    """The identity of its first deed, where times are real; logs that were copied share it."""


class Beginnings:
    """Reads how logs begin, each once."""

    def __init__(self, kit: Kit, lines: LineSettings) -> None:
        self._silent = kit.counting(Diagnostics())
        self._lines = lines
        self._known: dict[Path, Beginning] = {}

    def of(self, log: Log) -> Beginning:
        """How a log begins."""
        known = self._known.get(log.path)
        if known is None:
            known = self._known[log.path] = self._begin(log)
        return known

    def mark_copies(self, found: list[LogSession]) -> list[LogSession]:
        """Where sessions begin with the same deeds, each but the oldest repeats those before it."""
        families: dict[object, list[LogSession]] = {}
        for session in found:
            first = self.of(session.logs[0]).first
            if first is not None and session.logs[0].whole:
                families.setdefault((session.tool, first), []).append(session)
        copies: dict[Path, tuple[Log, ...]] = {}
        repeated: set[Path] = set()
        for family in families.values():
            if len(family) == 1:
                continue
            family.sort(key=_age)
            further = [self._further(session.logs[0]) for session in family]
            for place, session in enumerate(family):
                older = [
                    one
                    for one, deeds in zip(family[:place], further, strict=False)
                    if not (deeds and further[place] and deeds.isdisjoint(further[place]))
                ]
                copies[session.path] = tuple(one.logs[0] for one in older)
                repeated.update(one.path for one in older)
        return [
            session._replace(copied=copies.get(session.path, ()), repeated=session.path in repeated)
            for session in found
        ]

    def _begin(self, log: Log) -> Beginning:
        plain = Beginning(stem(log.path), log.format.name, None)
        if log.format.style == "document":
            return plain._replace(session=_document_id(log) or plain.session)
        if log.format.style != "lines":
            return plain
        start: SessionStart | None = None
        for event in self._events(log):
            if isinstance(event, SessionStart):
                start = start or event
            elif start is not None:
                first = None if start.synthetic_time else identity(event)
                return Beginning(start.session, start.tool, first)
        return Beginning(start.session, start.tool, None) if start else plain

    def _further(self, log: Log) -> frozenset[Hashable]:
        """The deeds that follow the first: two sessions may be asked for the same at the same moment."""
        deeds = (event for event in self._events(log) if not isinstance(event, SessionStart))
        return frozenset(map(identity, islice(deeds, 1, _DEEDS)))

    def _events(self, log: Log) -> Iterator[Event]:
        """The events that the head of a log tells."""
        try:
            size = self._lines.head
            beginning = head(log.path, size)
            while b"\n" not in beginning and len(beginning) == size < LONG_HEAD:
                size *= 16
                beginning = head(log.path, size)
        except OSError:
            return
        reader: Reader = log.format.reader(self._silent, agent=log.agent, session=stem(log.path))
        cutter = LineCutter(_ignore)
        for place in range(0, len(beginning), _PIECE):
            for line in cutter.feed(beginning[place : place + _PIECE]):
                yield from feed(reader, line_record(str(log.path), line))


def _document_id(log: Log) -> str:
    try:
        return told_id(log.path, log.format.id_key) if log.format.id_key else ""
    except OSError:
        return ""


def _ignore(_number: int, _reason: str) -> None:
    """A fault in a head that is read again later."""


def _age(session: LogSession) -> tuple[int, str]:
    try:
        return session.path.stat().st_mtime_ns, str(session.path)
    except OSError:
        return 0, str(session.path)
