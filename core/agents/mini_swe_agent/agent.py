"""mini-swe-agent: its format; it has no usual place on disk."""

from __future__ import annotations

from core.logs.agent import Agent, Location, nowhere
from core.logs.later import FormatsLater

AGENT = Agent(
    "mini-swe-agent",
    "mini-swe-agent",
    FormatsLater("core.agents.mini_swe_agent.reader"),
    Location(nowhere, (), (b'"role":"user"', b'"role":"user"', b'"role":"tool"', b'"role":"tool"')),
)
