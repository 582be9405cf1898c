"""Follows a session while its agent still writes it."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from core.events import Event, ToolUse
from core.logs.document_tail import tail
from core.logs.finder import Finder
from core.logs.log_files import is_file, is_folder
from core.logs.reader import Kit
from core.logs.records import Log, stem
from core.logs.session import LogSession, merge
from core.logs.tail import Tail
from core.settings.logs import FollowSettings, IngestSettings

BATCH = 10_000
"""Events handed over at once at most, so that catching up with a long log stays in bounded memory."""
_STEP = 0.01
"""Seconds without another path after which what was announced is handed on."""
_GLANCE = 0.1
"""Seconds within which a wish to stop is seen."""
_SELDOM = 0.5
"""The same where nobody waits for the end."""


class Follower:
    """One session, its sub-agents' logs as they appear, and every event of them exactly once.

    A path that is not there yet, or is still empty, is waited for. Nothing is ever opened for writing.
    """

    def __init__(self, target: LogSession | Path, kit: Kit, settings: IngestSettings | None = None) -> None:
        self.kit = kit
        self.settings = settings or IngestSettings()
        self.session = target if isinstance(target, LogSession) else None
        self.path = target.path if isinstance(target, LogSession) else target
        self._finder = Finder(kit, self.settings.lines)
        self._tails: dict[Path, Tail] = {}
        self._stream: Iterator[Event] | None = None
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
            self._stream = merge([one.fresh() for one in self._tails.values()])
        events = list(islice(self._stream, most))
        if len(events) < most:
            self._stream = None
        return events

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
        return list(merge([iter(one.finish()) for one in self._tails.values()])) if self._tails else []

    def held(self) -> list[Event]:
        """What the logs have begun and not ended; reading on is not touched by it."""
        return list(merge([iter(one.held()) for one in self._tails.values()])) if self._tails else []

    def in_flight(self) -> list[ToolUse]:
        """Calls begun but not answered yet, oldest first; for showing only."""
        waiting = [call for one in self._tails.values() for call in one.in_flight()]
        return sorted(waiting, key=lambda call: call.at)

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
        stands = [_stands(folder) for folder in self.folders()]
        if stands != self._stood:
            companions = self._finder.companions(self.session.logs[0])
            for companion in (*companions.logs, *companions.helpers):
                if companion.path not in self._tails:
                    self._add(companion)
            self._stood = stands if companions.complete else []
        for path, one in list(self._tails.items()):
            if one.gone:
                self._follow_packed(path, one)

    def _open(self, session: LogSession) -> None:
        for log in (*session.logs, *session.helpers):
            self._add(log)

    def _add(self, log: Log) -> None:
        session = self.session.id if self.session else ""
        self._tails[log.path] = tail(log, self.kit, self.settings.lines, session)

    def _follow_packed(self, path: Path, gone: Tail) -> None:
        packed = path.with_name(path.name + ".zst")
        if gone.log.format.style != "lines" or not is_file(packed):
            return
        self._notices += [*gone.notices, f"{path.name}: packed; reading {packed.name}"]
        log = gone.log._replace(path=packed)
        session = self.session.id if self.session else ""
        followed = tail(log, self.kit, self.settings.lines, session, gone.passed)
        self._tails = {
            (packed if known == path else known): (followed if known == path else one)
            for known, one in self._tails.items()
        }


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


def _stands(folder: Path) -> tuple[str, int, int]:
    """What changes when a file comes or goes in a folder."""
    try:
        return str(folder), folder.stat().st_mtime_ns, len(os.listdir(folder))  # noqa: PTH208 no paths needed
    except OSError:
        return str(folder), 0, 0
