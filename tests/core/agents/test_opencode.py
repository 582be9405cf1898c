"""OpenCode: rows that change in place, a storage folder, an export."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from core.agents.opencode import FORMATS, OpenCodeReader, opencode_rows, session_files
from core.events import MAIN, AgentEnd, AgentStart, Compaction, Event, Prompt, SessionStart, Turn, Where
from core.logs.database import RowsRead, content, tables
from core.logs.format import Sample
from tests.core.agents.reading_more import kinds, new_kit, read, uses
from tests.core.agents.samples_rest import OPENCODE, opencode_row, opencode_tool

_TABLES = """
CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT,
    version TEXT, time_created INTEGER, time_updated INTEGER);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER,
    data TEXT);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER,
    time_updated INTEGER, data TEXT);
"""


def _database(path: Path, records: list[dict[str, Any]], wal: bool = False) -> sqlite3.Connection:
    database = sqlite3.connect(path)
    if wal:
        database.execute("PRAGMA journal_mode = WAL")
    database.executescript(_TABLES)
    for record in records:
        _put(database, record)
    database.commit()
    return database


def _put(database: sqlite3.Connection, record: dict[str, Any]) -> None:
    data = record["data"]
    if record["table"] == "session":
        columns: tuple[str, ...] = ("id", "parent_id", "directory", "title", "version", "time_created", "time_updated")
        values = [data.get(column) for column in columns]
    else:
        columns = ("id", "session_id", "time_created", "time_updated", "message_id", "data")
        values = [*(record.get(column) for column in columns[:-1]), json.dumps(data)]
        if record["table"] == "message":
            columns, values = (*columns[:4], "data"), [*values[:4], values[5]]
    marks = ", ".join("?" * len(values))
    statement = f"INSERT OR REPLACE INTO {record['table']} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608
    database.execute(statement, values)


def _fed(reader: OpenCodeReader, path: Path, session: str = "", rows_read: RowsRead | None = None) -> list[Event]:
    events: list[Event] = []
    for line, row in enumerate(opencode_rows(path, session, rows_read), 1):
        events += reader.feed(row.data, Where(str(path), entry=row.entry), line)
    return events


def test_the_story() -> None:
    kit = new_kit()
    events = read(OpenCodeReader, OPENCODE.entries, kit)
    assert kinds(events) == [
        *("SessionStart", "Prompt", "ToolUse", "AgentStart", "ToolUse", "ToolUse", "AgentEnd", "Turn", "Compaction")
    ]
    assert [(use.tool, use.agent, use.outcome, use.exit_code) for use in uses(events)] == [
        ("bash", MAIN, "failure", 2),
        ("read", "ses_2", "success", None),
        ("task", MAIN, "success", None),
    ]
    start, begun, ended, turn, compaction = events[0], events[3], events[6], events[7], events[8]
    assert isinstance(start, SessionStart)
    assert (start.session, start.project, start.at) == ("ses_1", "/home/ada/mill", 1_770_000_000.0)
    assert isinstance(begun, AgentStart)
    assert (begun.agent, begun.child, begun.role) == (MAIN, "ses_2", "explore")
    assert isinstance(ended, AgentEnd)
    assert (ended.child, ended.duration) == ("ses_2", 0.5)
    assert isinstance(turn, Turn)
    assert (turn.model, turn.context_tokens, turn.stop) == ("gpt-5", 12, "stop")
    assert isinstance(compaction, Compaction)
    assert (compaction.trigger, compaction.tokens_before) == ("auto", 12)
    assert kit.diagnostics.total == 0


def test_a_database_reads_like_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    _database(path, OPENCODE.entries).close()
    events = _fed(OpenCodeReader(new_kit(), session="x"), path)
    assert kinds(events) == kinds(read(OpenCodeReader, OPENCODE.entries))
    assert [use.where.entry for use in uses(events) if use.where] == ["part/prt_2", "part/prt_3", "part/prt_4"]


def test_a_call_is_told_once_and_when_it_is_over(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    database = _database(path, [*OPENCODE.entries[:5], opencode_tool("prt_2", "bash", "running", 2)], wal=True)
    reader = OpenCodeReader(new_kit(), session="x")
    rows_read = RowsRead()
    assert uses(_fed(reader, path, "ses_1", rows_read)) == []
    _put(database, opencode_tool("prt_2", "bash", "completed", 9, output="x", input={"command": "make"}))
    database.commit()
    events = _fed(reader, path, "ses_1", rows_read)
    assert [(use.id, use.outcome) for use in uses(events)] == [("prt_2", "success")]
    assert _fed(reader, path, "ses_1", rows_read) == []
    database.close()


@pytest.mark.parametrize("wal", [False, True])
def test_reading_a_database_leaves_no_trace(tmp_path: Path, wal: bool) -> None:
    path = tmp_path / "opencode.db"
    _database(path, OPENCODE.entries, wal=wal).close()
    before = {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in tmp_path.iterdir()}
    assert len(list(opencode_rows(path))) == len(OPENCODE.entries) - 1
    assert {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in tmp_path.iterdir()} == before


def test_a_writer_is_not_kept_waiting(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    database = _database(path, OPENCODE.entries, wal=True)
    database.execute("PRAGMA busy_timeout = 0")
    reading = opencode_rows(path)
    next(reading)
    _put(database, opencode_tool("prt_8", "bash", "completed", 30))
    database.commit()
    assert len(list(reading)) >= len(OPENCODE.entries) - 2
    database.close()


def test_sessions_come_one_after_the_other_or_alone(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    other = [
        opencode_row("session", "ses_0", {"directory": "/b", "title": "u"}, 1),
        opencode_row("message", "msg_9", {"role": "assistant"}, 2, session_id="ses_0"),
        opencode_tool("prt_0", "bash", "completed", 3, output="x", session_id="ses_0", message_id="msg_9"),
    ]
    _database(path, [*OPENCODE.entries, *other]).close()
    events = _fed(OpenCodeReader(new_kit(), session="x"), path)
    starts = [event for event in events if isinstance(event, SessionStart)]
    assert [start.session for start in starts] == ["ses_1", "ses_0"]
    assert {row.entry for row in opencode_rows(path, session="ses_0")} == {
        "session/ses_0",
        "message/msg_9",
        "part/prt_0",
    }


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0" + b"\xff" * 3000])
def test_a_broken_database_is_an_error_of_the_system(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "opencode.db"
    path.write_bytes(content)
    with pytest.raises(OSError, match="database"):
        list(opencode_rows(path))
    assert tables(path) == set()


def test_a_row_can_be_looked_up_by_its_entry(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    _database(path, OPENCODE.entries).close()
    assert json.loads(content(path, "part/prt_1")) == {"type": "text", "text": "Fix the mill."}
    assert content(path, "session/ses_1") == b"t"
    assert content(path, "part/gone") == content(path, "secrets/prt_1") == b""


def test_a_row_that_is_no_json_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    database = _database(path, OPENCODE.entries)
    database.execute("UPDATE part SET data = '{half' WHERE id = 'prt_2'")
    database.commit()
    database.close()
    kit = new_kit()
    events = _fed(OpenCodeReader(kit, session="x"), path)
    assert [use.id for use in uses(events)] == ["prt_3", "prt_4"]
    assert kit.diagnostics.counts == {"not JSON": 1}


@pytest.mark.parametrize(
    ("part", "outcome"),
    [
        (opencode_tool("p", "bash", "completed", 1, output="x", metadata={"exit": 0}), "success"),
        (opencode_tool("p", "bash", "completed", 1, output="x", metadata={"exit": 1}), "failure"),
        (opencode_tool("p", "invalid", "completed", 1, output="bad arguments"), "failure"),
        (opencode_tool("p", "edit", "error", 1, error="no such text"), "failure"),
        (opencode_tool("p", "edit", "error", 1, error="The user rejected permission to use this tool"), "rejected"),
        (opencode_tool("p", "bash", "error", 1, error="x", metadata={"interrupted": True}), "rejected"),
        (opencode_tool("p", "grep", "completed", 1, output="none", metadata={"matches": 0}), "empty"),
        (opencode_tool("p", "glob", "completed", 1, output="No files found", metadata={"count": 0}), "empty"),
        (
            opencode_tool(
                "p", "bash", "completed", 1, output="bash tool terminated command after exceeding timeout 5 ms"
            ),
            "failure",
        ),
        (opencode_tool("p", "bash", "pending", 1), "pending"),
    ],
)
def test_outcomes(part: dict[str, Any], outcome: str) -> None:
    assert [use.outcome for use in uses(read(OpenCodeReader, [part]))] == [outcome]


def _plain(record: dict[str, Any]) -> dict[str, Any]:
    """A row as a file of the older storage."""
    data = dict(record["data"])
    if record["table"] == "session":
        made, parent = data.pop("time_created"), data.pop("parent_id", None)
        return {**data, "projectID": "p", "parentID": parent, "time": {"created": made}}
    named = {"id": record["id"], "sessionID": record["session_id"]}
    return {**named, "messageID": record["message_id"], **data} if record["table"] == "part" else {**named, **data}


def _storage(root: Path, records: list[dict[str, Any]]) -> Path:
    for record in records:
        if record["table"] == "session":
            file = root / "session" / "p" / f"{record['id']}.json"
        elif record["table"] == "message":
            file = root / "message" / record["session_id"] / f"{record['id']}.json"
        else:
            file = root / "part" / record["message_id"] / f"{record['id']}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(_plain(record), indent=2))
    return root / "session" / "p"


def test_a_storage_folder_tells_the_same(tmp_path: Path) -> None:
    lost = [record for record in OPENCODE.entries if record.get("message_id") != "msg_3"]
    child = opencode_row("message", "msg_4", {"role": "assistant", "time": {"created": 1}}, 4, session_id="ses_2")
    inner = opencode_tool("prt_3", "read", "completed", 4, output="x", session_id="ses_2", message_id="msg_4")
    folder = _storage(tmp_path / "storage", [*[record for record in lost if record["id"] != "prt_3"], child, inner])
    files = session_files(folder)
    assert [file.stem for file in files[:2]] == ["ses_1", "ses_2"]
    events = read(OpenCodeReader, [file.read_bytes() for file in files])
    assert kinds(events) == [
        *("SessionStart", "Prompt", "ToolUse", "AgentStart", "ToolUse", "ToolUse", "AgentEnd", "Turn")
    ]
    assert [use.agent for use in uses(events)] == [MAIN, "ses_2", MAIN]


def test_an_export_tells_the_same() -> None:
    records = [_plain(record) for record in OPENCODE.entries]
    parts: dict[str, list[dict[str, Any]]] = {}
    for record in records[5:]:
        parts.setdefault(record["messageID"], []).append(record)
    parts["msg_1"] = [records[3]]
    messages = [{"info": info, "parts": parts[info["id"]]} for info in (records[2], records[4])]
    events = read(OpenCodeReader, [{"info": records[0], "messages": messages}])
    assert kinds(events)[:3] == ["SessionStart", "Prompt", "ToolUse"]
    assert next(use.where.entry for use in uses(events) if use.where) == "/messages/1/parts/1"


def test_only_the_persons_own_words_are_prompts() -> None:
    def said(row: str, message: str, words: str, **more: Any) -> dict[str, Any]:
        return opencode_row("part", row, {"type": "text", "text": words, **more}, 3, message_id=message)

    child = opencode_row("message", "msg_5", {"role": "user"}, 3, session_id="ses_2")
    told = [
        *OPENCODE.entries[:3],
        OPENCODE.entries[4],
        said("p1", "msg_1", "Attached", synthetic=True),
        said("p2", "msg_1", "Go."),
        said("p3", "msg_1", "More."),
        said("p4", "msg_2", "I answer."),
        child,
        said("p5", "msg_5", "The parent asks.") | {"session_id": "ses_2"},
    ]
    events = read(OpenCodeReader, told)
    assert [event.characters for event in events if isinstance(event, Prompt)] == [3]


def test_a_stop_by_the_person_follows_what_was_done() -> None:
    error = {"name": "MessageAbortedError", "data": {}}
    stopped = opencode_row("message", "msg_2", {"role": "assistant", "error": error, "time": {"completed": 5}}, 2)
    told = [OPENCODE.entries[0], stopped, opencode_tool("p", "bash", "completed", 3, output="x")]
    events = read(OpenCodeReader, [*told, opencode_row("message", "msg_3", {"role": "user"}, 9)], finish=False)
    assert kinds(events) == ["SessionStart", "ToolUse", "Prompt"]
    assert kinds(read(OpenCodeReader, told)) == ["SessionStart", "ToolUse", "Prompt"]


def test_older_logs_tell_of_compaction_by_its_summary() -> None:
    summary = opencode_row("message", "msg_7", {"role": "assistant", "summary": True, "parentID": "msg_6"}, 2)
    step = opencode_row("part", "p", {"type": "step-finish", "tokens": {"input": 9}}, 3, message_id="msg_7")
    assert kinds(read(OpenCodeReader, [OPENCODE.entries[0], summary, step])) == ["SessionStart", "Compaction"]
    asked = opencode_row("part", "p0", {"type": "compaction", "auto": False}, 2, message_id="msg_6")
    events = read(OpenCodeReader, [OPENCODE.entries[0], summary, asked, step])
    assert kinds(events) == ["SessionStart", "Compaction"]
    assert isinstance(events[1], Compaction)
    assert events[1].trigger == "manual"


def test_another_programs_database_is_not_ours(tmp_path: Path) -> None:
    ours, other = tmp_path / "a.db", tmp_path / "b.db"
    _database(ours, []).close()
    with sqlite3.connect(other) as database:
        database.execute("CREATE TABLE session (id TEXT)")
    database.close()
    for path, score in ((ours, 95), (other, 0)):
        sample = Sample(path.read_bytes()[:65_536], path)
        assert max(known.sniff(sample) for known in FORMATS) == score


def test_a_database_copied_with_its_log_but_without_its_index_loses_nothing(tmp_path: Path) -> None:
    """What only the log of changes holds is read too, and the copy is left as it is."""
    live, copy = tmp_path / "live", tmp_path / "copy"
    live.mkdir()
    copy.mkdir()
    writer = _database(live / "opencode.db", OPENCODE.entries, wal=True)
    for name in ("opencode.db", "opencode.db-wal"):
        (copy / name).write_bytes((live / name).read_bytes())
    whole = [row.data for row in opencode_rows(live / "opencode.db")]
    writer.close()
    before = {file.name: file.read_bytes() for file in copy.iterdir()}
    assert len(before["opencode.db-wal"]) > 0
    assert [row.data for row in opencode_rows(copy / "opencode.db")] == whole and whole
    assert {file.name: file.read_bytes() for file in copy.iterdir()} == before


@pytest.mark.parametrize("every", [1, 2])
def test_ids_that_a_redactor_replaced_by_one_word_lose_no_call(every: int, shared_data: Path) -> None:
    """An id that comes again with other content is another call."""
    paths = sorted((shared_data / "real_sessions" / "opencode").glob("*.json"))
    assert paths
    for path in paths:
        document = json.loads(path.read_text("utf-8"))
        plain = _read_export(document)
        parts = [part for message in document["messages"] for part in message["parts"]]
        for part in parts[::every]:
            part.update({name: "REDACTED" for name in ("id", "callID", "messageID") if name in part})
        for message in document["messages"][::every]:
            message["info"].update(id="REDACTED", parentID="REDACTED")
        assert [(type(event), event.at, getattr(event, "outcome", "")) for event in _read_export(document)] == [
            (type(event), event.at, getattr(event, "outcome", "")) for event in plain
        ]


def _read_export(document: dict[str, Any]) -> list[Event]:
    return read(OpenCodeReader, [document])
