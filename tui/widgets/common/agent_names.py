"""What an agent of a session is called on the screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from core.events import MAIN
from core.report.formatting import plain
from core.society import AgentReading


def agent_names(agents: Sequence[AgentReading]) -> dict[str, str]:
    """Every agent by what it is for, numbered where several are for the same."""
    roles = Counter(_role(agent) for agent in agents)
    seen: Counter[str] = Counter()
    names = {}
    for agent in agents:
        role = _role(agent)
        seen[role] += 1
        names[agent.name] = f"{role} {seen[role]}" if roles[role] > 1 else role
    return names


def _role(agent: AgentReading) -> str:
    return MAIN if agent.name == MAIN else plain(agent.role, 24) or "sub-agent"
