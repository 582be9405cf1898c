"""Which screens there are, and how one goes to each and comes back."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual.app import App

from core.settings.screen import ScreenSettings
from tui.screens.main import MainScreen
from tui.widgets.common.panel import Panel

if TYPE_CHECKING:
    from tui.screens.fleet import FleetScreen

_SCREENS = {
    "transcript": ("tui.screens.transcript", "TranscriptScreen"),
    "changes": ("tui.screens.changes", "ChangesScreen"),
    "agents": ("tui.screens.agents", "AgentsScreen"),
    "mind": ("tui.screens.model", "MindScreen"),
    "governor": ("tui.screens.model", "GovernorScreen"),
    "affect": ("tui.screens.model", "AffectScreen"),
    "response": ("tui.screens.model", "ResponseScreen"),
    "recap": ("tui.screens.recap", "RecapScreen"),
    "branches": ("tui.screens.branches", "BranchScreen"),
    "tuning": ("tui.screens.bench", "TuningScreen"),
    "extensions": ("tui.screens.agents", "ExtensionsScreen"),
    "help": ("tui.screens.help", "HelpScreen"),
}
_FLEET = "fleet"


class ScreenSwitcher:
    """Imports a screen when it is first wanted; `bind` ties a screen's or the bench's data to the app's."""

    def __init__(
        self,
        app: App[Any],
        bind: Callable[[Any], Any],
        make_fleet: Callable[[], FleetScreen],
        settings: Callable[[], ScreenSettings],
    ) -> None:
        self._app = app
        self._bind = bind
        self._settings = settings
        self._make_fleet = make_fleet

    def toggle(self, name: str, *args: object, **options: object) -> None:
        """Open one of the screens over the main one, or leave it if it is open."""
        module, kind = _SCREENS[name]
        make = getattr(importlib.import_module(module), kind)
        if isinstance(self._app.screen, make):
            self._app.screen.dismiss()
        else:
            self._app.push_screen(self._bind(make(*args, settings=self._settings(), **options)))

    def to_main(self) -> None:
        """Leave all screens over the main one."""
        while len(self._app.screen_stack) > 1:
            self._app.pop_screen()

    def to_panel(self, panel: Panel) -> None:
        """Go back to the main screen and focus one of its panels."""
        self.to_main()
        panel.focus()

    @property
    def fleet(self) -> FleetScreen | None:
        """The list of all sessions, once it was opened."""
        if not self._app.is_screen_installed(_FLEET):
            return None
        from tui.screens.fleet import FleetScreen

        return self._app.get_screen(_FLEET, FleetScreen)

    def to_fleet(self) -> FleetScreen:
        """Open the list of all sessions; if it is open already, leave the screens over it."""
        fleet = self.fleet
        if fleet is None:
            fleet = self._make_fleet()
            self._app.install_screen(fleet, _FLEET)
        if fleet not in self._app.screen_stack:
            self._app.push_screen(_FLEET)
        while self._app.screen is not fleet:
            self._app.pop_screen()
        return fleet

    def tune_beside(self) -> None:
        """Move the bench beside the main screen, or onto a screen of its own."""
        from tui.screens.bench import Bench, TuningScreen

        main = self._app.screen_stack[0]
        if self._app.screen is main and main.query(Bench):
            main.leave_beside() if isinstance(main, MainScreen) else None
            self.toggle("tuning")
        elif isinstance(self._app.screen, TuningScreen) and not main.has_class("-narrow"):
            self.to_main()
            main.mount(self._bind(Bench(classes="-side")))
        else:
            self._app.notify("the terminal is too narrow for the bench beside the panels")
