"""SWE-agent: its format; it has no usual place on disk."""

from __future__ import annotations

from core.logs.agent import Agent, Location, nowhere
from core.logs.later import FormatsLater

AGENT = Agent(
    "swe-agent",
    "SWE-agent",
    FormatsLater("core.agents.swe_agent.reader"),
    Location(nowhere, (), (b'"observation":', b'"observation":')),
)
