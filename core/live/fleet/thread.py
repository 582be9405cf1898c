"""The one thread behind the fleet: it waits for files, reads them in turn, and hands out rows."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from core.live.fleet.roster import Roster
from core.live.fleet.row import FleetRow
from core.logs.file_events import file_changes

_READING = 0.1
"""Seconds of reading between two looks at the clock."""
_BREATH = 0.005
"""Seconds left to the screen between two stretches of reading."""
_NEW = 1.0
"""Seconds between two searches that unknown files ask for."""


class FleetWatch:
    """Keeps a roster up to date while it runs; it may be stopped and started again."""

    def __init__(self, roster: Roster, show: Callable[[tuple[FleetRow, ...], float], object]) -> None:
        self._roster = roster
        self._show = show
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._shown = self._looked = float("-inf")

    def start(self) -> None:
        """Run until stopped; rows are shown from the thread."""
        before = self._thread
        self._stop = stop = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(stop, before), name="nooscope-fleet", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Let the thread end by itself."""
        self._stop.set()

    def join(self, patience: float) -> None:
        """Wait for the thread's end."""
        if self._thread is not None:
            self._thread.join(patience)

    def _run(self, stop: threading.Event, before: threading.Thread | None) -> None:
        if before is not None:
            before.join()
        self._looked = float("-inf")
        self._turn(stop)
        settings = self._roster.settings
        pace = 1.0 / settings.screen.fleet.rate
        while not stop.is_set():
            folders = self._roster.folders
            for changed in file_changes(folders, stop, settings.ingest.follow, recursive=True):
                if stop.is_set():
                    return
                self._roster.notice(changed)
                self._turn(stop)
                stop.wait(pace if changed else 0.0)
                if self._roster.folders != folders:
                    break

    def _turn(self, stop: threading.Event) -> None:
        """Search where it is time to, read all that is due, show it now and then."""
        now = time.monotonic()
        wait = _NEW if self._roster.lacking else self._roster.settings.screen.fleet.search
        if now - self._looked >= wait:
            self._roster.look()
            self._looked = time.monotonic()
            self._picture()
        while self._roster.work(_READING) and not stop.is_set():
            self._picture(after=0.5)
            stop.wait(_BREATH)
        self._roster.settle(self._roster.wall())
        self._picture()

    def _picture(self, after: float = 0.0) -> None:
        if time.monotonic() - self._shown >= after:
            now = self._roster.wall()
            self._show(self._roster.rows(now), now)
            self._shown = time.monotonic()


def once(roster: Roster) -> tuple[tuple[FleetRow, ...], float]:
    """Search and read everything once, without a thread."""
    roster.look()
    while roster.work(60.0):
        pass
    now = roster.wall()
    rows = roster.rows(now)
    roster.settle(now)
    return rows, now
