"""What the agents of a session are called on the screen, and how many are at work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from core.events import MAIN
from core.report.formatting import plain
from core.society import AgentReading
from tui.feed.view import View


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


def running_agents(view: View) -> int:
    """How many agents are at work; the main one is not while it waits for a prompt."""
    resting = view.status is not None and view.status.at_rest
    return max(0, view.people.running - resting)


def _role(agent: AgentReading) -> str:
    return MAIN if agent.name == MAIN else plain(agent.role, 24) or "sub-agent"
