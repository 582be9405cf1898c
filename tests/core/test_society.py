"""The society of one session: routing, delegation, contagion, bounds, and going on from a dump."""

from __future__ import annotations

from pathlib import Path

import cbor2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.agents.registry import make_kit
from core.engine.affect.fields import FIELDS
from core.engine.affect.lineage import describe_entry
from core.engine.society import Society
from core.engine.society.engine import Engine
from core.errors import StateError
from core.events import AgentEnd, AgentStart, Event, Prompt, ToolUse
from core.logs.finder import sessions
from core.logs.session import read_session
from core.settings import Settings
from tests.core.strategies import START, events

SETTINGS = Settings()
RISK = FIELDS.index("risk_sensitivity")
AGENTS = ("main", "child-1", "child-2", "child-3", "child-5", "")
SMALL = Settings.parse(
    {"affect": {"contagion": {"every": 3, "paths": 16}, "society": {"finished": 1, "awake": 3, "summaries": 2}}}
)


def fail(agent: str, at: float) -> ToolUse:
    return ToolUse(at=at, agent=agent, action="shell_exec", tool="Bash", purpose="test", outcome="failure")


def read_file(agent: str, at: float, path: str = "a.py") -> ToolUse:
    return ToolUse(at=at, agent=agent, action="file_read", tool="Read", targets=(path,))


def start(child: str, at: float, parent: str = "main") -> AgentStart:
    return AgentStart(at=at, agent=parent, child=child, role="explorer")


def wear(society: Society, agent: str, since: float, count: int = 12) -> float:
    for step in range(count):
        society.step(fail(agent, since + step * 20.0))
    return since + count * 20.0


def packed(society: Society) -> bytes:
    return cbor2.dumps(society.dump(), canonical=True)


def acts(society: Society, agent: str) -> list[tuple[str, str]]:
    entries = society.engine(agent).affect.lineage.entries
    return [(entry.act, entry.source) for entry in map(describe_entry, entries) if entry.act != "observed"]


def test_one_agent_alone_is_its_engine() -> None:
    society, engine = Society(SETTINGS), Engine(SETTINGS)
    for step in range(200):
        event = fail("main", START + step * 7.0) if step % 3 else read_file("main", START + step * 7.0)
        assert society.step(event) == engine.step(event)
    assert society.frame() == engine.frame() == society.frame("main")
    assert society.frame(at=START + 5000) == engine.frame(START + 5000)


def test_each_agent_has_its_own_mind() -> None:
    society = Society(SETTINGS)
    society.step(start("scout", START))
    wear(society, "scout", START + 1)
    assert society.frame("scout").events == 12
    assert society.frame("main").events == 1
    scout, main = (society.engine(name).affect.deviations[RISK] for name in ("scout", "main"))
    assert 0.0 <= main < scout / 2
    with pytest.raises(KeyError):
        society.frame("nobody")


def test_a_sub_agent_inherits_and_reports_back_in_both_lineages() -> None:
    society = Society(SETTINGS)
    now = wear(society, "main", START)
    worn = society.engine("main").affect.deviations[RISK]
    assert worn > 0.2
    society.step(start("scout", now))
    assert 0.0 < society.engine("scout").affect.deviations[RISK] < worn
    assert acts(society, "scout")[0] == ("inherited", "main")
    assert acts(society, "main")[-1] == ("bequeathed", "scout")
    society.step(read_file("scout", now + 1))
    society.step(AgentEnd(at=now + 2, agent="main", child="scout", outcome="pending"))
    assert acts(society, "main")[-1] == ("returned", "scout")
    assert acts(society, "scout")[-1] == ("reported", "main")
    (main, scout) = society.read().agents
    assert (main.name, main.depth, main.ended) == ("main", 0, None)
    assert (scout.name, scout.parent, scout.role, scout.depth) == ("scout", "main", "explorer", 1)
    assert (scout.started, scout.ended, scout.outcome, scout.events) == (now, now + 2, "pending", 1)


def test_a_sub_agent_that_did_nothing_returns_nothing() -> None:
    society = Society(SETTINGS)
    now = wear(society, "main", START)
    society.step(start("scout", now))
    society.step(AgentEnd(at=now + 2, agent="main", child="scout", outcome="pending"))
    assert ("returned", "scout") not in acts(society, "main")


def test_inheritance_ends_at_the_depth_limit() -> None:
    society = Society(SETTINGS)
    now = wear(society, "main", START)
    parent = "main"
    for depth in range(1, 6):
        society.step(start(f"d{depth}", now, parent))
        parent = f"d{depth}"
    limit = SETTINGS.affect.inheritance.depth
    for depth in range(1, 6):
        assert bool(acts(society, f"d{depth}")[:1] == [("inherited", society.read().agents[depth].parent)]) is (
            depth <= limit
        )
    assert [agent.depth for agent in society.read().agents] == list(range(6))


