"""From paths to sessions: what is a log, which logs belong together, which repeat another."""

from __future__ import annotations

import glob
import os
import stat
from codecs import getincrementaldecoder
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from core.errors import UnreadableLog
from core.events import MAIN, Event, SessionStart
from core.logs import records
from core.logs.format import Diagnostics, Format, Kit, Reader, Sample, recognise
from core.logs.glimpse import id_in_document
from core.logs.lines import LONG_HEAD, OBJECT, LineCutter, decoded, head
from core.logs.log_files import NOT_REGULAR, absolute_path, expand_home, is_folder, is_there, walk
from core.logs.records import Log, Record
from core.logs.session import LogSession, identity, is_settled, log_events
from core.settings.program import LineSettings

_PIECE = 4096
_FAMILY = 64  # Sessions with one beginning of which each names all older ones as what it may repeat.
_DEEDS = 16  # Actions at the beginning of a log that are compared to tell a copy from a twin.


class Beginning(NamedTuple):
    """The session as described by the head of a log."""

    session: str
    tool: str
    first: Hashable  # The identity of its first deed, where times are real; logs that were copied share it.


class Beginnings:
    """Reads how logs begin, each once."""

    def __init__(self, kit: Kit, lines: LineSettings) -> None:
        self._silent = kit.counting(Diagnostics())
        self._lines = lines
        self._known: dict[Path, Beginning] = {}

    def of(self, log: Log) -> Beginning:
        """Return how a log begins."""
        beginning = self._known.get(log.path)
        if beginning is None:
            beginning = self._known[log.path] = self._begin(log)
        return beginning

    def mark_copies(self, sessions: list[LogSession]) -> list[LogSession]:
        """Mark sessions that begin with the same actions: each repeats the older ones."""
        families: dict[object, list[LogSession]] = {}
        for session in sessions:
            first = self.of(session.logs[0]).first
            if first is not None and session.logs[0].whole:
                families.setdefault((session.tool, first), []).append(session)
        copies: dict[Path, tuple[Log, ...]] = {}
        repeated: set[Path] = set()
        for family in families.values():
            if len(family) == 1:
                continue
            family.sort(key=_session_age)
            further = [self._further(session.logs[0]) for session in family]
            older = self._owners(family) if len(family) > _FAMILY else map(range, range(len(family)))
            for place, (session, places) in enumerate(zip(family, older, strict=True)):
                own = further[place]
                copied = [family[one] for one in places if not (own and further[one]) or own & further[one]]
                copies[session.path] = tuple(one.logs[0] for one in copied)
                repeated.update(one.path for one in copied)
        return [
            session._replace(copied=copies.get(session.path, ()), repeated=session.path in repeated)
            for session in sessions
        ]

    def _owners(self, family: list[LogSession]) -> Iterator[list[int]]:
        """Yield, for each session of a large family, the places of the sessions whose events it repeats.

        Naming all older ones would take quadratic time.
        """
        first: dict[int, int] = {}
        for place, session in enumerate(family):
            events = log_events(session.logs[0], self._silent, self._lines, session.id)
            deeds = (hash(identity(event)) for event in events if is_settled(event))
            yield sorted({first.setdefault(deed, place) for deed in deeds} - {place})

    def _begin(self, log: Log) -> Beginning:
        plain = Beginning(records.stem(log.path), log.format.name, None)
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
        """Return the actions after the first: two sessions may get the same prompt at the same moment."""
        deeds = (event for event in self._events(log) if not isinstance(event, SessionStart))
        return frozenset(map(identity, islice(deeds, 1, _DEEDS)))

    def _events(self, log: Log) -> Iterator[Event]:
        """Yield the events in the head of a log."""
        try:
            size = self._lines.head
            beginning = head(log.path, size)
            while b"\n" not in beginning and len(beginning) == size < LONG_HEAD:
                size *= 16
                beginning = head(log.path, size)
        except OSError:
            return
        reader: Reader = log.format.reader(self._silent, agent=log.agent, session=records.stem(log.path))
        cutter = LineCutter(_ignore)
        for place in range(0, len(beginning), _PIECE):
            for line in cutter.feed(beginning[place : place + _PIECE]):
                yield from records.feed(reader, records.line_record(str(log.path), line))


