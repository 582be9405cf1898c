"""The minds of one session: the main agent's and its sub-agents', and what passes between them."""

from __future__ import annotations

from core.engine.society.readings import AgentReading, SocietyReading
from core.engine.society.session_agents import EngineMaker
from core.engine.society.society import Society

__all__ = ["AgentReading", "EngineMaker", "Society", "SocietyReading"]