def test_a_quarantined_parent_hands_nothing_on() -> None:
    rules = Settings.parse({"affect": {"quarantine": {"enter": 0.06}}})
    society = Society(rules)
    now = START
    for step in range(60):
        now += 1.0
        outcome = "success" if step % 5 > 2 else "failure"
        society.step(ToolUse(at=now, action="shell_exec", purpose="test", outcome=outcome))  # type: ignore[arg-type]
    assert society.engine("main").affect.quarantined
    assert society.read().quarantined == ("main",)
    society.step(start("scout", now))
    for step in range(rules.affect.contagion.every * 2):
        society.step(read_file("scout", now + step * 0.01))
    assert society.read().rounds > 2
    assert acts(society, "scout") == []
    assert society.engine("scout").affect.deviations[RISK] <= 0.0


@pytest.mark.parametrize(("path", "met"), [("a.py", True), ("b.py", False)])
def test_agents_that_touch_the_same_file_move_each_other(path: str, met: bool) -> None:
    rules = Settings.parse({"affect": {"contagion": {"every": 8, "gap": 0.0}}})
    society = Society(rules)
    now = wear(society, "left", START, 22)
    society.step(read_file("left", now, "a.py"))
    society.step(read_file("right", now, path))
    for _ in range(8):
        society.step(Prompt(at=now, agent="idle", characters=3))
    assert (("exposed", "left") in acts(society, "right")) is met
    assert acts(society, "idle") == []


def test_the_main_agent_is_heard_by_all_and_a_parent_by_its_own() -> None:
    rules = Settings.parse({"affect": {"contagion": {"every": 20, "gap": 0.0}}})
    society = Society(rules)
    society.step(start("child", START))
    society.step(start("grandchild", START, "child"))
    now = wear(society, "main", START + 1, 38)
    society.step(read_file("stray", now))
    for step in range(20):
        society.step(read_file("grandchild", now + step))
    for agent in ("child", "grandchild", "stray"):
        assert ("exposed", "main") in acts(society, agent), agent
    first = [
        entry for entry in map(describe_entry, society.engine("child").affect.lineage.entries) if entry.act == "exposed"
    ]
    assert first[0].partner


def test_finished_agents_are_summed_up_after_a_while() -> None:
    society = Society(SETTINGS)
    kept = SETTINGS.affect.society.finished
    for number in range(kept + 3):
        society.step(start(f"a{number}", START + number))
        society.step(read_file(f"a{number}", START + number))
        society.step(AgentEnd(at=START + number, agent="main", child=f"a{number}"))
    assert society.agents == ("main", *(f"a{number}" for number in range(3, kept + 3)))
    reading = society.read()
    assert (reading.running, reading.finished, reading.forgotten) == (1, kept + 3, 0)
    asleep = [agent for agent in reading.agents if not agent.awake]
    assert [agent.name for agent in asleep] == ["a0", "a1", "a2"]
    assert all(agent.events == 1 and agent.outcome == "success" for agent in asleep)
    society.step(read_file("a0", START + 100))
    woken = {agent.name: agent for agent in society.read().agents}["a0"]
    assert (woken.awake, woken.events, woken.parent) == (True, 2, "main")


def test_room_is_made_for_a_new_agent() -> None:
    society = Society(SMALL)
    for number in range(10):
        society.step(read_file(f"a{number}", START + number))
    assert society.agents == ("main", "a8", "a9")
    assert [agent.name for agent in society.read().agents if not agent.awake] == ["a6", "a7"]
    society.step(read_file("a8", START + 20))
    society.step(read_file("b", START + 21))
    assert society.agents == ("main", "a8", "b"), "who was still for longest goes first"


@pytest.mark.parametrize(
    "stream",
    [
        [AgentEnd(at=START, child="ghost"), AgentEnd(at=START, child="ghost")],
        [start("main", START)],
        [start("x", START, "x")],
        [start("x", START), start("main", START, "x"), start("x", START, "x")],
        [start("y", START, "x"), start("x", START, "y"), AgentEnd(at=START, agent="y", child="x")],
        [start("x", START), start("x", START, "z"), start("z", START, "x"), AgentEnd(at=START, agent="z", child="x")],
        [AgentEnd(at=START, agent="x", child="main"), AgentEnd(at=START, agent="x", child="x")],
        [read_file("x", START), AgentEnd(at=START, child="x"), read_file("x", START), start("x", START)],
    ],
)
def test_odd_starts_and_ends_do_no_harm(stream: list[Event]) -> None:
    society = Society(SETTINGS)
    for event in stream:
        society.step(event)
    reading = society.read()
    assert reading.agents[0].name == "main"
    assert reading.agents[0].parent == ""
    assert len({agent.name for agent in reading.agents}) == len(reading.agents)


