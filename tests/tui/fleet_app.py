"""The app on a fleet, and what tests read off it."""

from __future__ import annotations

from pathlib import Path

from textual.widgets import Static

from core.live.fleet.roster import Roster
from core.live.fleet.row import Order
from core.live.source import Target
from core.settings import Settings
from tests.tui.fleet_sessions import NOW
from tui.app import NooscopeApp
from tui.feed.messages import OpenSession
from tui.screens.fleet import FleetScreen
from tui.widgets.fleet.fleet_table import FleetTable


class FleetApp(NooscopeApp):
    """The app on a fleet; what it is asked to open is noted."""

    def __init__(self, home: Path, settings: Settings, target: Target | None = None, *, grouped: bool = False) -> None:
        fleet = Roster(settings, {}, home, wall=lambda: NOW)
        super().__init__(target, settings, fleet=fleet, theme_folder=home / "themes")
        self.opened: list[OpenSession] = []
        self._grouped = grouped

    def _make_fleet(self) -> FleetScreen:
        screen = super()._make_fleet()
        screen.set_reactive(FleetScreen.order, Order(grouped=self._grouped))
        return screen

    def on_open_session(self, message: OpenSession) -> None:
        self.opened.append(message)


def read(app: NooscopeApp, count: int) -> bool:
    screen = app.screen
    return (
        isinstance(screen, FleetScreen)
        and len(screen.rows) == count
        and all(not row.status.reading for row in screen.rows)
        and app.focused is not None
    )


def table(app: NooscopeApp) -> FleetTable:
    return app.screen.query_one(FleetTable)


def names(app: NooscopeApp) -> list[str]:
    return [item.name for item in table(app).items]


def seen(app: NooscopeApp) -> list[str]:
    """The lines of the table."""
    return [table(app).render_line(y).text.rstrip() for y in range(table(app).size.height)]


def said(app: NooscopeApp, name: str) -> str:
    return str(app.screen.query_one(f"#{name}", Static).content)