def _document_id(log: Log) -> str:
    try:
        return id_in_document(log.path, log.format.id_key) if log.format.id_key else ""
    except OSError:
        return ""


def _ignore(_number: int, _reason: str) -> None:
    """A fault in a head that is read again later."""


def _session_age(session: LogSession) -> tuple[int, str]:
    try:
        return session.path.stat().st_mtime_ns, str(session.path)
    except OSError:
        return 0, str(session.path)


class Runs:
    """Finds the sessions in a log, and remembers them until it changes."""

    def __init__(self, kit: Kit, lines: LineSettings) -> None:
        self._kit = kit
        self._silent = kit.counting(Diagnostics())
        self._lines = lines
        self._known: dict[Path, tuple[tuple[int, int, int], list[LogSession]]] = {}

    def of(self, log: Log) -> list[LogSession]:
        """Return the sessions of a log that contains several, each with its own stretch; else none."""
        if not getattr(log.format.reader, "many", False):
            return []
        try:
            status = log.path.stat()
        except OSError:
            return []
        version = (status.st_ino, status.st_size, status.st_mtime_ns)
        cached = self._known.get(log.path)
        if cached is None or cached[0] != version or log.format.style == "folder":
            cached = (version, self._split(log))
            self._known[log.path] = cached
        return cached[1]

    def _starts(self, log: Log) -> tuple[list[tuple[SessionStart, Record]], set[int]]:
        """The starts in a log, and after which of them something happened."""
        reader = log.format.reader(self._silent, session=records.stem(log.path))
        starts: list[tuple[SessionStart, Record]] = []
        busy: set[int] = set()
        for record in self._openings(log):
            for event in records.feed(reader, record):
                if not isinstance(event, SessionStart):
                    busy.add(len(starts) - 1)
                elif event.agent == MAIN:
                    starts.append((event, record))
        if not getattr(reader, "idle_starts", False):
            return starts, set(range(len(starts)))
        if records.finish(reader, log.path):
            busy.add(len(starts) - 1)
        return starts, busy

    def _split(self, log: Log) -> list[LogSession]:
        starts, busy = self._starts(log)
        database = log.format.style == "database"
        if not starts or (len(starts) < 2 and not database):
            return []
        ids = [start.session for start, _ in starts]
        if getattr(log.format.reader, "interleaved", False) and len(set(ids)) < len(ids):
            return _interleaved(log, [start for start, _ in starts])
        apart = log.format.style == "lines" and len({record.line for _, record in starts}) == len(starts)
        ends = [*(record.where.offset for _, record in starts[1:]), None]
        runs = []
        names = _own_names(ids)
        for number, ((start, record), end) in enumerate(zip(starts, ends, strict=True)):
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
        """Yield what must be read to know a log's sessions: of a database only their rows."""
        if log.format.style != "database":
            yield from records.records(log, self._silent.diagnostics, self._lines)
            return
        try:
            yield from records.database_rows(log, heads=True)
        except OSError as fault:
            self._kit.diagnostics.note(str(log.path), 0, records.reason(fault))


def _own_names(ids: list[str]) -> list[str]:
    """Return the ids, each repeated one with a number."""
    names: dict[str, None] = {}
    last: dict[str, int] = {}
    for name in ids:
        number = last.get(name, 0) + 1
        while (own := name if number == 1 else f"{name}-{number}") in names:
            number += 1
        last[name] = number
        names[own] = None
    return list(names)


def _interleaved(log: Log, starts: list[SessionStart]) -> list[LogSession]:
    """Return sessions whose lines are mixed in one log, each with its own lines."""
    first: dict[str, SessionStart] = {}
    for start in starts:
        first.setdefault(start.session, start)
    return [LogSession(name, start.tool, (log._replace(session=name),)) for name, start in first.items()]


_UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # Marks that a text begins with which an older Windows shell wrote to a file.
_SQLITE = b"SQLite format 3\0"
_UNKNOWN = "no log of a known format"


def sessions(paths: Iterable[Path | str], kit: Kit, lines: LineSettings | None = None) -> list[LogSession]:
    """Return the sessions in files, folders and patterns, in order of path.

    A path without a readable log is counted; `UnreadableLog` explains if none has any.
    """
    return Finder(kit, lines).sessions(paths)


