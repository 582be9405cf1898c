"""Settings of core/ingest."""

from __future__ import annotations

from core.settings.tunable import Group


class IngestSettings(Group):
    """Settings of core/ingest."""
