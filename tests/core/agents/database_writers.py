"""Programs that keep writing their sessions into a database, as OpenCode, Crush and Goose do."""

from __future__ import annotations

import json
import random
import sqlite3
from typing import Any

from tests.core.agents.samples_recent import BEGAN, crush_call, crush_message, crush_result, crush_session
from tests.core.agents.samples_recent import finish as crush_finish
from tests.core.agents.tables_of_databases import CRUSH, GOOSE

OPENCODE = """
CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, version TEXT,
    agent TEXT, time_created INTEGER, time_updated INTEGER);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER,
    data TEXT);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER,
    time_updated INTEGER, data TEXT);
CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);
CREATE INDEX part_session_idx ON part (session_id);
CREATE INDEX session_parent_idx ON session (parent_id);
"""


def insert(database: sqlite3.Connection, table: str, **row: Any) -> None:
    """A new row; lists and objects become JSON."""
    told = {name: json.dumps(value) if isinstance(value, list | dict) else value for name, value in row.items()}
    marks = ", ".join("?" * len(told))
    statement = f"INSERT INTO {table} ({', '.join(told)}) VALUES ({marks})"  # noqa: S608
    database.execute(statement, tuple(told.values()))


def change(database: sqlite3.Connection, table: str, name: str, **row: Any) -> None:
    """A row changed in place."""
    told = {key: json.dumps(value) if isinstance(value, list | dict) else value for key, value in row.items()}
    given = ", ".join(f"{key} = ?" for key in told)
    database.execute(f"UPDATE {table} SET {given} WHERE id = ?", (*told.values(), name))  # noqa: S608


