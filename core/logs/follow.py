"""Follows a session while its agent still writes it."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from itertools import chain, islice
from math import inf
from operator import attrgetter
from pathlib import Path

from core.events import Event, ToolUse
from core.logs.diagnostics import Diagnostics
from core.logs.finder import Finder
from core.logs.lines import is_packed, take
from core.logs.log_files import is_file, is_folder, open_log
from core.logs.reader import Kit
from core.logs.records import Log, Record, database_rows, document, members, reason, records, stem
from core.logs.rows_read import RowsRead
from core.logs.session import LogSession, Row, as_of, merge, row_place, rows
from core.logs.tail import LineTail, Passed, Tail
from core.settings.logs import FollowSettings, IngestSettings, LineSettings

_END = 65_536
"""Bytes in which the end of a document is looked for."""
_time = attrgetter("at")
PATIENCE = 5.0
"""Seconds for which a document that is being written may stand without its end."""
_WRITTEN = 30.0
"""Seconds without a change after which nobody is taken to be writing a document any more."""


def tail(log: Log, kit: Kit, lines: LineSettings, session: str, passed: Passed | None = None) -> Tail:
    """The way to follow this log."""
    kind: type[Tail] = RereadTail
    if log.format.style == "folder":
        kind = FolderTail
    elif log.format.style == "database":
        kind = DatabaseTail
    elif log.format.style == "lines" and not is_packed(log.path):
        kind = LineTail
    return kind(log, kit, lines, session, passed)


class WaitingTail(Tail):
    """A log that tells of a call again once it is over: until then the call is only shown."""

    def __init__(
        self, log: Log, kit: Kit, lines: LineSettings, session: str, passed: Passed | None = None
    ) -> None:
        super().__init__(log, kit, lines, session, passed)
        self._waiting: dict[str, ToolUse] = {}

    def finish(self) -> list[Event]:
        """The calls that never got over, and what the end completes."""
        return [event for event in self._waiting.values() if self.passed.new(event)] + super().finish()

    def pending_events(self) -> list[Event]:
        """The calls that are not over, and what the end would complete."""
        more = [
            event for event in super().pending_events() if getattr(event, "id", None) not in self._waiting
        ]
        return [*self._waiting.values(), *more]

    def _settled(self, record: Record) -> Iterator[Event]:
        for event in self._news(record):
            if isinstance(event, ToolUse):
                self._waiting.pop(event.id, None)
                if event.outcome == "pending":
                    self._waiting[event.id] = event
                    self.passed.forget(event)
                    continue
            yield event


class RereadTail(WaitingTail):
    """A document or a packed file: read whole whenever it changed."""

    def __init__(
        self, log: Log, kit: Kit, lines: LineSettings, session: str, passed: Passed | None = None
    ) -> None:
        super().__init__(log, kit, lines, session, passed)
        self._seen: tuple[int, int, int] | None = None
        self._half: tuple[tuple[int, int, int], float] | None = None
        """The version that lacks its end, and when it was first seen."""
        self._faults: dict[str, int] = {}

    def fresh(self) -> Iterator[Event]:
        """What the new version tells and no older one did."""
        status = self._status()
        if status is None:
            return
        stands = (status.st_ino, status.st_size, status.st_mtime_ns)
        if stands == self._seen or (self.log.format.style == "document" and self._is_written(status, stands)):
            return
        self._seen = stands
        kit = self._kit.counting(Diagnostics())
        self._again(kit)
        self._waiting.clear()
        for record in records(self.log, kit.diagnostics, self._lines):
            yield from self._settled(record)
        self._count(kit.diagnostics)
        if self._half is not None and self._half[0] == stands:
            self._fail(_lacking(status))
        elif kit.diagnostics.total and self.passed.lost:
            self._fail(kit.diagnostics.first[0].reason)
        else:
            self._mend()

    def _is_written(self, status: os.stat_result, stands: tuple[int, int, int]) -> bool:
        """Whether a document without its end is being written; one that stays cut off is read as it is."""
        try:
            if _whole(self.log.path):
                return False
        except OSError as fault:
            self._seen = None
            self._fail(reason(fault))
            return True
        if self._half is None or self._half[0] != stands:
            self._half = stands, time.monotonic()
        elif time.monotonic() - self._half[1] >= PATIENCE:
            self._seen = None
            self._fail(_lacking(status))
        return time.time() - status.st_mtime < _WRITTEN

    def _count(self, found: Diagnostics) -> None:
        """Count only the faults that an earlier reading did not meet."""
        for fault in found.first:
            met = self._faults.get(fault.reason, 0)
            if met < found.counts[fault.reason]:
                self._faults[fault.reason] = met + 1
                self._kit.diagnostics.note(fault.file, fault.line, fault.reason)


class FolderTail(WaitingTail):
    """A folder of files: new ones are read as they come, and all again when an old one changed."""

    def __init__(
        self, log: Log, kit: Kit, lines: LineSettings, session: str, passed: Passed | None = None
    ) -> None:
        super().__init__(log, kit, lines, session, passed)
        self._fed: list[tuple[Path, int, int]] = []

    def fresh(self) -> Iterator[Event]:
        """What new files tell."""
        if self._status() is None:
            return
        try:
            files = [
                (path, (status := path.stat()).st_size, status.st_mtime_ns) for path in members(self.log)
            ]
        except FileNotFoundError:
            return
        except OSError as fault:
            self._fail(reason(fault))
            return
        self._mend()
        if files[: len(self._fed)] != self._fed:
            self._fed = []
            self._waiting.clear()
            self._again(self._kit)
        for number, file in enumerate(files[len(self._fed) :], len(self._fed) + 1):
            try:
                record = document(file[0], number)
            except FileNotFoundError:
                return
            except OSError as fault:
                self._kit.diagnostics.note(str(file[0]), 0, reason(fault))
                self._fed.append(file)
                continue
            if number == len(files) and not _closes(record.data):
                return
            self._fed.append(file)
            self._in_flight = None
            yield from self._settled(record)


class DatabaseTail(Tail):
    """A database whose rows change in place: a look reads what came and what may have changed."""

    def __init__(
        self, log: Log, kit: Kit, lines: LineSettings, session: str, passed: Passed | None = None
    ) -> None:
        super().__init__(log, kit, lines, session, passed)
        self._seen: list[tuple[int, int]] = []
        self._read = RowsRead()

    def fresh(self) -> Iterator[Event]:
        """What changed rows tell."""
        if self._status() is None:
            return
        stands = [_stands(self.log.path), _stands(self.log.path.with_name(self.log.path.name + "-wal"))]
        if stands == self._seen:
            return
        read = deepcopy(self._read)
        try:
            for record in database_rows(self.log, read):
                self._in_flight = None
                yield from self._news(record)
        except OSError as fault:
            self._seen = []
            self._fail(reason(fault))
            return
        self._seen, self._read = stands, read
        self._mend()


def _lacking(status: os.stat_result) -> str:
    """What is wrong with a document that lacks its end."""
    return "ends in the middle" if status.st_size else "is empty"


def _stands(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_size, status.st_mtime_ns


def _whole(path: Path) -> bool:
    """Whether a document ends as one does, and not in the middle of being written; raises only `OSError`."""
    with open_log(path) as stream:
        stream.seek(0, os.SEEK_END)
        stream.seek(max(0, stream.tell() - _END))
        return _closes(take(stream))


def _closes(data: bytes) -> bool:
    return data.rstrip(b"\0 \t\r\n").endswith((b"}", b"]"))


BATCH = 10_000
"""Events handed over at once at most, so that catching up with a long log stays in bounded memory."""
STRIDE = 64
"""Events between two places to which a reader of events may want to go back at least."""
_SLACK = 4 * STRIDE
RECENT = 4096 + _SLACK
"""Events remembered to give one that comes late its place: half as many may lie between, as a reader may go
back twice as far. An event that comes later still is put before those."""
_ALONE = 512
"""Events remembered while a session has one log."""
_STEP = 0.01
"""Seconds without another path after which what was announced is handed on."""
_GLANCE = 0.1
"""Seconds within which a wish to stop is seen."""
_SELDOM = 0.5
"""The same where nobody waits for the end."""


class Follower:
    """One session, its sub-agents' logs as they appear, and every event of them exactly once.

    A path that is not there yet, or is still empty, is waited for. Nothing is ever opened for writing.

    Logs of one session are written side by side, so an event may come to light after others that belong
    behind it. With `rewind`, the order is that of a saved session whenever one looks: `rewind(place)` is told
    how many of the events handed on stay, returns how many it wants to keep, and the next batch begins there.
    Without it, events are handed on as they come to light.
    """

    def __init__(
        self,
        target: LogSession | Path,
        kit: Kit,
        settings: IngestSettings | None = None,
        rewind: Callable[[int], int] | None = None,
    ) -> None:
        self.kit = kit
        self.settings = settings or IngestSettings()
        self.session = target if isinstance(target, LogSession) else None
        self.path = target.path if isinstance(target, LogSession) else target
        self._finder = Finder(kit, self.settings.lines)
        self._tails: dict[Path, Tail] = {}
        self._stream: Iterator[Row] | None = None
        self._rewind = rewind
        self._recent: list[Row] = []
        """The last events handed on; none where nobody goes back."""
        self._before = 0
        """Events handed on before those."""
        self._floor: tuple[float, str] = -inf, ""
        """The place of the last of them."""
        self._latest = 0.0
        self.retaken: frozenset[int] = frozenset()
        """Which events of the last batch were handed on before, by their `id`."""
        self._notices: list[str] = []
        self._told: set[str] = set()
        self._stood: list[tuple[str, int, int]] = []
        if self.session is not None:
            self._open(self.session)

    @property
    def behind(self) -> bool:
        """Whether the last poll left something for the next one."""
        return self._stream is not None

    def poll(self, most: int = BATCH) -> list[Event]:
        """The events that came since the last poll, in order; at most so many of them."""
        if self._stream is None:
            self._look()
            if not self._tails:
                return []
            self._stream = merge([_reaching(one, one.fresh()) for one in self._tails.values()])
        fresh = list(islice(self._stream, most))
        if len(fresh) < most:
            self._stream = None
        return self._in_order(fresh)

    def _in_order(self, fresh: list[Row]) -> list[Event]:
        """The events of these rows, and before them again those handed on that belong behind the first."""
        self.retaken = frozenset()
        self._latest = max([self._latest, *(row[2].at for row in fresh)])
        if self._rewind is None or not fresh or not self.may_have_companions:
            return [row[2] for row in fresh]
        recent = self._recent
        if recent and row_place(fresh[0]) < row_place(recent[-1]):
            first = 0 if not self._before else (len(recent) + _SLACK) // 2
            place = self._before + max(first, bisect_right(recent, row_place(fresh[0]), key=row_place))
            start = self._rewind(place) - self._before
            again, self._recent = recent[start:], recent[:start]
            self.retaken = frozenset(id(row[2]) for row in again)
            floor = row_place(recent[place - self._before - 1]) if place > self._before else self._floor
            fresh = sorted([*again, *((*max(row_place(row), floor), row[2]) for row in fresh)], key=row_place)
        self._recent += fresh
        spare = len(self._recent) - (RECENT if len(self._tails) > 1 else _ALONE)
        if spare > _ALONE:
            self._floor = row_place(self._recent[spare - 1])
            self._before += spare
            del self._recent[:spare]
        return [row[2] for row in fresh]

    @property
    def may_have_companions(self) -> bool:
        """Whether another log may come to this session's."""
        return self.session is not None and self.session.logs[0].format.companions is not None

    def drain(self) -> Iterator[list[Event]]:
        """All that is there now, in batches."""
        while True:
            events = self.poll()
            if events:
                yield events
            if not self.behind:
                return

    def finish(self) -> list[Event]:
        """What only the end of the logs completes: an unended last line, calls without a result."""
        helpers = [one for one in self._tails.values() if one.helper]
        agents = [one for one in self._tails.values() if not one.helper]
        events = self._in_order(list(merge([_reaching(one, one.finish()) for one in agents])))
        return [*events, *as_of(self._latest, chain(*(one.finish() for one in helpers)))]

    def pending_events(self) -> list[Event]:
        """What the logs have begun and not ended; reading on is not touched by it."""
        return sorted(chain(*(one.pending_events() for one in self._tails.values())), key=_time)

    def in_flight(self) -> list[ToolUse]:
        """Calls begun but not answered yet, oldest first; for showing only."""
        waiting = [call for one in self._tails.values() for call in one.in_flight()]
        return sorted(waiting, key=_time)

    def extent(self) -> tuple[int, int | None]:
        """Bytes handed on so far, and bytes written but not handed on; None where that cannot be told."""
        read, unread = 0, 0
        for path, one in self._tails.items():
            if one.place is None:
                return read, None
            read += one.place - one.log.start
            with contextlib.suppress(OSError):
                end = path.stat().st_size if one.log.end is None else one.log.end
                unread += max(0, end - one.place)
        return read, unread

    def notices(self) -> list[str]:
        """What happened to the logs since last asked: gone, back, cut short, replaced."""
        said = self._notices
        self._notices = []
        for one in self._tails.values():
            said += one.notices
            one.notices = []
        return said

    def tell(self, sentence: str) -> None:
        """Add something that happened to the watching itself to the notices, once."""
        if sentence not in self._told:
            self._told.add(sentence)
            self._notices.append(sentence)

    def files(self) -> list[Path]:
        """The logs that are followed now."""
        return list(self._tails) or [self.path]

    def folders(self) -> list[Path]:
        """The folders in which something may happen, as far as they exist."""
        wanted: dict[Path, None] = {}
        for path in (self.path, *self._tails):
            folder = path if is_folder(path) else path.parent
            while not is_folder(folder) and folder != folder.parent:
                folder = folder.parent
            wanted[folder] = None
        for name in dict.fromkeys((stem(self.path), self.session.id if self.session else "")):
            if name and "/" not in name and name not in (".", ".."):
                wanted.update((Path(top), None) for top, _, _ in os.walk(self.path.parent / name))
        return list(wanted)

    def _look(self) -> None:
        """Find a session that was waited for, new companions, and a log that was packed meanwhile."""
        if self.session is None:
            log = self._finder.log(self.path)
            if log is None:
                return
            self.session = self._finder.session(log)
            self._open(self.session)
        stands = [_folder_state(folder) for folder in self.folders()]
        if stands != self._stood:
            companions = self._finder.companions(self.session.logs[0])
            for companion in (*companions.logs, *companions.helpers):
                if companion.path not in self._tails:
                    self._add(companion, helper=companion in companions.helpers)
            self._stood = stands if companions.complete else []
        for path, one in list(self._tails.items()):
            if one.gone:
                self._follow_packed(path, one)

    def _open(self, session: LogSession) -> None:
        for log in (*session.logs, *session.helpers):
            self._add(log, helper=log in session.helpers)

    def _add(self, log: Log, *, helper: bool) -> None:
        session = self.session.id if self.session else ""
        self._tails[log.path] = tail(log, self.kit, self.settings.lines, session)
        self._tails[log.path].helper = helper

    def _follow_packed(self, path: Path, gone: Tail) -> None:
        packed = path.with_name(path.name + ".zst")
        if gone.log.format.style != "lines" or not is_file(packed):
            return
        self._notices += [*gone.notices, f"{path.name}: packed; reading {packed.name}"]
        log = gone.log._replace(path=packed)
        session = self.session.id if self.session else ""
        followed = tail(log, self.kit, self.settings.lines, session, gone.passed)
        followed.helper, followed.reached = gone.helper, gone.reached
        self._tails = {
            (packed if known == path else known): (followed if known == path else one)
            for known, one in self._tails.items()
        }


