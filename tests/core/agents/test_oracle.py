"""On every real log the readers agree with a count that shares no code with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core.agents.registry import AGENTS
from core.events import MAIN, AgentStart, Compaction, ToolUse, Turn
from core.logs.format import Sample, recognise
from tests.core.agents import oracle
from tests.core.agents.oracle import Tally
from tests.core.agents.samples import feed, new_kit, uses

_ROOT = Path(__file__).resolve().parents[4] / "shared" / "data" / "real_sessions"
_ORACLES: dict[str, Callable[[Path], Tally]] = {"claude-code": oracle.claude_code, "codex": oracle.codex}
_FILES = [
    pytest.param(agent, path, id=f"{agent}/{path.name}")
    for agent in _ORACLES
    for path in sorted((_ROOT / agent).rglob("*.jsonl"))
]


@pytest.fixture(autouse=True)
def _flags_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A naive count knows a failure by the log's flag; failures that a pipe hides have tests of their own."""
    monkeypatch.setattr("core.agents.calls._hides_failure", lambda *_: False)


@pytest.mark.parametrize(("agent", "path"), _FILES)
def test_the_readers_agree_with_a_naive_count(agent: str, path: Path) -> None:
    """Tool uses, failures, calls without a result, sub-agents, compactions, turns and tokens."""
    data = path.read_bytes()
    found = recognise(Sample(data[:65536], path), AGENTS)
    assert found is not None
    assert found.name == agent
    owner = path.stem.removeprefix("agent-") if path.parent.name == "subagents" else MAIN
    events = feed(found.reader(new_kit(), agent=owner, session=path.stem), [line for line in data.splitlines() if line])
    calls = uses(events)
    turns = [event for event in events if isinstance(event, Turn) and event.stop != "retry"]
    assert _ORACLES[agent](path) == Tally(
        tool_uses=len(calls),
        failures=sum(use.outcome == "failure" or _found_nothing(agent, use) for use in calls),
        pending=sum(use.outcome == "pending" for use in calls),
        subagents=len({event.child for event in events if isinstance(event, AgentStart)}),
        compactions=sum(isinstance(event, Compaction) for event in events),
        turns=len(turns),
        output_tokens=sum(turn.output_tokens for turn in turns),
    )


def _found_nothing(agent: str, use: ToolUse) -> bool:
    """A search that exits with 1 and says nothing is empty for us and a failure for the naive count."""
    return agent == "codex" and use.outcome == "empty" and bool(use.exit_code)


def test_every_file_of_both_agents_is_compared(shared_data: Path) -> None:
    """A folder that was not found would let everything pass."""
    assert len(_FILES) == sum(len(list((shared_data / "real_sessions" / agent).rglob("*.jsonl"))) for agent in _ORACLES)
    assert len(_FILES) >= 20
