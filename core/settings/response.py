"""Settings of core/response."""

from __future__ import annotations

from core.settings.tunable import Group


class ResponseSettings(Group):
    """Settings of core/response."""
