"""On every real log of Droid, Kimi and Crush the readers agree with a naive count."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core.agents.registry import make_kit
from core.events import AgentStart, Compaction, Prompt, SessionStart
from core.logs.finder import sessions
from core.logs.session import read_session
from tests.core.agents import oracle_recent
from tests.core.agents.oracle_more import Count
from tests.core.agents.reading_more import uses
from tests.core.agents.real_logs import FILES

_ORACLES: dict[str, Callable[[Path], Count]] = {
    "droid": oracle_recent.droid,
    "kimi": oracle_recent.kimi,
    "crush": oracle_recent.crush,
}
_FILES = [(agent, path) for path in FILES for agent in path.parts if agent in _ORACLES]


@pytest.mark.parametrize(("agent", "path"), _FILES, ids=lambda value: getattr(value, "name", value))
def test_the_readers_agree_with_a_naive_count(agent: str, path: Path) -> None:
    kit = make_kit()
    [session] = sessions([path], kit)
    assert session.tool == agent
    events = list(read_session(session, kit))
    calls = uses(events)
    assert Count(
        tool_uses=len(calls),
        errors=sum(use.outcome == "failure" for use in calls),
        pending=sum(use.outcome == "pending" for use in calls),
        prompts=sum(isinstance(event, Prompt) and not event.interrupt for event in events),
        subagents=len({event.child for event in events if isinstance(event, AgentStart)}),
        compactions=sum(isinstance(event, Compaction) for event in events),
    ) == _ORACLES[agent](path)
    assert isinstance(events[0], SessionStart)
    assert kit.diagnostics.total == 0


def test_every_agent_is_compared(shared_data: Path) -> None:
    """A folder that was not found would let everything pass."""
    there = {agent for agent in _ORACLES if (shared_data / "real_sessions" / agent).is_dir()}
    assert {agent for agent, _ in _FILES} == there
