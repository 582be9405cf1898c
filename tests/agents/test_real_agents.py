"""What nooscope reads of the real agents, while they work and afterwards."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.agents.registry import make_kit
from core.events import AgentEnd, AgentStart, Compaction, Event, Prompt, SessionStart, ToolUse, Turn
from core.logs.finder import sessions
from core.logs.follow import Follower, watch
from core.logs.session import read_session
from tests.agents.fake_model import Answer, FakeModel, say, use
from tests.agents.programs import LONGEST, Agent, Claude, Cline, Codex, OpenCode, Pi, Qwen, end

AGENTS: tuple[type[Agent], ...] = (Claude, Codex, OpenCode, Qwen, Pi, Cline)
_SOON = 60.0
"""Seconds in which what an agent wrote must have been read."""
_NAMES = {Claude: "claude-code", Codex: "codex", OpenCode: "opencode", Qwen: "qwen", Pi: "pi", Cline: "cline"}


def run(kind: type[Agent], command: str, **more: Any) -> Answer:
    """A shell command, in the agent's own words."""
    known: dict[type[Agent], tuple[str, dict[str, Any]]] = {
        Claude: ("Bash", {"command": command, "description": "x"}),
        Codex: ("exec_command", {"cmd": command}),
        OpenCode: ("bash", {"command": command, "description": "x"}),
        Qwen: ("run_shell_command", {"command": command, "is_background": False, "description": "x"}),
        Pi: ("bash", {"command": command}),
        Cline: ("run_commands", {"commands": [command]}),
    }
    tool, given = known[kind]
    return Answer(tool=tool, given=given, **more)


def write(kind: type[Agent], path: Path, text: str) -> Answer:
    """A new file, in the agent's own words."""
    if kind is Claude:
        return use("Write", file_path=str(path), content=text)
    if kind is OpenCode:
        return use("write", filePath=str(path), content=text)
    if kind is Qwen:
        return use("write_file", file_path=str(path), content=text)
    if kind is Pi:
        return use("write", path=path.name, content=text)
    if kind is Cline:
        return use("editor", path=str(path), new_text=text)
    patch = f"*** Begin Patch\n*** Add File: {path.name}\n+{text}\n*** End Patch"
    return run(kind, f"apply_patch <<'EOF'\n{patch}\nEOF")


def ends(kind: type[Agent], text: str, **more: Any) -> list[Answer]:
    """The last words of a story, at least ten characters; Cline has a tool for them, which refuses fewer."""
    if kind is Cline:
        given = {"summary": text, "verified": True}
        return [Answer(tool="submit_and_exit", given=given, **more)]
    return [say(text, **more)]


def read_back(agent: Agent) -> list[Event]:
    """The events of the one session an agent wrote, in which nothing was unreadable."""
    kit = make_kit()
    (session,) = sessions(agent.logs(), kit)
    events = list(read_session(session, kit))
    assert kit.diagnostics.counts == {}
    return events


