"""SWE-agent: its format; it has no usual place on disk."""

from __future__ import annotations

from core.agents.swe_agent.reader import FORMATS
from core.logs.agent import Agent, Location, nowhere

AGENT = Agent(
    "swe-agent", "SWE-agent", FORMATS, Location(nowhere, (), (b'"observation":', b'"observation":'))
)
