"""The formats ingest can read."""

from __future__ import annotations

from core.ingest.format import Format, Sample
from core.ingest.formats import (
    chat,
    claude_code,
    codex,
    copilot,
    gemini,
    mini_swe_agent,
    opencode,
    openevents,
    openhands,
    pi,
    swe_agent,
)

FORMATS: tuple[Format, ...] = (
    *claude_code.FORMATS,
    *codex.FORMATS,
    *gemini.FORMATS,
    *opencode.FORMATS,
    *pi.FORMATS,
    *swe_agent.FORMATS,
    *mini_swe_agent.FORMATS,
    *openhands.FORMATS,
    *copilot.FORMATS,
    *openevents.FORMATS,
    *chat.FORMATS,
)


def recognise(sample: Sample) -> Format | None:
    """The format whose content this most surely is, the first of equals; or None."""
    best, score = None, 0
    for known in FORMATS:
        sure = known.sniff(sample)
        if sure > score:
            best, score = known, sure
    return best
