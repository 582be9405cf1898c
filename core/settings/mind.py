"""Settings of core/mind."""

from __future__ import annotations

from core.settings.tunable import Group


class MindSettings(Group):
    """Settings of core/mind."""
