"""Follows every session below some folders: those that are active, and those that wake."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from core.errors import UnreadableLog
from core.events import Event
from core.ingest.door import is_file, is_folder, is_there
from core.logs.diagnostics import Diagnostics
from core.logs.finder import Finder
from core.logs.follow import Follower, changes
from core.logs.reader import Kit
from core.logs.session import LogSession
from core.settings.logs import IngestSettings

_SCAN_AFTER = 10
"""Waits without news after which folders are searched for sessions that nothing announced."""


class News(NamedTuple):
    """What a poll brought for one session."""

    follower: Follower
    events: list[Event]


class Fleet:
    """A follower for each session that changed after `since`; older ones are left alone until they change."""

    def __init__(
        self, roots: Sequence[Path], kit: Kit, since: float, settings: IngestSettings | None = None
    ) -> None:
        self.roots = list(roots)
        self.settings = settings or IngestSettings()
        self._kit = kit
        self._since = since
        self._finder = Finder(Kit(kit.normalizer, kit.models, Diagnostics()), self.settings.lines)
        self._followers: dict[tuple[str, str], Follower] = {}
        self._asleep: dict[tuple[str, str], float] = {}
        self._ignored: set[Path] = set()

    @property
    def followers(self) -> list[Follower]:
        """Those at work, each with its session and diagnostics of its own."""
        return list(self._followers.values())

    def poll(self, changed: Collection[Path] | None = None) -> Iterator[News]:
        """What came since the last poll; where it is known which files changed, only those are looked at.

        Comes in batches, to be taken to the end: catching up with long logs stays in bounded memory.
        """
        chosen = self._touched(changed) if changed is not None else None
        if chosen is None:
            self._scan()
            self._ignored.update(path for path in changed or () if self._foreign(path))
            chosen = self.followers
        for one in chosen:
            for events in one.drain():
                yield News(one, events)

    def _touched(self, changed: Collection[Path]) -> list[Follower] | None:
        """Whose files changed, everyone's where none is named; None where a file is not known."""
        if not changed:
            return self.followers
        owners = {path: one for one in self._followers.values() for path in one.files()}
        if any(path not in owners and path not in self._ignored for path in changed):
            return None
        return list({id(one): one for path in changed if (one := owners.get(path))}.values())

    def _foreign(self, path: Path) -> bool:
        """Whether a file is there, holds something, and is no log."""
        try:
            return is_file(path) and path.stat().st_size > 0 and self._finder.format(path)[0] is None
        except OSError:
            return False

    def _scan(self) -> None:
        roots = [root for root in self.roots if is_there(root)]
        if not roots:
            return
        try:
            found = self._finder.sessions(roots)
        except UnreadableLog:
            return
        for session in found:
            key = (str(session.path), session.id)
            if key not in self._followers and self._awake(key, session):
                kit = Kit(self._kit.normalizer, self._kit.models, Diagnostics(self.settings.lines.faults))
                self._followers[key] = Follower(session, kit, self.settings)

    def _awake(self, key: tuple[str, str], session: LogSession) -> bool:
        changed = max((_changed(log.path) for log in session.logs), default=0.0)
        return changed >= self._since or self._asleep.setdefault(key, changed) != changed


def watch_fleet(fleet: Fleet, stop: threading.Event) -> Iterator[News]:
    """What comes for any session, until told to stop; blocks in between, so run it in a thread.

    File events wake it. Without any, known sessions are looked at after the settings' `poll` seconds,
    and new ones looked for every tenth time.
    """
    yield from fleet.poll()
    quiet = 0
    while not stop.is_set():
        roots = [root for root in fleet.roots if is_folder(root)]
        for changed in changes(roots, stop, fleet.settings.follow, recursive=True):
            quiet = 0 if changed else quiet + 1
            yield from fleet.poll(None if quiet == _SCAN_AFTER else changed)
            quiet %= _SCAN_AFTER
            if [root for root in fleet.roots if is_folder(root)] != roots:
                break


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
