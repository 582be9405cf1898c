"""The minds of one session: the main agent's and its sub-agents', and what passes between them."""

from __future__ import annotations

from core.engine.society.reading import AgentReading as AgentReading, SocietyReading as SocietyReading
from core.engine.society.society import EngineMaker as EngineMaker, Society as Society
