"""The six fields beside affect."""

from __future__ import annotations

from bench.workload import session
from core.engine.society import Society
from core.report.agents import agent_fields
from core.settings import Settings


def test_the_six_fields_follow_the_session() -> None:
    society = Society(Settings())
    names = ("intent", "context", "memory", "policy", "mutation", "lineage")
    first = agent_fields(society.frame())
    assert tuple(one.name for one in first) == names and all(one.words for one in first)
    for event in session(400):
        society.step(event)
    later = agent_fields(society.frame())
    changed = {new.name for old, new in zip(first, later, strict=True) if old.words != new.words}
    assert changed == {"intent", "context", "memory", "mutation", "lineage"}
