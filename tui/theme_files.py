"""The themes the app can take: ours, and the person's own files, looked at again when one changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from textual.app import App
from textual.theme import BUILTIN_THEMES

from themes import unknown_theme
from themes.user_themes import UserThemes

THEMES_EVERY = 2.0
"""Seconds between two looks at the person's themes."""
_USUAL = "nocturne"
_TOLD = 3
"""Faults that are told one by one."""


class ThemeFiles:
    """Registers themes with the app; a broken file is told once, and the last good theme stays."""

    def __init__(self, app: App[Any], folder: Path, complain: Callable[[str], object]) -> None:
        self._app = app
        self._files = UserThemes(folder)
        self._complain = complain

    def begin(self, wanted: str) -> None:
        """Register all themes and take the one that is wanted."""
        complaints = self._register() or ()
        if wanted not in self._app.available_themes:
            own = set(self._app.available_themes) - set(BUILTIN_THEMES)
            complaints = (f"{unknown_theme(wanted, own, ())}; ctrl+p, then Theme, lists all", *complaints)
            wanted = _USUAL
        self._app.theme = wanted
        self._tell(complaints)

    def look(self) -> None:
        """Take in what changed since the last look."""
        complaints = self._register()
        if complaints is not None:
            self._app._watch_theme(self._app.theme)
            self._tell(complaints)

    def _tell(self, complaints: tuple[str, ...]) -> None:
        """The first of them in one notice, which must leave room for others on a small screen."""
        if complaints:
            more = len(complaints) - _TOLD
            rest = [f"and {more} more: nooscope doctor names them"] if more > 0 else []
            self._complain("\n".join([*complaints[:_TOLD], *rest]))

    def _register(self) -> tuple[str, ...] | None:
        """What is wrong with the files; None where none of them changed."""
        loaded = self._files.look()
        if loaded is None:
            return None
        for theme in loaded.themes:
            self._app.register_theme(theme)
        return loaded.complaints
