"""All sessions, for the fleet and for a screen of one: who needs you, who works here now, what today costs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from textual.app import App

from core.live.hook_signs import HookBoard
from core.live.status import Limits
from core.report.sums import DaySpent
from core.settings import Settings
from core.timeline.run_inputs import InitialStates
from tui.feed.messages import DayReckoned, SessionsSeen
from tui.feed.view import View

if TYPE_CHECKING:
    from core.live.fleet.roster import FleetWatch, Roster, Scope
    from core.live.fleet.row import FleetRow

OTHERS_AFTER = 1.0  # Seconds after which other sessions are looked for, so that the first picture comes first.

DAY_EVERY = 60.0  # Seconds between two sums.


class DayBudget:
    """Holds today's last sum, or None if no budget is set."""

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
    """Watches all recent sessions in one thread, and knows those not on the screen."""

    def __init__(
        self, app: App[Any], settings: Settings, roster: Roster | None, initial_states: Callable[[], InitialStates]
    ) -> None:
        self._app = app
        self._settings = settings
        self._roster = roster
        self._initial_states = initial_states
        self._watch: FleetWatch | None = None
        self._limits = Limits.of(settings)
        self._rows: tuple[FleetRow, ...] = ()
        self._now = 0.0

    def begin(self) -> None:
        """Watch from now on, unless the fleet does already."""
        if self._watch is None:
            self.start("needing")

    def start(self, scope: Scope) -> None:
        """Search at once and watch until stopped."""
        from core.live.fleet.roster import FleetWatch, Roster

        if self._watch is None:
            roster = self._roster or Roster(self._settings, os.environ, Path.home())
            roster.initial_states = self._initial_states()
            self._watch = FleetWatch(roster, lambda rows, now: self._app.post_message(SessionsSeen(rows, now)))
        self._watch.stop()
        self._watch.start(scope)

    def stop(self) -> None:
        """Let the thread end."""
        if self._watch is not None:
            self._watch.stop()

    def take(self, rows: Sequence[FleetRow], now: float) -> None:
        """Store all sessions' statuses at a moment, and let the next ones come."""
        self._rows, self._now = tuple(rows), now
        if self._watch is not None:
            self._watch.mark_shown()

    def needing(self, view: View | None, board: HookBoard) -> list[FleetRow]:
        """Return the other sessions that need the person, the longest wait first."""
        return [row for row in self._needing(board) if self._is_other(row, view)]

    def next_needing(self, view: View | None, board: HookBoard) -> FleetRow | None:
        """Return the session after the one on the screen among those that need the person, in a circle."""
        needing = self._needing(board)
        places = [number for number, row in enumerate(needing) if not self._is_other(row, view)]
        others = needing[places[0] + 1 :] + needing[: places[0]] if places else needing
        return others[0] if others else None

    def _needing(self, board: HookBoard) -> list[FleetRow]:
        rows = [row.with_hooks(board, self._now, self._limits) for row in self._rows]
        needing = [row for row in rows if row.status.level == 3 and not row.status.stale]
        return sorted(needing, key=lambda row: row.status.urgency)

    def newer(self, view: View | None) -> FleetRow | None:
        """A session that works in the same folder while the one on the screen rests."""
        if view is None or view.status is None or not view.status.at_rest or not view.subject.project:
            return None
        active = ("working", "looping", "stuck", "needs you", "may need you")
        later = [row for row in self._rows if row.facts.heard > view.end and row.status.word in active]
        here = [row for row in later if row.project == view.subject.project and self._is_other(row, view)]
        return max(here, key=lambda row: row.facts.heard, default=None)

    def shown_in(self, view: View, board: HookBoard) -> View:
        """Return a view with the number of others that need the person, and the one that works here now."""
        newer = self.newer(view) if view.mode == "live" else None
        newcomer = "" if newer is None else f"{newer.agent} {newer.status.word}"
        return replace(view, others=len(self.needing(view, board)), newer=newcomer)

    @staticmethod
    def _is_other(row: FleetRow, view: View | None) -> bool:
        return view is None or (row.session != view.subject.session and row.path not in view.logs)
