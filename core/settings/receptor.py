"""Settings of core/receptor."""

from __future__ import annotations

from core.settings.tunable import Group


class ReceptorSettings(Group):
    """Settings of core/receptor."""
