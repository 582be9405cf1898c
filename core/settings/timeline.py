"""Settings of core/timeline."""

from __future__ import annotations

from core.settings.tunable import Group


class TimelineSettings(Group):
    """Settings of core/timeline."""
