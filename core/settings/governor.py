"""Settings of core/governor."""

from __future__ import annotations

from core.settings.tunable import Group


class GovernorSettings(Group):
    """Settings of core/governor."""
