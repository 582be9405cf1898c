"""The sessions of this host that are sent: found, read on while they grow, let go when they rest."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import islice
from pathlib import Path

from core.agents.registry import known_agents, make_kit
from core.errors import UnreadableLog
from core.events import Event
from core.extras.hosts.messages import Names, Sender, ShippedEvent
from core.extras.hosts.place import SenderFile
from core.logs.agent import roots
from core.logs.discovery import Found, describe_sessions, find
from core.logs.finder import Finder
from core.logs.follow import Follower
from core.logs.format import Diagnostics
from core.logs.log_files import is_folder
from core.logs.session import identity
from core.settings import Settings

_SETTLED = 1.0
"""Seconds a call must be open before it is told of."""


class ShippedSession:
    """One session that is read and sent."""

    def __init__(self, follower: Follower, sender: Sender, sent: set[bytes]) -> None:
        self.follower = follower
        self.sender = sender
        self._sent = sent
        self._told: tuple[object, ...] = ()
        self._open: tuple[tuple[object, ...], float] = ((), 0.0)
        self.due = True
        self.watching_open = True
        """It is not known yet whether calls stay open."""

    def take(self, most: int) -> list[ShippedEvent]:
        """The next events that the stream does not hold yet."""
        messages: list[ShippedEvent] = []
        while not messages:
            events = self.follower.poll(most)
            made = map(self.sender.message, events)
            messages = [message for message in made if message.id not in self._sent]
            self.watching_open = self.watching_open or bool(events)
            if not self.follower.behind:
                self.due = False
                break
        return messages

    def held(self, now: float, *, at_once: bool = False) -> ShippedEvent | None:
        """What stays open, once it has for a second and was not told before."""
        if self.due or not self.watching_open:
            return None
        events = self.follower.pending_events()
        key = tuple(identity(event) for event in events)
        if key != self._open[0]:
            self._open = (key, now)
        if key and not at_once and now - self._open[1] < _SETTLED:
            return None
        self.watching_open = False
        if key == self._told:
            return None
        self._told = key
        message = self.sender.held(_shown(events))
        return None if message.id in self._sent else message


def _shown(events: list[Event]) -> list[Event]:
    return list(islice(events, 100))


class Sources:
    """All sessions of this host, or of some paths, that changed lately."""

    def __init__(
        self,
        settings: Settings,
        environment: Mapping[str, str],
        home: Path,
        host: str,
        place: SenderFile,
        *,
        paths: Sequence[Path] = (),
        names: Names | None = None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings
        self._environment = environment
        self._home = home
        self._host = host
        self._place = place
        self._paths = list(paths)
        self._names = names
        self._wall = wall
        self._kit = make_kit(settings.ingest)
        self._finder = Finder(self._kit.counting(Diagnostics()), settings.ingest.lines)
        self._open: dict[str, ShippedSession] = {}
        self._done: dict[str, float] = {}
        """When a session that rests had last changed."""
        self.faults = self._kit.diagnostics
        self.lacking = True

    @property
    def folders(self) -> list[Path]:
        """Where sessions may appear."""
        if self._paths:
            return [path if is_folder(path) else path.parent for path in self._paths]
        return list(dict.fromkeys(root for _, root in roots(known_agents(), self._environment, self._home)))

    def look(self) -> None:
        """Search the disk; who is new, or changed since it was let go, is opened."""
        now = self._wall()
        within = self._settings.ingest.hosts.within * 3600.0
        for found in self._find(now):
            key = f"{found.path}\n{found.session}"
            if now - found.modified > within or self._done.get(key) == found.modified:
                continue
            if key not in self._open:
                source = self._source(found)
                if source is not None:
                    self._open[key] = source
        self.lacking = False

    def notice(self, changed: Collection[Path]) -> None:
        """Files changed; without any named, everybody is looked at."""
        owners: dict[Path, list[ShippedSession]] = {}
        for source in self._open.values():
            if not changed:
                source.due = True
            for path in source.follower.files():
                owners.setdefault(path, []).append(source)
        for path in changed:
            plain = path.with_name(path.name.removesuffix("-wal"))
            touched = owners.get(plain) or owners.get(path.parent)
            for source in touched or ():
                source.due = True
            self.lacking = self.lacking or touched is None

    def open(self) -> list[ShippedSession]:
        """Those that are followed."""
        return list(self._open.values())

    def settle(self) -> None:
        """Let those go that have not changed for long; all they had was sent."""
        now = self._wall()
        active = self._settings.ingest.follow.active_within
        for key, source in list(self._open.items()):
            changed = max(map(_changed, source.follower.files()), default=0.0)
            if not (source.due or source.watching_open) and now - changed > active:
                del self._open[key]
                self._done[key] = changed

    def forget(self) -> None:
        """Start again from the logs: the stream does not hold what was expected."""
        self._open.clear()
        self._done.clear()
        self.lacking = True

    def _find(self, now: float) -> list[Found]:
        active = self._settings.ingest.follow.active_within
        if not self._paths:
            return find(known_agents(), self._environment, self._home, now=now, active_within=active)
        try:
            return describe_sessions(known_agents(), self._finder.sessions(self._paths), now, active)
        except UnreadableLog:
            return []

    def _source(self, found: Found) -> ShippedSession | None:
        try:
            here = self._finder.sessions([found.path])
        except UnreadableLog:
            return None
        session = ([one for one in here if one.id == found.session] or here)[0]
        sender = Sender(self._host, session.tool, session.id, self._names)
        follower = Follower(session, self._kit, self._settings.ingest)
        return ShippedSession(follower, sender, self._place.sent(sender.subject))


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
