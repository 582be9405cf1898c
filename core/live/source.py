"""Where a session's events come from: a saved log or a followed one, its open calls and file events."""

from __future__ import annotations

import contextlib
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from msgspec.structs import replace

from core.errors import UnreadableLog
from core.events import Event, ToolUse
from core.live.hook_signs import HookSigns
from core.live.status import StatusFacts
from core.logs.finder import sessions
from core.logs.follow import Follower, file_changes
from core.logs.format import Kit
from core.logs.log_files import is_file, is_there
from core.logs.session import LogSession, read_session
from core.safe_text import safe
from core.settings import Settings
from core.settings.program import FollowSettings

_SLICE = 32  # Events between two looks at the clock.


class Target(NamedTuple):
    """The session to open."""

    path: Path
    live: bool = True  # Follow it; False plays it from the start.
    session: str = ""  # Of a file with several sessions, the id of one.
    at: str = ""  # The place a saved session is opened at, as a person writes it; blank plays it from the start.
    newest: bool = False  # It was opened as the newest one: a newer session in its folder may take its place.


class FoundSession(NamedTuple):
    """The session of a target, and whether others were passed over for it."""

    session: LogSession | None
    told: str = ""  # That it is the newest of several, where none was named.


def find_session(target: Target, kit: Kit, settings: Settings) -> FoundSession:
    """Return the session a target names, the newest of several, or none if it may still come."""
    try:
        matches = sessions([target.path], kit, settings.ingest.lines)
    except UnreadableLog:
        if target.live and (not is_there(target.path) or _blank(target.path)):
            return FoundSession(None)
        raise
    named_session = [one for one in matches if one.id == target.session]
    if named_session or len(matches) == 1:
        return FoundSession((named_session or matches)[0])
    newest = max(reversed(matches), key=lambda one: state_on_disk([one.path])[0])
    name = safe(target.path.name)
    notice = f"{name} contains {len(matches)} sessions, and this is the newest; {name}#SESSION opens another"
    return FoundSession(newest, notice)


def _blank(path: Path) -> bool:
    with contextlib.suppress(OSError):
        return is_file(path) and path.stat().st_size == 0
    return False


class Source:
    """Hands out events in order, as many as fit into a little time."""

    growing = False  # More may come once all that is there has been read.

    def __init__(self, session: LogSession | None, kit: Kit) -> None:
        self.session = session
        self.kit = kit
        self.behind = True  # There is more to be had at once.
        self.size = state_on_disk(Source.files(self))[1]  # Bytes at the opening.
        self._places: dict[str, int] = {}
        # Told that only so many of the events handed out stay, because one came late; returns how many of them its
        # owner keeps, and the others come again in their order.
        self.rewind: Callable[[int], int] | None = None
        self.retaken: frozenset[int] = frozenset()  # The `id`s of events in the last batch that were returned before.

    @property
    def share(self) -> float:
        """How much of what was there at the opening has been read."""
        return min(1.0, sum(self._places.values()) / self.size) if self.size else 1.0

    @property
    def unreadable(self) -> str:
        """Why a log without events cannot be read; blank if it may be new."""
        wrong = "not JSON" in self.kit.diagnostics.counts
        return "nothing in its log can be read (not JSON)" if wrong else ""

    def events(self, seconds: float) -> Iterator[Event]:
        """Yield the next events until the time is over or there are none."""
        end = time.monotonic() + seconds
        while self.behind:
            for event in self.poll(_SLICE):
                if event.where is not None:
                    self._places[event.where.file] = event.where.offset + event.where.length
                yield event
            if time.monotonic() >= end:
                return

    def poll(self, most: int) -> list[Event]:
        """Return up to `most` new events; a growing log is looked at again. Sets `behind`."""
        raise NotImplementedError

    def look(self) -> None:
        """The files may have changed."""
        self.behind = self.behind or self.growing

    def lag(self) -> int:
        """About how many events are written and not read yet, or UNKNOWN."""
        return 0

    def notices(self) -> list[str]:
        """Return the notices about the logs since the last call."""
        return []

    def pending_events(self) -> list[Event]:
        """Return the calls without an answer and the turn that have begun and not ended."""
        return []

    def finish(self) -> list[Event]:
        """Return the events that only the end of the logs completes; nothing is read after it."""
        return []

    @property
    def may_rewind(self) -> bool:
        """Whether an event may come after others that belong behind it."""
        return False

    @property
    def reach(self) -> int:
        """How many of the last events a late one may come before."""
        return 0

    def files(self) -> list[Path]:
        """The logs that are read."""
        return [log.path for log in self.session.logs] if self.session else []

    def folders(self) -> list[Path]:
        """Where something may happen."""
        return []


class Saved(Source):
    """A session that is read once, to its end."""

    def __init__(self, session: LogSession, kit: Kit, settings: Settings) -> None:
        super().__init__(session, kit)
        self._stream = read_session(session, kit, settings.ingest.lines)

    def poll(self, most: int) -> list[Event]:
        events = list(islice(self._stream, most)) if self.behind else []
        self.behind = len(events) == most
        return events