def only(events: list[Event], kind: type[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def until(follower: Follower, enough: Callable[[list[Event]], bool]) -> list[Event]:
    """What is told while the agent works, until it is enough or has taken too long."""
    stop = threading.Event()
    late = threading.Timer(_SOON, stop.set)
    late.start()
    seen: list[Event] = []
    try:
        for batch in watch(follower, stop):
            seen += batch
            if enough(seen):
                break
    finally:
        late.cancel()
    return seen


@pytest.mark.parametrize("kind", AGENTS)
def test_failures_an_edit_and_success(kind: type[Agent], tmp_path: Path) -> None:
    """One prompt, each call with its outcome, a turn an answer, and a question at the end."""
    story = [
        run(kind, "python3 missing.py"),
        run(kind, "python3 missing.py"),
        write(kind, tmp_path / "project" / "found.py", "print(1)"),
        run(kind, "python3 found.py"),
        *ends(kind, "It works. Shall I go on?"),
    ]
    with FakeModel({"make it work": story}) as model:
        agent = kind(tmp_path, model.url)
        agent.run("make it work")
    events = read_back(agent)
    (start,) = only(events, SessionStart)
    assert (start.tool, Path(start.project).name) == (_NAMES[kind], "project")
    assert len(only(events, Prompt)) == 1
    calls = [call for call in only(events, ToolUse) if call.tool != "submit_and_exit"]
    assert [(call.action, call.outcome) for call in calls] == [
        ("shell_exec", "failure"),
        ("shell_exec", "failure"),
        ("file_edit", "success"),
        ("shell_exec", "success"),
    ]
    assert [call.exit_code for call in calls[:2]] == [2, 2]
    assert calls[0].call == calls[1].call and calls[2].targets == ("found.py",)
    turns = [turn for turn in only(events, Turn) if not turn.only_ends]
    assert len(turns) == 5 and {turn.context_tokens for turn in turns} == {1200}
    assert (turns[0].cost is None) is (kind not in (Claude, Codex))
    assert all(turn.context_window > 0 for turn in turns)


@pytest.mark.parametrize("kind", AGENTS)
def test_what_is_read_while_the_agent_works(kind: type[Agent], tmp_path: Path) -> None:
    """Calls are told as they end; followed to its end, the log is what it is read afterwards."""
    story = [run(kind, "python3 missing.py"), run(kind, "ls /"), *ends(kind, "That was all.", held=True)]
    with FakeModel({"make it work": story}) as model:
        agent = kind(tmp_path, model.url)
        running = agent.start("make it work")
        try:
            assert model.waiting.wait(LONGEST)
            follower = Follower(agent.logs()[0], make_kit())
            seen = until(follower, lambda told: len(only(told, ToolUse)) == 2)
            assert [call.outcome for call in only(seen, ToolUse)] == ["failure", "success"]
            assert len(only(seen, Prompt)) == 1 and running.poll() is None
            model.go()
            agent.finish(running)
        finally:
            end(running)
    for batch in follower.drain():
        seen += batch
    seen += follower.finish()
    assert Counter(map(type, seen)) == Counter(map(type, read_back(agent)))
    assert follower.in_flight() == []


_HANDED: dict[type[Agent], tuple[str, dict[str, Any]]] = {
    Claude: ("Agent", {"subagent_type": "general-purpose", "description": "look"}),
    Codex: ("collaboration.spawn_agent", {"task_name": "look", "fork_turns": "none"}),
    OpenCode: ("task", {"subagent_type": "general", "description": "look"}),
    Qwen: ("agent", {"subagent_type": "general-purpose", "description": "look"}),
}
"""How each hands a task over."""


@pytest.mark.parametrize("kind", list(_HANDED))
def test_a_sub_agent(kind: type[Agent], tmp_path: Path) -> None:
    """It starts, works under its own name, and ends; of its deeds Qwen Code's log tells nothing."""
    tool, given = _HANDED[kind]
    waits = [use("collaboration.wait_agent", timeout_ms=60_000)] if kind is Codex else []
    named = "NEW_TASK\nTask name: /root/look" if kind is Codex else "look around"
    stories = {
        "hand it over": [
            Answer(tool=tool, given={**given, "message" if kind is Codex else "prompt": "look around please"}),
            *waits,
            say("all done"),
        ],
        named: [run(kind, "ls /"), run(kind, "cat nothing"), say("I saw it")],
    }
    with FakeModel(stories) as model:
        agent = kind(tmp_path, model.url)
        agent.run("hand it over", *(("--enable", "multi_agent_v2") if kind is Codex else ()))
    events = read_back(agent)
    (started,), (ended,) = only(events, AgentStart), only(events, AgentEnd)
    assert started.child == ended.child and ended.outcome == "success"
    outcomes = {(call.agent, call.outcome) for call in only(events, ToolUse)}
    deeds = {(started.child, "success"), (started.child, "failure")} if kind is not Qwen else set()
    assert outcomes == {("main", "success"), *deeds}
    assert len(only(events, Prompt)) == 1


@pytest.mark.parametrize("kind", [Codex, OpenCode])
def test_a_compaction(kind: type[Agent], tmp_path: Path) -> None:
    """Where the context is said to be nearly full, it is summarised, once."""
    with FakeModel({"make it work": [run(kind, "ls /", tokens=39_000), say("It works.")]}) as model:
        agent = kind(tmp_path, model.url)
        if isinstance(agent, Codex):
            agent.settings = "model_auto_compact_token_limit = 20000"
        agent.run("make it work")
    events = read_back(agent)
    assert len(only(events, Compaction)) == 1 and len(only(events, Prompt)) == 1
    assert [call.outcome for call in only(events, ToolUse)] == ["success"]


def test_a_compaction_by_command(tmp_path: Path) -> None:
    """Claude Code is asked for one, in a session that goes on."""
    with FakeModel({"make it work": [run(Claude, "ls /"), say("It works.")]}) as model:
        agent = Claude(tmp_path, model.url)
        agent.run("make it work")
        agent.run("/compact", "--continue")
    events = read_back(agent)
    (compaction,) = only(events, Compaction)
    assert compaction.trigger == "manual" and len(only(events, Prompt)) == 1
