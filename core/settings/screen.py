"""Settings of the screen."""

from __future__ import annotations

from core.settings.tunable import Group


class ScreenSettings(Group):
    """Settings of the screen."""
