"""Chat completions: its format; it has no usual place on disk."""

from __future__ import annotations

from core.logs.agent import Agent
from core.logs.later import FormatsLater

AGENT = Agent("chat", "Chat completions", FormatsLater("core.agents.chat.reader"), general=True)
