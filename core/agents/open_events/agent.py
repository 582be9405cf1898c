"""Open event format: its format; it has no usual place on disk."""

from __future__ import annotations

from core.agents.open_events.reader import FORMATS
from core.logs.agent import Agent

AGENT = Agent("nooscope", "Open event format", FORMATS, general=True)
