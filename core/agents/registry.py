"""The formats ingest can read."""

from __future__ import annotations

from core.agents.chat import reader as chat
from core.agents.claude_code import reader as claude_code
from core.agents.codex import reader as codex
from core.agents.copilot import reader as copilot
from core.agents.gemini import reader as gemini
from core.agents.mini_swe_agent import reader as mini_swe_agent
from core.agents.open_events import reader as openevents
from core.agents.opencode import reader as opencode
from core.agents.openhands import reader as openhands
from core.agents.pi import reader as pi
from core.agents.swe_agent import reader as swe_agent
from core.logs.format import Format, Sample

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
