"""The minds of one session: the main agent's and its sub-agents', and what passes between them."""

from __future__ import annotations

from core.engine.society.reading import AgentReading as AgentReading
from core.engine.society.reading import SocietyReading as SocietyReading
from core.engine.society.society import EngineMaker as EngineMaker
from core.engine.society.society import Society as Society
