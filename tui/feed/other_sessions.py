"""All other sessions, for a screen of one: who needs you, who works here now, what today costs."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from textual.app import App

from core.live.hook_signs import HookBoard
from core.live.status import Limits
from core.report.sums import DaySpent
from core.settings import Settings
from tui.feed.messages import DayReckoned, OthersSeen
from tui.feed.view import View

if TYPE_CHECKING:
    from core.live.fleet.roster import FleetWatch
    from core.live.fleet.row import FleetRow

OTHERS_AFTER = 1.0  # Seconds after which other sessions are looked for, so that the first picture comes first.

DAY_EVERY = 60.0  # Seconds between two sums.


class DayBudget:
    """Holds today's last sum; None if there is no budget to compare it with."""

    def __init__(self, app: App[Any], *, watching: bool) -> None:
        self._app = app
        self._watching = watching
        self.spent: DaySpent | None = None

    def reckon(self, settings: Settings) -> None:
        """Add up the cost in a thread; the app gets it as a message."""
        if not (self._watching and settings.screen.cost.budget):
            self.spent = None
            return

        def work() -> None:
            from core.live.fleet.costs import day_cost

            self._app.post_message(DayReckoned(day_cost(settings, time.time())))

        self._app.run_worker(work, name="day", group="day", thread=True, exclusive=True)

    def shown_in(self, view: View) -> View:
        """A view that shows the sum."""
        return view if self.spent is None else replace(view, day=self.spent)


class OtherSessions:
    """Watches all recent sessions in its own thread, and knows those not on the screen."""

    def __init__(self, app: App[Any], settings: Settings) -> None:
        self._app = app
        self._settings = settings
        self._watch: FleetWatch | None = None
        self._limits = Limits.of(settings)
        self._rows: tuple[FleetRow, ...] = ()
        self._now = 0.0

    def start(self) -> None:
        """Watch until stopped."""
        from core.live.fleet.roster import FleetWatch, Roster

        fleet, screen, app = self._settings.screen.fleet, self._settings.screen, self._app
        hours = min(fleet.within, fleet.left / 3600.0)
        screen = screen.replace(fleet=fleet.replace(within=hours))
        roster = Roster(self._settings.replace(screen=screen), os.environ, Path.home())
        self._watch = FleetWatch(roster, lambda rows, now: app.post_message(OthersSeen(rows, now)))
        self._watch.start()

    def stop(self) -> None:
        """Let the thread end."""
        if self._watch is not None:
            self._watch.stop()

    def take(self, rows: Sequence[FleetRow], now: float) -> None:
        """Store all sessions' statuses at a moment."""
        self._rows, self._now = tuple(rows), now

    def needing(self, view: View | None, board: HookBoard) -> list[FleetRow]:
        """Return the other sessions that need the person, the longest wait first."""
        rows = [row.hooked(board.of(row.session), self._now, self._limits) for row in self._others(view)]
        needing = [row for row in rows if row.status.level == 3 and not row.status.stale]
        return sorted(needing, key=lambda row: row.status.urgency)

    def newer(self, view: View | None) -> FleetRow | None:
        """A session that works in the same folder while the one on the screen rests."""
        if view is None or view.status is None or not view.status.at_rest or not view.subject.project:
            return None
        here = [
            row
            for row in self._others(view)
            if row.project == view.subject.project
            and row.facts.heard > view.end
            and row.status.word in ("working", "looping", "stuck", "needs you", "may need you")
        ]
        return max(here, key=lambda row: row.facts.heard, default=None)

    def shown_in(self, view: View, board: HookBoard) -> View:
        """Return a view with the number of others that need the person, and the one that works here now."""
        newer = self.newer(view) if view.mode == "live" else None
        newcomer = "" if newer is None else f"{newer.agent} {newer.status.word}"
        return replace(view, others=len(self.needing(view, board)), newer=newcomer)

    def _others(self, view: View | None) -> list[FleetRow]:
        current = "" if view is None else view.subject.session
        paths = () if view is None else view.logs
        return [row for row in self._rows if row.session != current and row.path not in paths]
