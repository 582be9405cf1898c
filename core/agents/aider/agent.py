"""Aider: its chat history, which lies in each project and in no usual place."""

from __future__ import annotations

from core.agents.aider.reader import FORMATS
from core.logs.agent import Agent

AGENT = Agent("aider", "Aider", FORMATS)
