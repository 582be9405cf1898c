"""What the agents of a session are called on the screen, and how many are at work."""

from __future__ import annotations

from collections.abc import Mapping

from core.report.agents import agent_names
from tui.feed.view import View


def names_of(view: View) -> Mapping[str, str]:
    """What each agent is called, the same at every place of the recording."""
    return view.names or agent_names(view.people.agents)


def running_agents(view: View) -> int:
    """How many agents are at work; nobody is while the session rests, or before it began."""
    status = view.status
    idle = status is not None and (status.at_rest or not view.index)
    return 0 if idle else view.people.running