class _Known(NamedTuple):
    inode: int
    size: int
    format: Format | None
    trouble: str


class Companions(NamedTuple):
    """The logs of a session's sub-agents."""

    logs: list[Log]
    complete: bool  # Whether all of them have content yet.
    helpers: tuple[Log, ...] = ()  # Logs of forks that the agent's program makes for itself.


class Finder:
    """Finds sessions, and remembers what each file was recognised as."""

    def __init__(self, kit: Kit, lines: LineSettings | None = None) -> None:
        self._kit = kit
        self._lines = lines or LineSettings()
        self._known: dict[Path, _Known] = {}
        self._beginnings = Beginnings(kit, self._lines)
        self._runs = Runs(kit, self._lines)

    def sessions(self, paths: Iterable[Path | str]) -> list[LogSession]:
        """The sessions in files, folders and patterns, in order of path."""
        logs_by_key: dict[Path, Log] = {}
        troubles: list[tuple[str, str]] = []
        for path in paths:
            logs, trouble = self._logs(path)
            for log in logs:
                logs_by_key.setdefault(_key(log), log)
            if not logs:
                troubles.append((str(path), trouble))
        if not logs_by_key:
            raise UnreadableLog("; ".join(f"{path}: {trouble}" for path, trouble in troubles) or "no path given")
        for path, trouble in troubles:
            self._kit.diagnostics.note(path, 0, trouble)
        return self._gather(list(logs_by_key.values()))

    def format(self, path: Path) -> tuple[Format | None, str]:
        """Return the format of a file, or why it is not a log."""
        try:
            status = path.stat()
            entry = self._known.get(path)
            if entry and entry.inode == status.st_ino and (entry.format or entry.size == status.st_size):
                return entry.format, entry.trouble
            kind, trouble = self._recognise(path, status)
        except OSError as fault:
            return None, records.reason(fault)
        self._known[path] = _Known(status.st_ino, status.st_size, kind, trouble)
        return kind, trouble

    def lasting_trouble(self, path: Path) -> str:
        """Why a file will not become a log by growing; blank if it may."""
        trouble = self.format(path)[1]
        if trouble == _UNKNOWN:
            with suppress(OSError):
                text = _text(head(path, self._lines.head))
                return "" if text.startswith((b"{", b"[")) or b"\n" not in text else trouble
        return "" if trouble in ("empty", "vanished") else trouble

    def log(self, path: Path) -> Log | None:
        """The log that a file, or a folder of event files, is."""
        if is_folder(path):
            inner = next((file for file in walk(path) if self._log(file)[0]), None)
            return self._log(inner)[0] if inner else None
        return self._log(path)[0]

    def session(self, log: Log) -> LogSession:
        """One session with the logs of its sub-agents."""
        beginning = self._beginnings.of(log)
        more = self.companions(log)
        return LogSession(beginning.session, beginning.tool, (log, *more.logs), helpers=more.helpers)

    def companions(self, log: Log) -> Companions:
        """Return the logs of a session's sub-agents that have content."""
        if log.format.companions is None or log.run is not None:
            return Companions([], True)
        try:
            companions = log.format.companions(log.path)
        except OSError as fault:
            self._kit.diagnostics.note(str(log.path), 0, records.reason(fault))
            return Companions([], False)
        logs = [
            (one.helper, Log(one.path, kind, one.agent)) for one in companions if (kind := self.format(one.path)[0])
        ]
        helpers = tuple(log for helper, log in logs if helper)
        return Companions([log for helper, log in logs if not helper], len(logs) == len(companions), helpers)

    def _logs(self, path: Path | str) -> tuple[list[Log], str]:
        """Return the logs of a path, and why there are none."""
        place = expand_home(path)
        if not is_there(place) and glob.has_magic(str(path)):
            matches = sorted(glob.glob(str(place), recursive=True))  # noqa: PTH207 it may be absolute
            return [log for match in matches for log in self._logs(match)[0]], "no log matches"
        if is_folder(place):
            logs = [log for file in walk(place, self._closed(place)) if (log := self._log_inside(file))]
            return logs, _no_logs(place)
        log, trouble = self._log(place)
        return [log] if log else [], "no such file" if trouble == "vanished" else trouble

    def _log_inside(self, path: Path) -> Log | None:
        """Return the log a file in a folder is; a likely log that cannot be opened is counted."""
        log, trouble = self._log(path)
        if trouble in (records.NO_PERMISSION, NOT_REGULAR):
            self._kit.diagnostics.note(str(path), 0, trouble)
        return log

    def _closed(self, place: Path) -> Callable[[OSError], None]:
        """Counts a folder below a place that cannot be listed."""

        def note(fault: OSError) -> None:
            if str(fault.filename) != str(place):
                self._kit.diagnostics.note(str(fault.filename), 0, records.reason(fault))

        return note

    def _log(self, path: Path) -> tuple[Log | None, str]:
        kind, trouble = self.format(path)
        if kind is None:
            return None, trouble
        return Log(path.parent if kind.style == "folder" else path, kind), ""

    def _recognise(self, path: Path, status: os.stat_result) -> tuple[Format | None, str]:
        if not stat.S_ISREG(status.st_mode):
            return None, NOT_REGULAR
        beginning = head(path, self._lines.head)
        text = _text(beginning)
        if beginning.startswith(_UTF_16):
            return None, "text in UTF-16; save it as UTF-8"
        if not text:
            return None, "empty"
        if not (text.startswith((b"{", b"[", _SQLITE)) or b"\n{" in text or self._opens(text)):
            return None, "a binary file" if _is_binary(text) else _UNKNOWN
        if text.startswith((b"{", b"[")) and _unfinished(text):
            text = _text(head(path, LONG_HEAD))
        kind = recognise(Sample(text, path), self._kit.agents)
        return kind, "" if kind else _UNKNOWN

    def _opens(self, text: bytes) -> bool:
        """Whether text that is not JSON begins like a log."""
        formats = (one for agent in self._kit.agents for one in agent.formats)
        return any(one.opening and text.startswith(one.opening) for one in formats)

    def _gather(self, logs: list[Log]) -> list[LogSession]:
        claimed: set[Path] = set()
        below: list[str] = []
        companions: dict[Path, Companions] = {}
        for log in logs:
            own = companions[log.path] = self.companions(log)
            claimed.update(absolute_path(one.path) for one in (*own.logs, *own.helpers) if one.path != log.path)
            if log.format.companions is not None:
                below.append(f"{log.path.parent / records.stem(log.path)}{os.sep}")
        owned = tuple(below)
        gathered = []
        for log in logs:
            is_packed_twin = log.path.suffix == ".zst" and log.path.with_suffix("") in companions
            if is_packed_twin or absolute_path(log.path) in claimed or str(log.path).startswith(owned):
                continue
            own = companions[log.path]
            alone = LogSession(*self._beginnings.of(log)[:2], (log, *own.logs), helpers=own.helpers)
            gathered += self._runs.of(log) or [alone]
        return self._beginnings.mark_copies(_without_received(gathered))


