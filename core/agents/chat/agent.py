"""Chat completions: its format; it has no usual place on disk."""

from __future__ import annotations

from core.agents.chat.reader import FORMATS
from core.logs.agent import Agent

AGENT = Agent("chat", "Chat completions", FORMATS, general=True)
