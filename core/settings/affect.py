"""Settings of core/affect."""

from __future__ import annotations

from core.settings.tunable import Group


class AffectSettings(Group):
    """Settings of core/affect."""
