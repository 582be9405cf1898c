"""Aider: its chat history, which lies in each project and in no usual place."""

from __future__ import annotations

from core.logs.agent import Agent, Location, nowhere
from core.logs.later import FormatsLater

AGENT = Agent(
    "aider",
    "Aider",
    FormatsLater("core.agents.aider.reader"),
    Location(
        nowhere,
        (),
        (
            *(b"\n\n#### ", b"\n> Tokens: ", b"\n> Applied edit to ", b"\n> The LLM did not conform"),
            *(b"\n> Added ", b"\n> Running "),
        ),
    ),
)
