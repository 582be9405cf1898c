"""mini-swe-agent: its format; it has no usual place on disk."""

from __future__ import annotations

from core.agents.mini_swe_agent.reader import FORMATS
from core.logs.agent import Agent, Location, nowhere

AGENT = Agent(
    "mini-swe-agent",
    "mini-swe-agent",
    FORMATS,
    Location(nowhere, (), (b'"role":"user"', b'"role":"user"', b'"role":"tool"', b'"role":"tool"')),
)
