"""Aider: its chat history, which lies in each project and in no usual place."""

from __future__ import annotations

from core.agents.aider.reader import FORMATS
from core.logs.agent import Agent, Location, nowhere

AGENT = Agent(
    "aider",
    "Aider",
    FORMATS,
    Location(
        nowhere,
        (),
        (
            *(b"\n\n#### ", b"\n> Tokens: ", b"\n> Applied edit to ", b"\n> The LLM did not conform"),
            *(b"\n> Added ", b"\n> Running "),
        ),
    ),
)