class OpenCodeWriter:
    """Writes as OpenCode does: calls, texts and answers begin as rows that are changed when they are over."""

    schema = OPENCODE
    file = "opencode.db"

    def __init__(self, database: sqlite3.Connection) -> None:
        self.database = database
        self.now = 1_770_000_000_000
        self.number = 0
        self.session("ses_1", None)
        self.session("ses_other", None)
        self.family = ["ses_1"]
        self.running: list[tuple[str, str, dict[str, Any]]] = []
        self.written: list[tuple[str, dict[str, Any]]] = []

    def tick(self) -> int:
        self.now += 1000
        return self.now

    def name(self, kind: str) -> str:
        self.number += 1
        return f"{kind}_{self.number:06}"

    def session(self, name: str, parent: str | None) -> None:
        at = self.tick()
        insert(
            self.database,
            "session",
            id=name,
            parent_id=parent,
            directory="/mill",
            title="t (@explore subagent)" if parent else "t",
            version="1",
            time_created=at,
            time_updated=at,
        )

    def row(self, table: str, name: str, data: dict[str, Any], **more: Any) -> None:
        at = self.tick()
        insert(self.database, table, id=name, time_created=at, time_updated=at, data=data, **more)

    def again(self, table: str, name: str, data: dict[str, Any]) -> None:
        change(self.database, table, name, time_updated=self.tick(), data=data)

    def ask(self, session: str) -> None:
        message = self.name("msg")
        self.row("message", message, {"role": "user", "time": {"created": self.now}}, session_id=session)
        text = {"type": "text", "text": f"please {message}"}
        self.row("part", self.name("prt"), text, session_id=session, message_id=message)

    def answer(self, session: str) -> None:
        """An answer with a text and a call, both left open."""
        message, text, call = self.name("msg"), self.name("prt"), self.name("prt")
        said = {"role": "assistant", "modelID": "gpt-5", "time": {"created": self.now}}
        self.row("message", message, said, session_id=session)
        begun = {"type": "text", "text": "", "time": {"start": self.now}}
        self.row("part", text, begun, session_id=session, message_id=message)
        tool = {
            "type": "tool",
            "tool": "bash",
            "callID": call,
            "state": {"status": "running", "input": {"command": f"make {call}"}, "time": {"start": self.now}},
        }
        self.row("part", call, tool, session_id=session, message_id=message)
        self.running.append((session, message, {"text": (text, begun), "call": (call, tool), "said": said}))

    def end(self, dice: random.Random) -> None:
        """One of the open answers comes to its end."""
        if not self.running:
            return
        session, message, rows = self.running.pop(dice.randrange(len(self.running)))
        name, begun = rows["text"]
        self.again("part", name, {**begun, "text": f"I say {name}", "time": {"start": 1, "end": self.now}})
        name, tool = rows["call"]
        times = {**tool["state"]["time"], "end": self.now}
        state = {**tool["state"], "status": "completed", "output": "x", "metadata": {"exit": dice.randrange(2)}}
        self.again("part", name, {**tool, "state": {**state, "time": times}})
        step = {"type": "step-finish", "reason": "stop", "tokens": {"input": 9, "output": 1}, "cost": 0.1}
        self.row("part", self.name("prt"), step, session_id=session, message_id=message)
        self.again("message", message, {**rows["said"], "time": {"created": 1, "completed": self.now}})

    def act(self, dice: random.Random) -> None:
        """Something that happens in a session, or in another of the same database."""
        session = dice.choice([*self.family, "ses_other"])
        match dice.randrange(8):
            case 0:
                self.ask(session)
            case 1:
                child = self.name("ses")
                self.session(child, dice.choice(self.family))
                self.family.append(child)
            case 2 | 3 | 4:
                self.answer(session)
            case _:
                self.end(dice)

    def fill(self, count: int) -> None:
        """As many rows of a session that are done."""
        for _ in range(count // 5):
            self.answer("ses_1")
            self.end(random.Random(1))  # noqa: S311

    def aside(self) -> None:
        """A row that tells nothing."""
        self.row("part", self.name("prt"), {"type": "step-start"}, session_id="ses_1", message_id="m")

    def forget(self) -> None:
        """The newest row is taken back, so that its number is given again."""
        self.database.execute("DELETE FROM part WHERE rowid = (SELECT max(rowid) FROM part)")


class CrushWriter:
    """Writes as Crush does: an answer is a row that grows until it is finished."""

    schema = CRUSH
    file = "crush.db"

    def __init__(self, database: sqlite3.Connection) -> None:
        self.database = database
        self.at = 0
        self.family = ["s1"]
        self.open: list[dict[str, Any]] = []
        for name in ("s1", "other"):
            insert(database, "sessions", **crush_session(name))

    def message(self, session: str, role: str, *parts: dict[str, Any]) -> dict[str, Any]:
        self.at += 1
        row = {**crush_message(f"m{self.at:06}", role, self.at, *parts), "session_id": session}
        insert(self.database, "messages", **row)
        return row

    def answer(self, session: str) -> None:
        self.open.append(self.message(session, "assistant"))

    def end(self, dice: random.Random) -> None:
        if not self.open:
            return
        row = self.open.pop(dice.randrange(len(self.open)))
        self.at += 1
        call = f"call_{row['id']}"
        parts = [crush_call(call, "bash", command=call), crush_finish(self.at)]
        told = {"parts": parts, "updated_at": BEGAN + self.at}
        change(self.database, "messages", row["id"], **told)
        self.message(row["session_id"], "tool", crush_result(call, f"no\n\nExit code {dice.randrange(2)}"))

    def act(self, dice: random.Random) -> None:
        session = dice.choice([*self.family, "other"])
        match dice.randrange(8):
            case 0:
                self.message(session, "user", {"type": "text", "data": {"text": f"please {self.at}"}})
            case 1:
                self.at += 1
                name = f"child{self.at}"
                told = crush_session(name, parent_session_id=dice.choice(self.family))
                insert(self.database, "sessions", **told)
                self.family.append(name)
            case 2 | 3 | 4:
                self.answer(session)
            case _:
                self.end(dice)

    def fill(self, count: int) -> None:
        for _ in range(count // 2):
            self.answer("s1")
            self.end(random.Random(1))  # noqa: S311

    def aside(self) -> None:
        """A row that tells nothing."""
        self.message("s1", "user")

    def forget(self) -> None:
        """The newest row is taken back, so that its number is given again."""
        self.database.execute("DELETE FROM messages WHERE rowid = (SELECT max(rowid) FROM messages)")


class GooseWriter:
    """Writes as Goose does: messages are added, and a compaction adds them all again."""

    schema = GOOSE
    file = "sessions.db"

    def __init__(self, database: sqlite3.Connection) -> None:
        self.database = database
        self.at = 0
        for name in ("s1", "other"):
            insert(
                database,
                "sessions",
                id=name,
                name="Mill",
                working_dir="/mill",
                created_at="2026-02-02 02:40:00",
                updated_at="2026-02-02 02:41:00",
                model_config_json={"model_name": "claude-sonnet-4-5"},
            )

    def message(self, session: str, role: str, *parts: dict[str, Any]) -> None:
        self.at += 1
        insert(
            self.database,
            "messages",
            session_id=session,
            role=role,
            content_json=list(parts),
            created_timestamp=BEGAN + self.at,
            metadata_json={"userVisible": True, "agentVisible": True},
        )

    def act(self, dice: random.Random) -> None:
        session = dice.choice(("s1", "s1", "other"))
        if not dice.randrange(4):
            self.message(session, "user", {"type": "text", "text": f"please {self.at}"})
            return
        call = f"call{self.at}"
        value = {"name": "developer__shell", "arguments": {"command": call}}
        asked = {"type": "toolRequest", "id": call, "toolCall": {"status": "success", "value": value}}
        self.message(session, "assistant", asked)
        result = {"status": "success", "value": {"content": [], "isError": bool(dice.randrange(2))}}
        self.message(session, "user", {"type": "toolResponse", "id": call, "toolResult": result})

    def fill(self, count: int) -> None:
        for number in range(count):
            self.message("s1", "user", {"type": "text", "text": f"please {number}"})

    def aside(self) -> None:
        """A row of another session."""
        self.message("other", "user")

    def forget(self) -> None:
        """A compaction: every message of the session is put in again, with a new number."""
        columns = "session_id, role, content_json, created_timestamp, metadata_json"
        kept = self.database.execute(f"SELECT {columns} FROM messages WHERE session_id = 's1'").fetchall()  # noqa: S608
        self.database.execute("DELETE FROM messages WHERE session_id = 's1'")
        statement = f"INSERT INTO messages ({columns}) VALUES (?, ?, ?, ?, ?)"  # noqa: S608
        self.database.executemany(statement, kept)


Writer = OpenCodeWriter | CrushWriter | GooseWriter
WRITERS: tuple[type[Writer], ...] = (OpenCodeWriter, CrushWriter, GooseWriter)
