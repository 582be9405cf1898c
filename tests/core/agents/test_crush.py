"""Crush: messages that change while they are written, in a database of the project."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core.agents.crush import CrushReader
from core.agents.registry import agent_named, make_kit
from core.agents.words import words_of
from core.events import MAIN, AgentEnd, AgentStart, Compaction, Event, Prompt, SessionStart, Turn
from core.logs.discovery import find
from core.logs.finder import sessions
from core.logs.follow import Follower
from core.logs.records import read_excerpt as read_back
from core.logs.session import read_session as read_session
from tests.core.agents.reading_more import kinds, new_kit, read, uses
from tests.core.agents.samples_recent import (
    BEGAN,
    CRUSH,
    CRUSH_MESSAGES,
    CRUSH_SESSIONS,
    crush_call,
    crush_message,
    crush_result,
    crush_session,
    finish,
    part,
)
from tests.core.agents.tables_of_databases import CRUSH as TABLES
from tests.core.agents.tables_of_databases import made, put

AGENT = agent_named("crush")


def _filled(path: Path, *, wal: bool = False) -> sqlite3.Connection:
    database = made(path, TABLES, wal=wal)
    put(database, "sessions", *CRUSH_SESSIONS, crush_session("title-s1", parent_session_id="s1"))
    put(database, "messages", *CRUSH_MESSAGES)
    return database


def _events(path: Path) -> list[Event]:
    kit = make_kit()
    [session] = sessions([path], kit)
    found = list(read_session(session, kit))
    assert kit.diagnostics.total == 0
    return found


def _of(*messages: dict[str, Any], **session: Any) -> list[Event]:
    told = crush_session(**session)
    records = [
        {"table": "sessions", **told},
        *({"table": "messages", **row} for row in messages),
        {"table": "spent", **told},
    ]
    return read(CrushReader, records)


def test_a_database_without_a_session_holds_nothing_and_breaks_nothing(tmp_path: Path) -> None:
    path = tmp_path / "mill" / ".crush" / "crush.db"
    made(path, TABLES).close()
    assert _events(path) == []


def test_the_story(tmp_path: Path) -> None:
    path = tmp_path / "mill" / ".crush" / "crush.db"
    _filled(path).close()
    events = _events(path)
    start = events[0]
    assert isinstance(start, SessionStart)
    assert (start.session, start.project) == ("s1", str(tmp_path / "mill"))
    assert start.untold == ("tokens",)
    assert kinds(events) == [
        *("SessionStart", "Prompt", "Turn", "ToolUse", "Turn", "AgentStart", "Turn", "ToolUse"),
        *("ToolUse", "AgentEnd", "Turn", "Compaction", "Turn"),
    ]
    assert [(use.agent, use.action, use.outcome, use.exit_code, use.duration) for use in uses(events)] == [
        (MAIN, "shell_exec", "failure", 2, 2.0),
        ("c2", "file_read", "success", None, 0.0),
        (MAIN, "delegation", "success", None, 3.0),
    ]
    assert len({use.id for use in uses(events)}) == 3
    assert uses(events)[0].size == len("no rule")
    assert [event.child for event in events if isinstance(event, AgentEnd)] == ["c2"]
    turns = [event for event in events if isinstance(event, Turn)]
    assert sum(turn.cost or 0.0 for turn in turns) == 0.25
    assert None not in {turn.cost for turn in turns}
    assert (turns[-1].context_tokens, turns[-1].stop) == (900, "total")


def test_the_same_from_rows_handed_over() -> None:
    kit = new_kit()
    events = read(CrushReader, CRUSH.records(CRUSH.entries), kit)
    assert [use.outcome for use in uses(events)] == ["failure", "success", "success", "success"]
    assert sum(isinstance(event, Compaction) for event in events) == 1
    assert kit.diagnostics.total == 0


def test_an_unknown_cost_stays_unknown() -> None:
    turns = [event for event in _of(*CRUSH_MESSAGES[:3]) if isinstance(event, Turn)]
    assert [turn.cost for turn in turns] == [None]


def test_an_id_that_repeats_belongs_to_the_nearest_open_call() -> None:
    messages = []
    for number in range(28):
        call, result = crush_call("tool_0_bash", "bash", command="make"), crush_result("tool_0_bash", "x")
        messages.append(crush_message(f"a{number}", "assistant", 5, call, finish(5)))
        messages.append(crush_message(f"t{number}", "tool", 5, result))
    found = uses(_of(*messages))
    assert [use.outcome for use in found] == ["success"] * 28
    assert len({use.id for use in found}) == 28


@pytest.mark.parametrize(
    ("content", "wrong", "outcome"),
    [
        ("fine\nExit code 0", False, "success"),
        ("bad\nExit code 1", False, "failure"),
        ("Exit code 127", False, "failure"),
        ("it says Exit code 1 somewhere else", False, "success"),
        ("no output", False, "empty"),
        ("no output\n\n<cwd>/x</cwd>", False, "empty"),
        ("Permission denied", True, "rejected"),
        ("user denied permission", True, "rejected"),
        ("Tool execution canceled by user", True, "rejected"),
        ("error executing", True, "failure"),
    ],
)
def test_how_a_command_ended(content: str, wrong: bool, outcome: str) -> None:
    found = uses(
        _of(
            crush_message("m1", "assistant", 1, crush_call("c1", "bash", command="make"), finish(2)),
            crush_message("m2", "tool", 3, crush_result("c1", content, wrong=wrong)),
        )
    )
    assert [use.outcome for use in found] == [outcome]


def test_a_cancelled_answer_is_an_interrupt() -> None:
    events = _of(crush_message("m1", "assistant", 1, finish(2, "canceled")))
    assert [event.interrupt for event in events if isinstance(event, Prompt)] == [True]


def test_calls_of_a_message_that_was_never_finished_are_pending() -> None:
    whole = crush_call("c1", "bash", command="make")
    begun = part("tool_call", id="c2", name="bash", input='{"comm', finished=False)
    found = uses(_of(crush_message("m1", "assistant", 1, whole, begun)))
    assert [(use.id, use.outcome) for use in found] == [("c1", "pending")]


def test_a_summary_named_later_is_a_compaction() -> None:
    message = {"table": "messages", **crush_message("m6", "assistant", 9, finish(10))}
    records = [
        {"table": "sessions", **crush_session()},
        message,
        {"table": "sessions", **crush_session(summary_message_id="m6")},
        message,
        {"table": "sessions", **crush_session(summary_message_id="m6")},
    ]
    events = read(CrushReader, records)
    assert [event.at for event in events if isinstance(event, Compaction)] == [BEGAN + 10.0]


def test_a_database_is_followed_by_what_changes(tmp_path: Path) -> None:
    path = tmp_path / ".crush" / "crush.db"
    database = made(path, TABLES, wal=True)
    with closing(database):
        put(database, "sessions", crush_session())
        put(database, "messages", CRUSH_MESSAGES[0], crush_message("m2", "assistant", 1))
        [session] = sessions([path], make_kit())
        follower = Follower(session, make_kit())
        assert kinds(follower.poll()) == ["SessionStart", "Prompt"]
        assert follower.poll() == []
        put(database, "messages", {**CRUSH_MESSAGES[1], "updated_at": BEGAN + 2})
        assert kinds(follower.poll()) == ["Turn"]
        assert [use.tool for use in follower.in_flight()] == ["bash"]
        put(database, "messages", CRUSH_MESSAGES[2])
        assert [use.outcome for use in uses(follower.poll())] == ["failure"]
        assert follower.in_flight() == []
        put(database, "sessions", crush_session(cost=0.1, prompt_tokens=50, updated_at=BEGAN + 5))
        [spent] = follower.poll()
        assert isinstance(spent, Turn)
        assert (spent.cost, spent.context_tokens) == (0.1, 50)
        put(database, "sessions", crush_session(cost=0.3, prompt_tokens=80, updated_at=BEGAN + 6))
        [more] = follower.poll()
        assert isinstance(more, Turn)
        assert more.cost == pytest.approx(0.2)


def test_times_may_be_milliseconds(tmp_path: Path) -> None:
    path = tmp_path / ".opencode" / "opencode.db"
    with closing(made(path, TABLES)) as database:
        put(database, "sessions", crush_session(created_at=BEGAN * 1000, updated_at=BEGAN * 1000))
        told = crush_message("m1", "user", 0, part("text", text="go"))
        put(database, "messages", {**told, "created_at": BEGAN * 1000, "updated_at": BEGAN * 1000})
    events = _events(path)
    assert [event.at for event in events] == [float(BEGAN)] * 2
    assert events[0].project == str(tmp_path)  # type: ignore[union-attr]


def test_a_copy_without_its_index_loses_nothing(tmp_path: Path) -> None:
    live, copy = tmp_path / "live" / "crush.db", tmp_path / "copy" / "crush.db"
    copy.parent.mkdir()
    with closing(_filled(live, wal=True)):
        for name in ("crush.db", "crush.db-wal"):
            shutil.copyfile(live.with_name(name), copy.with_name(name))
    before = {file.name: file.read_bytes() for file in copy.parent.iterdir()}
    assert len(before["crush.db-wal"]) > 0
    assert len(uses(_events(copy))) == 3
    assert {file.name: file.read_bytes() for file in copy.parent.iterdir()} == before


def test_an_event_leads_back_to_its_row(tmp_path: Path) -> None:
    path = tmp_path / "crush.db"
    _filled(path).close()
    first = uses(_events(path))[0]
    assert first.where is not None
    assert "no rule" in read_back(first.where).text
    told = words_of(first)
    assert (told.command, told.output.splitlines()[0]) == ("make", "no rule")


def test_sessions_are_found_by_the_list_of_projects(tmp_path: Path) -> None:
    project = tmp_path / "mill"
    _filled(project / ".crush" / "crush.db").close()
    kept = tmp_path / ".local" / "share" / "crush"
    kept.mkdir(parents=True)
    listed = [
        {"path": str(project), "data_dir": str(project / ".crush")},
        {"path": str(tmp_path / "gone"), "data_dir": ".crush"},
        "no project",
    ]
    (kept / "projects.json").write_text(json.dumps({"projects": listed}))
    [found] = find((AGENT,), {}, tmp_path, now=BEGAN + 31.0)
    assert (found.session, found.project, found.active) == ("s1", str(project), True)
    (kept / "projects.json").write_text("{")
    assert find((AGENT,), {}, tmp_path) == []


def test_a_broken_row_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "crush.db"
    with closing(_filled(path)) as database:
        put(database, "messages", {**crush_message("m0", "user", 0), "parts": "[{"})
    kit = make_kit()
    [session] = sessions([path], kit)
    assert len(uses(list(read_session(session, kit)))) == 3
    assert kit.diagnostics.counts == {"not JSON": 1}


def test_sub_agents_named_by_message_and_call() -> None:
    child = crush_session("m4$$c2", parent_session_id="s1")
    records = [
        {"table": "sessions", **crush_session()},
        {"table": "sessions", **child},
        *({"table": "messages", **row} for row in CRUSH_MESSAGES[3:4]),
        {"table": "messages", **crush_message("k2", "assistant", 5, finish(6), session_id="m4$$c2")},
        *({"table": "messages", **row} for row in CRUSH_MESSAGES[7:8]),
    ]
    events = read(CrushReader, records)
    assert [event.child for event in events if isinstance(event, AgentStart | AgentEnd)] == ["m4$$c2"] * 2


def test_a_damaged_byte_costs_itself_alone_and_no_words_stand_in_a_fault(shared_data: Path, tmp_path: Path) -> None:
    path, kit = tmp_path / "crush.db", make_kit()
    path.write_bytes((shared_data / "real_sessions/crush/Starmel_OpenSuperWhisper/crush.db").read_bytes())
    [session] = sessions([path], kit)
    sound = list(read_session(session, kit))
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute("SELECT id, parts FROM messages ORDER BY created_at").fetchall()
        name, parts = next((name, parts) for name, parts in rows if '"text":"' in parts)
        damaged = parts.replace('"text":"', '"text":"\ud800', 1).encode("utf-8", "surrogatepass")
        database.execute("UPDATE messages SET parts = CAST(? AS TEXT) WHERE id = ?", (damaged, name))
        database.commit()
    assert len(list(read_session(session, kit))) == len(sound) > 50
    assert not any("parts" in reason for reason in kit.diagnostics.counts)