def _without_received(sessions: list[LogSession]) -> list[LogSession]:
    """Drop received sessions if the agent's own log of the same session is present."""
    logged = {(one.tool, one.id) for one in sessions if one.logs[0].format.name == one.tool}
    return [
        one
        for one in sessions
        if one.logs[0].format.name == one.tool or one.id == "" or (one.tool, one.id) not in logged
    ]


def _no_logs(folder: Path) -> str:
    """Why a folder gave no logs."""
    try:
        os.scandir(folder).close()
    except OSError as fault:
        return records.reason(fault)
    return "a folder without logs"


def _unfinished(text: bytes) -> bool:
    """Whether a head is one object that continues beyond it, and not one object per line."""
    line = text.partition(b"\n")[0]
    return decoded(line, OBJECT) is None and decoded(line, list[msgspec.Raw]) is None


def _key(log: Log) -> Path:
    try:
        return log.path.resolve()
    except (OSError, RuntimeError):
        return log.path


def _is_binary(text: bytes) -> bool:
    """Whether the beginning of a file is not text; its last letter may be cut."""
    try:
        return "\0" in getincrementaldecoder("utf-8")().decode(text)
    except UnicodeDecodeError:
        return True


def _text(beginning: bytes) -> bytes:
    """Return the beginning of a log without byte order mark and blanks."""
    return beginning.removeprefix(b"\xef\xbb\xbf").lstrip(b"\0 \t\r\n")
