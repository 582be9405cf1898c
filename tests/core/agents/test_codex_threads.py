"""Codex threads: forks, threads that start threads, and which files belong together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.agents.codex.reader import Codex
from core.agents.codex.threads import thread_files
from core.agents.registry import make_kit
from core.events import AgentEnd, AgentStart, Event, Prompt, SessionStart, Turn
from core.logs.finder import sessions
from tests.core.agents.samples import (
    codex,
    codex_call,
    codex_meta,
    codex_output,
    codex_tokens,
    encoded,
    feed,
    new_kit,
    uses,
)

_OLD = "01990000-0000-7000-8000-000000000000"
_NEW = "019cb000-0000-7000-8000-000000000000"


def _read(*lines: Any, agent: str = "main") -> list[Event]:
    return feed(Codex(new_kit(), agent=agent, session="file"), lines)


def test_a_fork_does_not_tell_its_parents_lines_again() -> None:
    """Copied lines get a new time, but their turns keep the time they ran; totals go on from them."""
    lines = [
        codex_meta(0, _NEW, forked_from_id=_OLD),
        codex_meta(0, _OLD),
        codex("turn_context", 0, turn_id=_OLD, model="gpt-5"),
        codex("event_msg", 0, type="user_message", message="old"),
        codex_call(0, "old", "shell", {"command": "make"}),
        codex_tokens(0, 5000, 0, 70),
        codex("turn_context", 1, turn_id=_NEW, model="gpt-5"),
        codex("event_msg", 1, type="user_message", message="new"),
        codex_output(1, "old", "late"),
        codex_call(1, "new", "shell", {"command": "make"}),
        codex_output(2, "new", "ok"),
        codex_tokens(2, 5600, 0, 80),
    ]
    kit = new_kit()
    events = feed(Codex(kit), lines)
    start, prompt, use, turn = events
    assert isinstance(start, SessionStart)
    assert (start.session, start.parent) == (_NEW, _OLD)
    assert isinstance(prompt, Prompt)
    assert [found.id for found in uses([use])] == ["new"]
    assert isinstance(turn, Turn)
    assert (turn.input_tokens, turn.output_tokens) == (600, 10)
    assert kit.diagnostics.total == 0


def test_a_fork_without_turn_ids_is_told_by_time() -> None:
    """A copied beginning is written at once."""
    events = _read(
        codex_meta(0, "fork", forked_from_id="parent"),
        codex_call(0, "old", "shell", {"command": "make"}),
        codex_output(1, "old", "ok"),
        codex_call(60, "new", "shell", {"command": "make"}),
        codex_output(61, "new", "ok"),
    )
    assert [use.id for use in uses(events)] == ["new"]


def test_a_thread_that_says_where_its_own_lines_begin_is_taken_at_its_word() -> None:
    """A sub-agent of 0.169 repeats its parent's turn, even one that began in the same second."""
    lines: list[dict[str, Any]] = [
        codex_meta(0, _NEW, forked_from_id=_OLD, subagent_history_start_ordinal=6),
        codex_meta(0, _OLD),
        codex("event_msg", 0, type="task_started", turn_id=_NEW),
        codex_call(0, "old", "shell", {"command": "make"}),
        codex_output(0, "old", "ok"),
        codex("event_msg", 0, type="turn_aborted", turn_id=_NEW, reason="interrupted"),
        codex_call(0, "new", "shell", {"command": "make"}),
        codex_output(1, "new", "ok"),
    ]
    events = _read(*({**line, "ordinal": number} for number, line in enumerate(lines)))
    assert [use.id for use in uses(events)] == ["new"]
    assert not [event for event in events if isinstance(event, Prompt)]


def test_threads_start_and_end_threads() -> None:
    """A child's own log begins no session and holds no prompt of the person."""
    events = _read(
        codex_meta(0),
        codex_call(1, "s", "spawn_agent", {"message": "look"}),
        codex_output(2, "s", '{"agent_id":"kid"}'),
        codex("event_msg", 2, type="collab_agent_spawn_end", call_id="s", new_thread_id="kid"),
        codex_call(3, "w", "wait_agent", {"ids": ["kid"]}),
        codex_output(9, "w", '{"status":{"kid":{"completed":"done"},"other":{"completed":""}},"timed_out":false}'),
        codex_call(10, "s2", "spawn_agent", {"message": "look"}),
        codex_output(11, "s2", '{"agent_id":"two"}'),
        codex_call(12, "x", "close_agent", {"id": "two"}),
        codex_output(13, "x", '{"status":"shutdown"}'),
    )
    assert [event.child for event in events if isinstance(event, AgentStart)] == ["kid", "two"]
    assert [(event.child, event.outcome) for event in events if isinstance(event, AgentEnd)] == [
        ("kid", "success"),
        ("two", "success"),
    ]
    spawned = codex_meta(0, "kid", source={"subagent": {"thread_spawn": {"parent_thread_id": "t1"}}})
    told = codex("event_msg", 1, type="user_message", message="look")
    assert _read(spawned, told, agent="kid") == []


@pytest.mark.parametrize(("kind", "outcome"), [("completed", "success"), ("failed", "failure")])
def test_newer_logs_tell_a_thread_of_its_own_by_its_doings(kind: str, outcome: str) -> None:
    doing = {"type": "SubAgentActivity", "agent_thread_id": "kid", "agent_path": "/root/look"}
    events = _read(
        codex_meta(0),
        codex_call(1, "s", "spawn_agent", {"message": "look", "task_name": "look"}),
        codex("event_msg", 1, type="item_completed", item={**doing, "id": "s", "kind": "started"}),
        codex_output(2, "s", '{"task_name":"/root/look"}'),
        codex("event_msg", 5, type="item_completed", item={**doing, "id": "e", "kind": "moved"}),
        codex("event_msg", 9, type="item_completed", item={**doing, "id": "e", "kind": kind}),
        codex("event_msg", 9, type="item_completed", item={**doing, "id": "f", "kind": kind}),
    )
    assert [(event.child, event.role) for event in events if isinstance(event, AgentStart)] == [("kid", "look")]
    ends = [event for event in events if isinstance(event, AgentEnd)]
    assert [(event.child, event.outcome, event.at - ends[0].at) for event in ends] == [("kid", outcome, 0.0)]
    assert [use.outcome for use in uses(events)] == ["success"]


def test_companions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Children and their children, of the same day and the next, however the rollout is named."""
    today, tomorrow = tmp_path / "2026" / "02" / "28", tmp_path / "2026" / "03" / "01"
    for folder, thread, parent in (
        (today, "t1", ""),
        (today, "kid", "t1"),
        (tomorrow, "grandkid", "kid"),
        (today, "alien", "t9"),
    ):
        folder.mkdir(parents=True, exist_ok=True)
        source = {"subagent": {"thread_spawn": {"parent_thread_id": parent}}} if parent else "cli"
        (folder / f"rollout-{thread}.jsonl").write_bytes(encoded(codex_meta(0, thread, source=source)) + b"\n")
    assert [companion.agent for companion in thread_files(today / "rollout-t1.jsonl")] == ["kid", "grandkid"]
    assert thread_files(today / "none.jsonl") == []
    monkeypatch.chdir(today)
    found = thread_files(Path("rollout-t1.jsonl"))
    assert [str(companion.path) for companion in found] == ["rollout-kid.jsonl", "../../03/01/rollout-grandkid.jsonl"]
    assert [session.id for session in sessions(["../28", "../../03"], make_kit())] == ["alien", "t1"]
