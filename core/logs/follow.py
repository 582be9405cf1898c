"""Follows a session while its agent still writes it, woken by changes of its files."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import select
import struct
import sys
import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from math import inf
from operator import attrgetter
from pathlib import Path
from typing import Self

from core.events import Event, ToolUse
from core.logs.finder import Finder
from core.logs.format import Kit
from core.logs.log_files import is_file, is_folder
from core.logs.records import Log, stem
from core.logs.session import LogSession, Row, as_of, merge, row_place
from core.logs.tail import Tail, open_tail
from core.settings.program import FollowSettings, IngestSettings

_MODIFY, _ATTRIB, _MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x2, 0x4, 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF = 0x400, 0x800
_OVERFLOW, _IGNORED, _FOLDER = 0x4000, 0x8000, 0x4000_0000
_WANTED = _MODIFY | _ATTRIB | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF
_HEAD = struct.Struct("iIII")
_ROOM = 65_536  # Bytes of announcements read at once.
_VANISHED = (errno.ENOENT, errno.ENOTDIR)


class Inotify:
    """Watches folders, on request with everything below; folders without permission are skipped.

    Raises `OSError` if a folder does not exist or a limit of the system is reached.
    """

    def __init__(self, folders: Iterable[Path], *, recursive: bool) -> None:
        self.lost = False  # The kernel dropped announcements, so anything may have changed.
        self._recursive = recursive
        # Every watch and the names its folder goes by, of which links give it more than one.
        self._folders: dict[int, list[str]] = {}
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._descriptor < 0:
            raise _fault("inotify")
        self._ready = select.poll()
        self._ready.register(self._descriptor, select.POLLIN)
        try:
            for folder in folders:
                self._watch(str(folder))
        except OSError:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Have nothing announced any more."""
        os.close(self._descriptor)

    def wait(self, seconds: float) -> bool:
        """Whether something was announced by then; returns as soon as it is."""
        return bool(self._ready.poll(1000 * seconds))

    def take(self) -> set[Path]:
        """Return the paths announced since the last call."""
        paths: set[Path] = set()
        try:
            while data := os.read(self._descriptor, _ROOM):
                for number, mask, name in _announcements(data):
                    paths.update(map(Path, self._paths(number, mask, name)))
        except BlockingIOError:
            return paths
        return paths

    def _paths(self, number: int, mask: int, name: str) -> list[str]:
        """Return the paths of an announcement; new and removed folders below are watched or dropped."""
        if mask & _OVERFLOW:
            self.lost = True
        if mask & _IGNORED:
            self._folders.pop(number, None)
        paths = [os.path.join(folder, name) if name else folder for folder in self._folders.get(number, ())]  # noqa: PTH118 plain text
        if self._recursive and mask & _FOLDER and mask & (_CREATE | _MOVED_TO | _MOVED_FROM):
            for path in paths:
                if mask & _MOVED_FROM:
                    self._leave(path)
                else:
                    self._watch(path, below=True)
        return paths

    def _watch(self, top: str, *, below: bool = False) -> None:
        """Watch a folder; a folder `below` another one may have gone again."""
        left: list[tuple[str, tuple[int, ...]]] = [(top, ())]
        while left:
            folder, above = left.pop()
            number = self._libc.inotify_add_watch(self._descriptor, os.fsencode(folder), _WANTED)
            if number < 0:
                fault = _fault(folder)
                if fault.errno == errno.EACCES or ((below or above) and fault.errno in _VANISHED):
                    continue
                raise fault
            names = self._folders.setdefault(number, [])
            if folder not in names:
                names.append(folder)
            if self._recursive and number not in above:
                left += [(path, (*above, number)) for path in _folders_in(folder)]

    def _leave(self, top: str) -> None:
        """A folder went elsewhere, with all below it."""
        for number, names in list(self._folders.items()):
            left = [name for name in names if name != top and not name.startswith(f"{top}/")]
            if left:
                self._folders[number] = left
            else:
                del self._folders[number]
                self._libc.inotify_rm_watch(self._descriptor, number)


def _announcements(data: bytes) -> Iterator[tuple[int, int, str]]:
    place = 0
    while place < len(data):
        number, mask, _, size = _HEAD.unpack_from(data, place)
        place += _HEAD.size + size
        yield number, mask, os.fsdecode(data[place - size : place].rstrip(b"\0"))


