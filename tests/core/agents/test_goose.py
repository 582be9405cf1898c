"""Goose: messages of its database, written again by a compaction, and lines of older files."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core.agents.goose import GooseReader
from core.agents.registry import agent_named, make_kit
from core.agents.words import words_of
from core.events import Compaction, Event, Prompt, SessionStart, Turn
from core.logs.discovery import find
from core.logs.finder import sessions
from core.logs.follow import Follower
from core.logs.session import read_session as read_session
from tests.core.agents.reading_more import kinds, new_kit, read, uses
from tests.core.agents.samples_recent import BEGAN, GOOSE, goose_call, goose_message, goose_result
from tests.core.agents.tables_of_databases import GOOSE as TABLES
from tests.core.agents.tables_of_databases import made, put

AGENT = agent_named("goose")

SESSION = {
    "id": "20260301_1",
    "name": "Mill",
    "working_dir": "/home/ada/mill",
    "created_at": "2026-02-02 02:40:00",
    "updated_at": "2026-02-02 02:41:00",
    "model_config_json": {"model_name": "claude-sonnet-4-5", "context_limit": 200000},
    "total_tokens": 0,
    "accumulated_input_tokens": 0,
    "accumulated_output_tokens": 0,
}


def row(line: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A line of an older file as a row of the database."""
    return {
        "session_id": "20260301_1",
        "role": line["role"],
        "content_json": line["content"],
        "created_timestamp": int(line["created"]),
        "metadata_json": line.get("metadata") or {"userVisible": True, "agentVisible": True},
        **more,
    }


ROWS = [row(line) for line in [*GOOSE.entries[1:], *GOOSE.tail]]


def _events(path: Path) -> list[Event]:
    kit = make_kit()
    [session] = sessions([path], kit)
    found = list(read_session(session, kit))
    assert kit.diagnostics.total == 0
    return found


STORY = [*("SessionStart", "Prompt", "Turn", "ToolUse", "Turn", "ToolUse"), *("Compaction", "Turn", "ToolUse")]


def test_the_story_of_an_older_file(tmp_path: Path) -> None:
    path = tmp_path / "20260301_1.jsonl"
    path.write_text("\n".join(map(json.dumps, GOOSE.records(GOOSE.entries))) + "\n")
    events = _events(path)
    assert kinds(events) == STORY
    start = events[0]
    assert isinstance(start, SessionStart)
    assert (start.session, start.project) == ("20260301_1", "/home/ada/mill")
    assert [(use.action, use.outcome) for use in uses(events)] == [
        ("shell_exec", "failure"),
        ("file_read", "success"),
        ("other", "success"),
    ]


