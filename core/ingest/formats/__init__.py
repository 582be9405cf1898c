"""The formats ingest can read."""

from __future__ import annotations

from core.ingest.format import Format, Sample
from core.ingest.formats import claude_code, codex

FORMATS: tuple[Format, ...] = (*claude_code.FORMATS, *codex.FORMATS)


def recognise(sample: Sample) -> Format | None:
    """The format whose content this most surely is, or None."""
    best, score = None, 0
    for known in FORMATS:
        sure = known.sniff(sample)
        if sure > score:
            best, score = known, sure
    return best