class Followed(Follower, Source):
    """A session that is still written to, or expected to start."""

    growing = True

    def __init__(self, target: LogSession | Path, kit: Kit, settings: Settings) -> None:
        Source.__init__(self, target if isinstance(target, LogSession) else None, kit)
        Follower.__init__(self, target, kit, settings.ingest)

    @property
    def unreadable(self) -> str:
        waits = self.session is None and is_file(self.path)
        trouble = self._finder.lasting_trouble(self.path) if waits else ""
        return f"nothing in its log can be read ({trouble})" if trouble else super().unreadable


class Watcher:
    """A thread that does nothing but wait for file events and pass them on."""

    def __init__(self, wake: Callable[[], object], settings: FollowSettings) -> None:
        self._wake = wake
        self._settings = settings
        self._folders: list[Path] = []
        self._told = False
        self._trouble = ""
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def watch(self, folders: list[Path]) -> None:
        """Look at these folders from now on."""
        if folders == self._folders and self._thread is not None:
            return
        self.stop()
        self._folders = folders
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=self._wait, args=(folders, self._stop), name="nooscope-watch", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Let the thread end by itself."""
        self._stop.set()

    def trouble(self) -> str:
        """Report once why file events are missing."""
        sentence, self._trouble = self._trouble, ""
        return sentence

    def _tell(self, sentence: str) -> None:
        if not self._told:
            self._told, self._trouble = True, sentence

    def _wait(self, folders: list[Path], stop: threading.Event) -> None:
        while not stop.is_set():
            changes = file_changes(folders, stop, self._settings, recursive=False, tell=self._tell, unhurried=True)
            for _ in changes:
                if stop.is_set():
                    return
                self._wake()


_ENDED = 512  # Ended calls remembered.


class OpenEvents:
    """The pending events of a log, read again when the log or its hooks change."""

    __slots__ = ("_begun", "_ended", "_held", "_hooks", "_signs", "_source")

    def __init__(self, source: Source, hooks: Callable[[str], HookSigns | None] | None) -> None:
        self._source = source
        self._hooks = hooks
        self._signs: HookSigns | None = None  # What hooks reported at the last reading.
        self._ended: dict[str, None] = {}  # Ids of calls that ended, so that late hooks do not open them again.
        self._held: tuple[Event, ...] | None = None
        self._begun: tuple[Event, ...] = ()

    def changed(self) -> None:
        """The log has changed: look at its end again."""
        self._held = None

    def take(self, event: Event) -> None:
        """An event of the log came, which may end a call."""
        self._held = None
        if self._hooks is not None and type(event) is ToolUse and event.id and event.outcome != "pending":
            self._ended[event.id] = None
            if len(self._ended) > _ENDED:
                del self._ended[next(iter(self._ended))]

    def read(self) -> tuple[Event, ...]:
        """Return the open calls and turns, once the whole log is read."""
        if self._source.behind:
            return ()
        signs = self._current_signs()
        if self._held is None or signs is not self._signs:
            pending = self._begun = tuple(self._source.pending_events())
            self._held = pending if signs is None else signs.ahead(pending, self._ended)
            self._signs = signs
        return self._held

    def logged(self) -> tuple[Event, ...]:
        """The pending events that are in the log itself."""
        self.read()
        return () if self._source.behind else self._begun

    def with_hooks(self, facts: StatusFacts) -> StatusFacts:
        """The facts of a log with what hooks know beyond it."""
        signs = self._current_signs()
        if signs is None:
            return facts
        newest = max(facts.heard, signs.heard)
        return replace(facts, asks=signs.asking(self._ended), hooked=True, heard=newest, process=signs.process)

    def _current_signs(self) -> HookSigns | None:
        session = self._source.session
        return self._hooks(session.id) if self._hooks is not None and session and session.id else None


def changed_files(project: str, last_seen: Mapping[str, float], at: float) -> tuple[tuple[str, float], ...]:
    """Plain files inside a project that changed after they were last seen and before `at`, with when."""
    if not project or not Path(project).is_absolute():
        return ()
    changes = []
    for name, last in last_seen.items():
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts:
            continue
        try:
            status = (Path(project) / path).lstat()
        except (OSError, ValueError):
            continue
        if stat.S_ISREG(status.st_mode) and last < status.st_mtime <= at:
            changes.append((name, status.st_mtime))
    return tuple(changes)


def state_on_disk(paths: Iterable[Path]) -> tuple[float, int]:
    """When any of the files last changed, and the size of all; a file only touched keeps its size."""
    latest, size = 0.0, 0
    for path in paths:
        try:
            status = path.stat()
        except OSError:
            continue
        latest, size = max(latest, status.st_mtime), size + status.st_size
    return latest, size