def test_the_story_of_a_database(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    with closing(made(path, TABLES)) as database:
        spent = {"accumulated_input_tokens": 1000, "accumulated_output_tokens": 50, "total_tokens": 600}
        put(database, "sessions", {**SESSION, **spent})
        put(database, "messages", *ROWS)
    events = _events(path)
    assert kinds(events) == [*STORY, "Turn"]
    start, total = events[0], events[-1]
    assert isinstance(start, SessionStart)
    assert (start.session, start.project, start.model) == ("20260301_1", "/home/ada/mill", "claude-sonnet-4-5")
    assert isinstance(total, Turn)
    assert (total.input_tokens, total.output_tokens, total.context_tokens) == (1000, 50, 600)
    assert total.cost is not None
    assert total.cost > 0
    assert [event.cost for event in events[:-1] if isinstance(event, Turn)] == [0.0] * 3
    first = uses(events)[1]
    assert (words_of(first).command, words_of(first).output) == ("view", "int main;")


def test_messages_put_in_again_are_told_once(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    with closing(made(path, TABLES, wal=True)) as database:
        put(database, "sessions", SESSION)
        put(database, "messages", *ROWS[:5])
        [session] = sessions([path], make_kit())
        follower = Follower(session, make_kit())
        assert kinds(follower.poll()) == STORY[:6]
        assert follower.poll() == []
        database.execute("DELETE FROM messages")
        put(database, "messages", *ROWS[:7])
        assert kinds(follower.poll()) == ["Compaction"]
        put(database, "messages", *ROWS[7:8])
        assert kinds(follower.poll()) == ["Turn"]
        assert [use.tool for use in follower.in_flight()] == ["tailtool"]
        put(database, "messages", *ROWS[8:])
        assert [use.outcome for use in uses(follower.poll())] == ["success"]
        database.execute("DELETE FROM messages")
        put(database, "messages", *ROWS)
        assert follower.poll() == []


def test_what_a_session_spends_is_told_as_it_grows(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    with closing(made(path, TABLES, wal=True)) as database:
        put(database, "sessions", SESSION)
        [session] = sessions([path], make_kit())
        follower = Follower(session, make_kit())
        assert kinds(follower.poll()) == ["SessionStart"]
        told = []
        for sent in (100, 250):
            put(database, "sessions", {**SESSION, "accumulated_input_tokens": sent, "total_tokens": 90})
            told += follower.poll()
    assert [event.input_tokens for event in told if isinstance(event, Turn)] == [100, 150]


def test_several_sessions_are_taken_apart(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    other = {**SESSION, "id": "20260301_2", "created_at": "2026-02-02 03:00:00"}
    with closing(made(path, TABLES)) as database:
        put(database, "sessions", SESSION, other)
        put(database, "messages", ROWS[0], {**ROWS[0], "session_id": "20260301_2"}, *ROWS[1:3])
    kit = make_kit()
    found = sessions([path], kit)
    assert [session.id for session in found] == ["20260301_1", "20260301_2"]
    counts = [len(uses(list(read_session(session, kit)))) for session in found]
    assert counts == [1, 0]


@pytest.mark.parametrize(
    ("result", "outcome"),
    [
        ({"status": "success", "value": {"content": [{"type": "text", "text": "ok"}]}}, "success"),
        ({"status": "success", "value": [{"type": "text", "text": "ok"}]}, "success"),
        ({"status": "success", "value": {"content": [], "isError": True}}, "failure"),
        ({"status": "error", "error": "boom"}, "failure"),
        ({"status": "error", "error": "The user has declined to run this tool."}, "rejected"),
    ],
)
def test_how_a_call_ended(result: dict[str, Any], outcome: str) -> None:
    events = read(
        GooseReader,
        [
            goose_message("assistant", 1, goose_call("c1", "developer__shell", command="make")),
            goose_message("user", 2, {"type": "toolResponse", "id": "c1", "toolResult": result}),
        ],
    )
    assert [use.outcome for use in uses(events)] == [outcome]


def test_a_request_that_is_no_call_failed() -> None:
    request = {"type": "toolRequest", "id": "c1", "toolCall": {"status": "error", "error": "bad arguments"}}
    events = read(GooseReader, [goose_message("assistant", 1, request)])
    assert [(use.tool, use.outcome) for use in uses(events)] == [("invalid", "failure")]


def test_equal_prompts_at_other_times_are_two() -> None:
    said = {"type": "text", "text": "again"}
    events = read(GooseReader, [goose_message("user", at, said) for at in (1, 2, 2)])
    assert sum(isinstance(event, Prompt) for event in events) == 2


def test_a_summary_is_one_compaction_and_no_prompt() -> None:
    kit = new_kit()
    events = read(GooseReader, GOOSE.records(GOOSE.entries), kit)
    assert [event.at for event in events if isinstance(event, Compaction)] == [BEGAN + 6.0]


def test_sessions_are_found_where_goose_keeps_them(tmp_path: Path) -> None:
    folder = tmp_path / ".local" / "share" / "goose" / "sessions"
    with closing(made(folder / "sessions.db", TABLES)) as database:
        put(database, "sessions", SESSION)
    for name in ("20260301_1", "older"):
        (folder / f"{name}.jsonl").write_text(json.dumps(GOOSE.entries[0]) + "\n")
    assert sorted(one.session for one in find((AGENT,), {}, tmp_path)) == ["20260301_1", "older"]
    moved = tmp_path / "root"
    (moved / "data").mkdir(parents=True)
    folder.rename(moved / "data" / "sessions")
    assert len(find((AGENT,), {"GOOSE_PATH_ROOT": str(moved)}, tmp_path)) == 2


def test_results_come_with_a_number_where_they_tell_it() -> None:
    found = uses(
        read(
            GooseReader,
            [
                goose_message("assistant", 1, goose_call("c1", "developer__shell", command="make")),
                goose_message("user", 2, goose_result("c1", "bad\nExit code: 3", wrong=True)),
            ],
        )
    )
    assert [use.exit_code for use in found] == [3]