def test_an_unseen_sub_agent_is_still_told_of() -> None:
    society = Society(SETTINGS)
    society.step(AgentEnd(at=START, child="ghost", outcome="failure"))
    ghost = society.read().agents[1]
    assert (ghost.name, ghost.parent, ghost.depth, ghost.outcome, ghost.events) == ("ghost", "main", 1, "failure", 0)


@given(events(70, agents=AGENTS, backwards=True), st.integers(0, 69), st.sampled_from((SETTINGS, SMALL)))
@settings(max_examples=40)
def test_a_dump_goes_on_exactly_and_runs_are_equal(stream: list[Event], cut: int, rules: Settings) -> None:
    whole, twin = Society(rules, seed=7), Society(rules, seed=7)
    for event in stream[:cut]:
        assert whole.step(event) == twin.step(event)
    saved = packed(whole)
    again = Society(rules, seed=7)
    again.load(cbor2.loads(saved))
    assert packed(again) == saved
    assert again.read() == whole.read()
    assert packed(whole) == saved
    for event in stream[cut:]:
        assert again.step(event) == whole.step(event) == twin.step(event)
    assert packed(again) == packed(whole) == packed(twin)


@given(events(70, agents=AGENTS))
@settings(max_examples=30)
def test_any_stream_keeps_the_bounds(stream: list[Event]) -> None:
    society = Society(SMALL)
    for event in stream:
        society.step(event)
        assert len(society.agents) <= 3
        assert "main" in society.agents
        for name in society.agents:
            affect = society.engine(name).affect
            assert affect.lineage.verify() is None
            assert all(f.floor <= f.magnitude <= f.ceiling for f in affect.read().fields)
    reading = society.read()
    assert sum(1 for agent in reading.agents if not agent.awake) <= 2
    names = [agent.name for agent in reading.agents]
    assert sorted(names) == sorted(set(names))
    for agent in reading.agents:
        if agent.parent and agent.parent in names:
            assert names.index(agent.parent) < names.index(agent.name)


def test_a_foreign_dump_is_refused() -> None:
    with pytest.raises(StateError, match="version"):
        Society(SETTINGS).load({"version": 99})


def test_a_real_session_with_sub_agents(shared_data: Path) -> None:
    folder = shared_data / "real_sessions" / "claude-code"
    kit = make_kit()
    quarantines = delegated = 0
    for session in sessions([folder], kit):
        society = Society(SETTINGS)
        for event in read_session(session, kit):
            society.step(event)
        reading = society.read()
        quarantines += sum(agent.quarantines for agent in reading.agents)
        delegated += sum(1 for agent in reading.agents if agent.parent and agent.events)
        for name in society.agents:
            assert society.engine(name).affect.lineage.verify() is None
    assert delegated >= 5, "their sub-agents are known by their parents"
    assert quarantines == 0, "ordinary work is no reason for quarantine"


@pytest.mark.parametrize("every", [1, 3, 8])
def test_rounds_come_with_every_so_many_events_and_not_one_sooner(every: int) -> None:
    society = Society(Settings.parse({"affect": {"contagion": {"every": every}}}))
    for count in range(1, 3 * every + 2):
        agent = "main" if count % 2 else "child"
        society.step(read_file(agent, START + count, f"{agent}.py"))
        assert society.read().rounds == count // every


def test_a_round_comes_when_agents_start_end_or_touch_the_same_file() -> None:
    society = Society(Settings.parse({"affect": {"contagion": {"every": 1000}}}))
    events = (
        (start("scout", START), 1),
        (read_file("scout", START + 1, "a.py"), 1),
        (read_file("main", START + 2, "b.py"), 1),
        (read_file("main", START + 3, "a.py"), 2),
        (AgentEnd(at=START + 4, agent="main", child="scout", outcome="success"), 3),
    )
    for event, rounds in events:
        society.step(event)
        assert society.read().rounds == rounds


@given(st.lists(st.sampled_from(AGENTS), max_size=40), st.data())
def test_who_was_still_for_longest_is_known_without_looking(names: list[str], data: st.DataObject) -> None:
    society = Society(SMALL)
    for step, name in enumerate(names):
        child = data.draw(st.sampled_from([None, *AGENTS]))
        event = read_file(name, START + step) if child is None else start(child, START + step, name)
        society.step(event)
        if data.draw(st.booleans()):
            society, before = Society(SMALL), society
            society.load(before.dump())
        awake = society._agents.awake
        assert list(society._agents.order) == sorted(awake, key=lambda one: awake[one].last)