def _reaching(one: Tail, events: Iterable[Event]) -> Iterator[Row]:
    """The events of a log with their places, counted on from those of earlier looks."""
    for row in rows(one.log, events, one.reached):
        one.reached = row[0]
        yield row


def watch(follower: Follower, stop: threading.Event) -> Iterator[list[Event]]:
    """Batches of events as they come, until told to stop; blocks in between, so run it in a thread.

    File events wake it; where the file system gives none it looks again after the settings' `poll` seconds.
    """
    settings = follower.settings.follow
    yield from follower.drain()
    while not stop.is_set():
        folders = follower.folders()
        for _ in changes(folders, stop, settings, recursive=False, tell=follower.tell):
            yield from follower.drain()
            if follower.folders() != folders:
                break


def changes(
    folders: list[Path],
    stop: threading.Event,
    settings: FollowSettings,
    *,
    recursive: bool,
    tell: Callable[[str], None] | None = None,
    unhurried: bool = False,
) -> Iterator[set[Path]]:
    """Paths that changed, or an empty set whenever the waiting time is over.

    An `unhurried` caller lets it take a while until a wish to stop is seen.

    Where the system gives no file events, because its limits are reached or otherwise, `tell` gets a sentence
    and every call waits once, so that the caller looks by itself.
    """
    if not folders:
        stop.wait(settings.poll)
        yield set()
        return
    try:
        if _kernel_announces():
            yield from _from_kernel(folders, stop, settings, recursive, unhurried)
            return
        try:
            yield from _announced(folders, stop, settings, recursive, lenient=False)
        except PermissionError:
            yield from _announced(folders, stop, settings, recursive, lenient=True)
    except (OSError, RuntimeError) as fault:
        if tell is not None:
            tell(f"no file events ({_limit(fault)}); looking every {settings.poll:g} s instead")
        stop.wait(settings.poll)
        yield set()


