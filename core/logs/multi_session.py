"""Logs that hold several sessions, taken apart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from core.events import MAIN, SessionStart
from core.logs.diagnostics import Diagnostics
from core.logs.reader import Kit
from core.logs.records import Log, Record, database_rows, feed, finish, reason, records, stem
from core.logs.session import LogSession
from core.settings.logs import LineSettings


class Runs:
    """Finds the sessions in a log, and remembers them until it changes."""

    def __init__(self, kit: Kit, lines: LineSettings) -> None:
        self._kit = kit
        self._silent = kit.counting(Diagnostics())
        self._lines = lines
        self._known: dict[Path, tuple[tuple[int, int, int], list[LogSession]]] = {}

    def of(self, log: Log) -> list[LogSession]:
        """The sessions of a log that holds several, each with its own stretch of it; else none."""
        if not getattr(log.format.reader, "many", False):
            return []
        try:
            status = log.path.stat()
        except OSError:
            return []
        stands = (status.st_ino, status.st_size, status.st_mtime_ns)
        known = self._known.get(log.path)
        if known is None or known[0] != stands or log.format.style == "folder":
            known = (stands, self._split(log))
            self._known[log.path] = known
        return known[1]

    def _starts(self, log: Log) -> tuple[list[tuple[SessionStart, Record]], set[int]]:
        """The starts in a log, and after which of them something happened."""
        reader = log.format.reader(self._silent, session=stem(log.path))
        begun: list[tuple[SessionStart, Record]] = []
        busy: set[int] = set()
        for record in self._openings(log):
            for event in feed(reader, record):
                if not isinstance(event, SessionStart):
                    busy.add(len(begun) - 1)
                elif event.agent == MAIN:
                    begun.append((event, record))
        if not getattr(reader, "idle_starts", False):
            return begun, set(range(len(begun)))
        if finish(reader, log.path):
            busy.add(len(begun) - 1)
        return begun, busy

    def _split(self, log: Log) -> list[LogSession]:
        begun, busy = self._starts(log)
        database = log.format.style == "database"
        if not begun or (len(begun) < 2 and not database):
            return []
        ids = [start.session for start, _ in begun]
        if getattr(log.format.reader, "interleaved", False) and len(set(ids)) < len(ids):
            return _interleaved(log, [start for start, _ in begun])
        apart = log.format.style == "lines" and len({record.line for _, record in begun}) == len(begun)
        ends = [*(record.where.offset for _, record in begun[1:]), None]
        runs = []
        names = _own_names(ids)
        for number, ((start, record), end) in enumerate(zip(begun, ends, strict=True)):
            if database:
                own = log._replace(session=start.session)
            elif apart and number == 0:
                own = log._replace(end=end)
            elif apart:
                own = log._replace(start=record.where.offset, line=record.line, end=end)
            else:
                own = log._replace(run=number)
            if number in busy:
                runs.append(LogSession(names[number], start.tool, (own,)))
        return runs

    def _openings(self, log: Log) -> Iterator[Record]:
        """What has to be read to know a log's sessions: of a database no more than their rows."""
        if log.format.style != "database":
            yield from records(log, self._silent.diagnostics, self._lines)
            return
        try:
            yield from database_rows(log, heads=True)
        except OSError as fault:
            self._kit.diagnostics.note(str(log.path), 0, reason(fault))


def _own_names(ids: list[str]) -> list[str]:
    """The same ids, each that comes again with a number behind it."""
    names: dict[str, None] = {}
    last: dict[str, int] = {}
    for name in ids:
        number = last.get(name, 0) + 1
        while (own := name if number == 1 else f"{name}-{number}") in names:
            number += 1
        last[name] = number
        names[own] = None
    return list(names)


def _interleaved(log: Log, begun: list[SessionStart]) -> list[LogSession]:
    """Sessions whose lines stand between each other's, each with its own lines."""
    first: dict[str, SessionStart] = {}
    for start in begun:
        first.setdefault(start.session, start)
    return [LogSession(name, start.tool, (log._replace(session=name),)) for name, start in first.items()]
