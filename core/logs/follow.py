"""Follows a session while its agent still writes it."""

from __future__ import annotations

import contextlib
import os
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import chain, islice
from math import inf
from operator import attrgetter
from pathlib import Path

from core.events import Event, ToolUse
from core.logs.file_events import file_changes
from core.logs.finder import Finder
from core.logs.format import Kit
from core.logs.log_files import is_file, is_folder
from core.logs.records import Log, stem
from core.logs.session import LogSession, Row, as_of, merge, row_place
from core.logs.tail import Tail, open_tail
from core.settings.logs import IngestSettings

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
            first = 0 if not self._before else (len(recent) + _SLACK) // 2
            place = self._before + max(first, bisect_right(recent, row_place(fresh[0]), key=row_place))
            self._count = self.rewind(place)
            start = self._count - self._before
            again, self._recent = recent[start:], recent[:start]
            self.retaken = frozenset(id(row[2]) for row in again)
            floor = row_place(recent[place - self._before - 1]) if place > self._before else self._floor
            fresh = sorted([*again, *((*max(row_place(row), floor), row[2]) for row in fresh)], key=row_place)
        self._recent += fresh
        self._count += len(fresh)
        spare = len(self._recent) - (RECENT if len(self._tails) > 1 else _ALONE)
        if spare > _ALONE:
            self._floor = row_place(self._recent[spare - 1])
            self._before += spare
            del self._recent[:spare]
        return [row[2] for row in fresh]

    @property
    def may_rewind(self) -> bool:
        """Whether another log may come to this session's, with events that belong before others."""
        return self.session is not None and self.session.logs[0].format.companions is not None

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
        """Return the bytes whose events were emitted, and the bytes that were not read yet;

        None if unknown.
        """
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
        states = [_folder_state(folder) for folder in self.folders()]
        if states != self._stood:
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
        self._tails = {
            (packed if tail_path == path else tail_path): (followed if tail_path == path else one)
            for tail_path, one in self._tails.items()
        }


def watch(follower: Follower, stop: threading.Event) -> Iterator[list[Event]]:
    """Yield batches of events until `stop` is set;

    blocks in between, so run it in a thread. File events wake it; without them it polls after the `poll`
    seconds of the settings.
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
