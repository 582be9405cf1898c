"""What agents are called: by what they are for, in the order in which they started."""

from __future__ import annotations

from core.engine.society import AgentReading
from core.events import ToolUse
from core.report.agents import AgentLedger, agent_names


def reading(name: str, role: str, started: float | None) -> AgentReading:
    return AgentReading(name, "main", role, 1, started, None, "", 0, False, 0, (), True)


def test_one_that_is_listed_first_because_it_ended_keeps_its_number() -> None:
    main, first, second = reading("main", "", None), reading("a1", "poet", 1.0), reading("a2", "poet", 2.0)
    names = {"main": "main", "a1": "poet 1", "a2": "poet 2"}
    assert agent_names([main, first, second]) == names
    assert agent_names([second, main, first]) == names


def test_one_of_its_kind_has_no_number_and_one_without_a_kind_is_a_sub_agent() -> None:
    agents = [reading("main", "", None), reading("a1", "poet", 1.0), reading("a2", "", None)]
    assert agent_names(agents) == {"main": "main", "a1": "poet", "a2": "sub-agent"}


def test_a_call_that_was_never_answered_is_not_what_was_done_last() -> None:
    asked = ToolUse(at=10.0, tool="edit", outcome="pending")
    done = ToolUse(at=90.0, tool="bash", outcome="success")
    for events in ([asked, done], [done, asked]):
        (one,) = AgentLedger(events).at(2).values()
        assert one.last is done and one.calls == 2
