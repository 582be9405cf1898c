"""What all agents cost today, summed up beside the screen while a live session is watched under a budget."""

from __future__ import annotations

import time
from typing import Any

from msgspec.structs import replace
from textual.app import App

from core.report.cost import DaySpent
from core.settings import Settings
from tui.feed.messages import DayReckoned
from tui.feed.view import View

DAY_EVERY = 60.0
"""Seconds between two sums."""


class DayBudget:
    """Knows the last sum; None where there is no budget to hold it against."""

    def __init__(self, app: App[Any], *, watching: bool) -> None:
        self._app = app
        self._watching = watching
        self.spent: DaySpent | None = None

    def reckon(self, settings: Settings) -> None:
        """Sum up in a thread; the app is told by message."""
        if not (self._watching and settings.screen.cost.budget):
            self.spent = None
            return

        def work() -> None:
            from core.live.day_cost import day_cost

            self._app.post_message(DayReckoned(day_cost(settings, time.time())))

        self._app.run_worker(work, name="day", group="day", thread=True, exclusive=True)

    def shown_in(self, view: View) -> View:
        """A view that shows the sum."""
        return view if self.spent is None else replace(view, day=self.spent)