def _folders_in(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.path for entry in entries if entry.is_dir()]
    except OSError:
        return []


def _fault(name: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number), name)


_STEP = 0.005  # Seconds without another path after which the announced ones are returned.
_GLANCE = 0.1  # Seconds within which a wish to stop is seen.
_SELDOM = 0.5  # Seconds within which a stop is noticed if nobody waits for it.


def file_changes(
    folders: list[Path],
    stop: threading.Event,
    settings: FollowSettings,
    *,
    recursive: bool,
    tell: Callable[[str], None] | None = None,
    unhurried: bool = False,
) -> Iterator[set[Path]]:
    """Yield changed paths, or an empty set after each waiting time.

    For an `unhurried` caller a stop may be noticed late. Without file events, because a limit is reached or
    for another reason, `tell` receives a sentence and the call returns after one wait, so that the caller
    polls.
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
    """Whether inotify can be used: on Linux, but not inside Windows."""
    return sys.platform == "linux" and "microsoft" not in os.uname().release.lower()


def _from_kernel(
    folders: list[Path], stop: threading.Event, settings: FollowSettings, recursive: bool, unhurried: bool
) -> Iterator[set[Path]]:
    """Yield changes from inotify; ends if announcements were lost, so that the caller starts over."""
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
            paths = kernel.take()
            until = time.monotonic() + settings.debounce
            while paths and time.monotonic() < until:
                stop.wait(step)
                more = kernel.take()
                if more <= paths:
                    break
                paths |= more
            yield paths


def _announced(
    folders: list[Path], stop: threading.Event, settings: FollowSettings, recursive: bool, lenient: bool
) -> Iterator[set[Path]]:
    """Changes as the system announces them; lenient, it passes over every folder it cannot watch, and why."""
    import watchfiles

    for changes in watchfiles.watch(
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
        yield {Path(path) for _, path in changes}


def _limit(fault: Exception) -> str:
    """Return why file events are not available, and which limit to raise."""
    words = str(fault)
    if "watch limit" in words or (isinstance(fault, OSError) and fault.errno == errno.ENOSPC):
        return "the limit fs.inotify.max_user_watches is reached"
    if "Too many open files" in words:
        return "the limit fs.inotify.max_user_instances, or that of open files, is reached"
    return words.partition("\n")[0][:80]


SAID = 200  # Lag in events from which a person is told; less is normal for a busy log.
UNKNOWN = -1  # The lag is unknown: the log is not a file of lines.


def is_late(events: int) -> bool:
    """Return whether the person must be notified."""
    return events >= SAID or events == UNKNOWN


def events_behind(unread: int | None, read: int, events: int) -> int:
    """Estimate how many events are in the unread bytes, from those read so far; call it only while behind."""
    if not unread or not read or not events:
        return UNKNOWN
    return max(1, round(unread * events / read))


_time = attrgetter("at")
BATCH = 10_000  # Most events returned at once, so that catching up with a long log needs bounded memory.
STRIDE = 64  # Events between two places to which a reader of events may want to go back at least.
_SLACK = 4 * STRIDE
# Events remembered to give a late one its place: half as many may be in between, as a reader may go back twice as far.
# An even later event is placed before those.
RECENT = 4096 + _SLACK
_ALONE = 512  # Events remembered while a session has one log.


class Follower:
    """Follows one session with its sub-agents' logs, and emits each event exactly once.

    A path that does not exist yet, or is still empty, is waited for. Nothing is ever opened for writing. The
    logs of one session are written in parallel, so an event may appear after others that follow it in time.
    With `rewind` set, the order is always that of the saved session: `rewind(place)` receives how many of the
    emitted events stay valid, returns how many the caller keeps, and the next batch starts there. Without it,
    events are emitted as they appear.
    """

    def __init__(self, target: LogSession | Path, kit: Kit, settings: IngestSettings | None = None) -> None:
        self.kit = kit
        self.settings = settings or IngestSettings()
        self.session = target if isinstance(target, LogSession) else None
        self.path = target.path if isinstance(target, LogSession) else target
        self._finder = Finder(kit, self.settings.lines)
        self._tails: dict[Path, Tail] = {}
        self._stream: Iterator[Row] | None = None
        self.rewind: Callable[[int], int] | None = None
        self.behind = True  # The last poll left something for the next one, or there was none yet.
        self._count = 0  # Events emitted so far.
        self._recent: list[Row] = []  # The last emitted events; empty without `rewind`.
        self._before = 0  # Number of events emitted before those.
        self._floor: tuple[float, str] = -inf, ""  # The place of the last of them.
        self._latest = 0.0
        self.retaken: frozenset[int] = frozenset()  # The `id`s of events in the last batch that were emitted before.
        self._notices: list[str] = []
        self._noticed: set[str] = set()
        self._stood: list[tuple[str, int, int]] = []
        if self.session is not None:
            self._open(self.session)

    def poll(self, most: int = BATCH) -> list[Event]:
        """Return the events since the last poll, in order, up to `most` of them."""
        if self._stream is None:
            self._look()
            if not self._tails:
                self.behind = False
                return []
            self._stream = merge([one.fresh() for one in self._tails.values()])
        fresh = list(islice(self._stream, most))
        self.behind = len(fresh) == most
        if not self.behind:
            self._stream = None
        return self._in_order(fresh)

    def _in_order(self, fresh: list[Row]) -> list[Event]:
        """Return the events of these rows, preceded by emitted ones that must follow the first."""
        self.retaken = frozenset()
        self._latest = max([self._latest, *(row[2].at for row in fresh)])
        if self.rewind is None or not fresh or not self.may_rewind:
            self._count += len(fresh)
            return [row[2] for row in fresh]
        recent = self._recent
        if recent and row_place(fresh[0]) < row_place(recent[-1]):
            place = self._before + max(self._first, bisect_right(recent, row_place(fresh[0]), key=row_place))
            self._count = self.rewind(place)
            start = self._count - self._before
            again, self._recent = recent[start:], recent[:start]
            self.retaken = frozenset(id(row[2]) for row in again)
            floor = row_place(recent[place - self._before - 1]) if place > self._before else self._floor
            fresh = sorted([*again, *((*max(row_place(row), floor), row[2]) for row in fresh)], key=row_place)
        self._recent += fresh
        self._count += len(fresh)
        spare = len(self._recent) - (RECENT if len(self._tails) > 1 else _ALONE)
        if spare > STRIDE:
            self._floor = row_place(self._recent[spare - 1])
            self._before += spare
            del self._recent[:spare]
        return [row[2] for row in fresh]

    @property
    def may_rewind(self) -> bool:
        """Whether another log may come to this session's, with events that belong before others."""
        return self.session is not None and self.session.logs[0].format.companions is not None

    @property
    def _first(self) -> int:
        """Which remembered event is the first that a late one may come before."""
        return (len(self._recent) + _SLACK) // 2 if self._before else 0

    @property
    def reach(self) -> int:
        """How many of the last events a late one may come before."""
        return len(self._recent) - self._first

    def drain(self) -> Iterator[list[Event]]:
        """Yield everything available now, in batches."""
        while True:
            events = self.poll()
            if events:
                yield events
            if not self.behind:
                return

    def finish(self) -> list[Event]:
        """Return the events that only the end of the logs completes: an unfinished last line, open calls."""
        helpers = [one for one in self._tails.values() if one.helper]
        agents = [one for one in self._tails.values() if not one.helper]
        events = self._in_order(list(merge([map(one.row, one.finish()) for one in agents])))
        return [*events, *as_of(self._latest, chain(*(one.finish() for one in helpers)))]

    def pending_events(self) -> list[Event]:
        """Return what the logs have begun and not ended, without changing anything."""
        return sorted(chain(*(one.pending_events() for one in self._tails.values())), key=_time)

    def in_flight(self) -> list[ToolUse]:
        """Return the open calls, oldest first; for display only."""
        waiting = [call for one in self._tails.values() for call in one.in_flight()]
        return sorted(waiting, key=_time)

    def extent(self) -> tuple[int, int | None]:
        """Return the bytes whose events were emitted, and the bytes that were not read yet; None if unknown."""
        read, unread = 0, 0
        for path, one in self._tails.items():
            if one.place is None:
                return read, None
            read += one.place - one.log.start
            with contextlib.suppress(OSError):
                end = path.stat().st_size if one.log.end is None else one.log.end
                unread += max(0, end - one.place)
        return read, unread

    def lag(self) -> int:
        """Return about how many events are written and not read yet, or UNKNOWN."""
        read, unread = self.extent() if self.behind else (0, 0)
        return events_behind(unread, read, self._count) if self.behind else 0

    def notices(self) -> list[str]:
        """Return what happened to the logs since the last call: gone, back, truncated, replaced."""
        notices = self._notices
        self._notices = []
        for one in self._tails.values():
            notices += one.notices
            one.notices = []
        return notices

    def tell(self, sentence: str) -> None:
        """Add something that happened to the watching itself to the notices, once."""
        if sentence not in self._noticed:
            self._noticed.add(sentence)
            self._notices.append(sentence)

    def files(self) -> list[Path]:
        """The logs that are followed now."""
        return list(self._tails) or [self.path]

    def folders(self) -> list[Path]:
        """The folders in which something may happen, as far as they exist."""
        folders: dict[Path, None] = {}
        for path in (self.path, *self._tails):
            folder = path if is_folder(path) else path.parent
            while not is_folder(folder) and folder != folder.parent:
                folder = folder.parent
            folders[folder] = None
        for name in dict.fromkeys((stem(self.path), self.session.id if self.session else "")):
            if name and "/" not in name and name not in (".", ".."):
                folders.update((Path(top), None) for top, _, _ in os.walk(self.path.parent / name))
        return list(folders)

    def _look(self) -> None:
        """Find a session that was waited for, new companions, and a log that was packed meanwhile."""
        if self.session is None:
            log = self._finder.log(self.path)
            if log is None:
                return
            self.session = self._finder.session(log)
            self._open(self.session)
        if [_folder_state(Path(folder)) for folder, _, _ in self._stood] != self._stood or not self._stood:
            states = [_folder_state(folder) for folder in self.folders()]
            companions = self._finder.companions(self.session.logs[0])
            for companion in (*companions.logs, *companions.helpers):
                if companion.path not in self._tails:
                    self._add(companion, helper=companion in companions.helpers)
            self._stood = states if companions.complete else []
        for path, one in list(self._tails.items()):
            if one.gone:
                self._follow_packed(path, one)

    def _open(self, session: LogSession) -> None:
        for log in (*session.logs, *session.helpers):
            self._add(log, helper=log in session.helpers)

    def _add(self, log: Log, *, helper: bool) -> None:
        session = self.session.id if self.session else ""
        self._tails[log.path] = open_tail(log, self.kit, self.settings.lines, session)
        self._tails[log.path].helper = helper

    def _follow_packed(self, path: Path, old: Tail) -> None:
        packed = path.with_name(path.name + ".zst")
        if old.log.format.style != "lines" or not is_file(packed):
            return
        self._notices += [*old.notices, f"{path.name}: compressed; reading {packed.name}"]
        log = old.log._replace(path=packed)
        session = self.session.id if self.session else ""
        followed = open_tail(log, self.kit, self.settings.lines, session, old.seen_events)
        followed.helper, followed.reached = old.helper, old.reached
        tails = self._tails.items()
        self._tails = dict((packed, followed) if one is old else (name, one) for name, one in tails)


def watch(follower: Follower, stop: threading.Event) -> Iterator[list[Event]]:
    """Yield batches of events until `stop` is set; blocks in between, so run it in a thread.

    File events wake it; without them it polls after the `poll` seconds of the settings.
    """
    settings = follower.settings.follow
    yield from follower.drain()
    while not stop.is_set():
        folders = follower.folders()
        for _ in file_changes(folders, stop, settings, recursive=False, tell=follower.tell):
            yield from follower.drain()
            if follower.folders() != folders:
                break


def _folder_state(folder: Path) -> tuple[str, int, int]:
    """Return a value that changes when a file appears in or disappears from a folder."""
    try:
        return str(folder), folder.stat().st_mtime_ns, len(os.listdir(folder))  # noqa: PTH208 no paths needed
    except OSError:
        return str(folder), 0, 0