def _kernel_announces() -> bool:
    """Whether the kernel can be asked itself: on Linux, but not where that runs inside Windows."""
    return sys.platform == "linux" and "microsoft" not in os.uname().release.lower()


def _from_kernel(
    folders: list[Path], stop: threading.Event, settings: FollowSettings, recursive: bool, unhurried: bool
) -> Iterator[set[Path]]:
    """Changes as the kernel announces them; ends where some were lost, so that one begins anew."""
    from core.logs.inotify import Inotify

    step = min(_STEP, settings.debounce / 2)
    glance = _SELDOM if unhurried else _GLANCE
    with Inotify(folders, recursive=recursive) as kernel:
        while not (stop.is_set() or kernel.lost):
            until = time.monotonic() + settings.poll
            while not kernel.wait(min(glance, max(0.0, until - time.monotonic()))):
                if stop.is_set():
                    return
                if time.monotonic() >= until:
                    break
            found = kernel.take()
            until = time.monotonic() + settings.debounce
            while found and time.monotonic() < until:
                stop.wait(step)
                more = kernel.take()
                if more <= found:
                    break
                found |= more
            yield found


def _announced(
    folders: list[Path], stop: threading.Event, settings: FollowSettings, recursive: bool, lenient: bool
) -> Iterator[set[Path]]:
    """Changes as the system announces them; lenient, it passes over every folder it cannot watch, and why."""
    import watchfiles

    for found in watchfiles.watch(
        *folders,
        watch_filter=None,
        debounce=max(1, round(settings.debounce * 1000)),
        step=max(1, min(10, round(settings.debounce * 500))),
        stop_event=stop,
        rust_timeout=max(1, round(settings.poll * 1000)),
        yield_on_timeout=True,
        raise_interrupt=False,
        recursive=recursive,
        ignore_permission_denied=lenient,
    ):
        yield {Path(path) for _, path in found}


def _limit(fault: Exception) -> str:
    """Why there are no file events, and what would help where a limit is reached."""
    words = str(fault)
    if "watch limit" in words or (isinstance(fault, OSError) and fault.errno == errno.ENOSPC):
        return "the limit fs.inotify.max_user_watches is reached"
    if "Too many open files" in words:
        return "the limit fs.inotify.max_user_instances, or that of open files, is reached"
    return words.partition("\n")[0][:80]


def _folder_state(folder: Path) -> tuple[str, int, int]:
    """What changes when a file comes or goes in a folder."""
    try:
        return str(folder), folder.stat().st_mtime_ns, len(os.listdir(folder))  # noqa: PTH208 no paths needed
    except OSError:
        return str(folder), 0, 0
