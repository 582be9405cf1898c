"""How a log of Claude Code is recognised."""

from __future__ import annotations

from core.logs.format import Sample

_ASIDE = (("file-history-snapshot", "snapshot"), ("summary", "leafUuid"), ("queue-operation", "sessionId"))
"""Kinds of lines that may come first, and a field only Claude Code's have."""


def sniff(sample: Sample) -> int:
    """How surely a log is Claude Code's."""
    best = 0
    for record in sample.records:
        if record.get("type") in ("user", "assistant", "system", "progress") and "sessionId" in record:
            return 100 if "parentUuid" in record and "isSidechain" in record else 80
        for kind, field in _ASIDE:
            if record.get("type") == kind and field in record:
                best = 60
    return best
