"""Crush's database."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Any

import msgspec
from msgspec import structs

from core.agents.calls import Calls, Result, agent_report, cut_exit
from core.agents.reader import TranscriptReader, holds_table, read_document
from core.agents.tables import word_list
from core.agents.values import amount, attached_to, decode_inner, items, table, text, whole_number
from core.events import Compaction, Event, Where
from core.logs.database import DatabaseRow, Rows, RowsRead, families, json_row, numbers, reading, select
from core.logs.discovery import Found, Listed, database_sessions
from core.logs.format import Format
from core.logs.lines import seconds
from core.logs.redact.values import redact_name

_SESSION = word_list("crush-sessions")
_MESSAGE = word_list("crush-messages")
_TABLES = ("sessions", "messages")
_HOLDERS = (".crush", ".opencode")  # Folders of a project that contain the database.
_TITLE = "title-"  # How sessions that only made a title for another begin.


def crush_rows(path: Path, session: str = "", read: RowsRead | None = None, *, heads: bool = False) -> Rows:
    """The messages of a database, each session after its row and before what it spent.

    Of a session that was `read` before, only what came since or may have changed. With `heads`, the sessions'
    own rows alone.
    """
    read = read if session else None
    with reading(path) as database:
        if read is not None and read.goes_on(database, _TABLES):
            yield from _changed(database, session, read)
            return
        for members in _families(database):
            if not session or members[0]["id"] == session:
                yield from (json_row("sessions", one) for one in members)
                if not heads:
                    yield from _message_rows(database, [one["id"] for one in members], read)
                    yield json_row("spent", members[0])


def _families(database: sqlite3.Connection) -> list[list[dict[str, Any]]]:
    sessions = [one for one in select(database, "sessions", _SESSION) if not _names_only(one)]
    return families(sessions, "parent_session_id", lambda one: whole_number(one.get("created_at")))


def crush_listing(path: Path) -> list[Listed]:
    """The sessions of a database; each message is about one event."""
    with reading(path) as database:
        found, messages = _families(database), numbers(database, "messages")
    listed = []
    for members in found:
        times = [at for one in members if (at := seconds(one.get("updated_at"))) is not None]
        count = 1 + sum(messages.get(str(one["id"]), 0) for one in members)
        name, title = text(members[0]["id"]), text(members[0].get("title"))
        listed.append(Listed(name, project_of(path), title, max(times, default=None), count))
    return listed


def project_of(path: Path) -> str:
    """The folder whose database this is."""
    holder = PurePath(str(path).replace("\\", "/")).parent
    return str(holder.parent) if holder.name in _HOLDERS else ""


def _message_rows(database: sqlite3.Connection, ids: list[str], read: RowsRead | None) -> Rows:
    marks = ", ".join("?" * len(ids))
    rest = f"WHERE session_id IN ({marks}) ORDER BY created_at, rowid"
    if read is not None:
        read.members = set(ids)
    for message in select(database, "messages", ("rowid", *_MESSAGE), rest, ids):
        yield _message_row(message, read)


def _changed(database: sqlite3.Connection, session: str, read: RowsRead) -> Rows:
    """The messages that came or may have changed, after the rows of their sessions."""
    rows = {}
    for one in read.of("sessions").changed(database, _SESSION):
        if one.get("parent_session_id") in read.members and not _names_only(one):
            read.members.add(one["id"])
            rows[one["id"]] = one
    messages = [one for one in read.of("messages").changed(database, _MESSAGE) if one["session_id"] in read.members]
    messages.sort(key=lambda one: (whole_number(one.get("created_at")), one["rowid"]))
    for name in (session, *(one["session_id"] for one in messages)):
        if name not in rows:
            rows.update((one["id"], one) for one in select(database, "sessions", _SESSION, "WHERE id = ?", (name,)))
    yield from (json_row("sessions", one) for one in rows.values())
    yield from (_message_row(message, read) for message in messages)
    if session in rows:
        yield json_row("spent", rows[session])


def _message_row(message: dict[str, Any], read: RowsRead | None) -> DatabaseRow:
    place = message.pop("rowid")
    if read is not None and message.get("role") == "assistant" and not _finished(message.get("parts")):
        read.of("messages").keep_open(place)
    return json_row("messages", message, {"parts": "parts"})


class _Part(msgspec.Struct):
    type: str = ""


def _finished(parts: Any) -> bool:
    """Whether a message is complete; a broken one counts as complete."""
    try:
        return any(one.type == "finish" for one in msgspec.json.decode(parts or "[]", type=list[_Part]))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError, TypeError):
        return True


def _names_only(session: dict[str, Any]) -> bool:
    return text(session.get("id")).startswith(_TITLE)


def survey(agent: str, root: Path, now: float, active_within: float) -> Iterator[Found]:
    """The sessions of every project on Crush's list."""
    projects = table(read_document(root / "projects.json")).get("projects")
    for project in map(table, items(projects)):
        folder = Path(text(project.get("path")))
        path = folder / (text(project.get("data_dir")) or ".crush") / "crush.db"
        for session in database_sessions(agent, path, crush_listing, now, active_within):
            yield structs.replace(session, project=redact_name(str(folder)))


_EXIT = re.compile(r"(?:\A|\n)Exit code (-?\d{1,9})\s*\Z")
_FOLDER = re.compile(r"\s*<cwd>([^<]{0,2000})</cwd>\s*\Z")
_REFUSED = re.compile(r"\A\W{0,2}(?:user denied permission|permission denied|tool execution canceled)", re.I)


class CrushReader(TranscriptReader):
    """A message is read once it is finished; the facts of the session's row come after its messages.

    Ids of calls repeat: a result belongs to the nearest earlier open call with its id.
    """

    name = "crush"
    untold = ("tokens",)
    gaps = "context and cost per session, not per answer"
    many = True
    kinds = frozenset(("text", "reasoning", "image_url", "binary", "tool_call", "tool_result", "finish"))  # Of parts.
    rows = staticmethod(crush_rows)  # How a database is fed to this reader.
    listing = staticmethod(crush_listing)

    def setup(self) -> None:
        self._sessions: dict[str, dict[str, Any]] = {}
        self._announced: set[str] = set()
        self._open: dict[tuple[str, str], list[str]] = {}
        self._children: dict[str, str] = {}
        self._summaries: dict[str, float] = {}
        self._spent: dict[str, tuple[float, int]] = {}
        self._writing: dict[str, tuple[dict[str, Any], Where]] = {}

    def finish(self) -> list[Event]:
        """The calls without a result, those of messages that were never finished among them."""
        return [*super().finish(), *self._unfinished_calls()]

    def pending_events(self) -> list[Event]:
        """Return the open calls of a growing log."""
        return [*super().pending_events(), *self._unfinished_calls()]

    def _unfinished_calls(self) -> list[Event]:
        events: list[Event] = []
        running = Result(running=True)
        for name, (row, where) in self._writing.items():
            session, at = text(row.get("session_id")), self.time_of(row.get("created_at"))
            agent = session if session in self._announced else self.agent
            for place, part in enumerate(items(row.get("parts"))):
                call = table(table(part).get("data"))
                if table(part).get("type") == "tool_call" and call.get("finished") is True:
                    call_id, tool = text(call.get("id")) or f"{name}/{place}", text(call.get("name"))
                    arguments = decode_inner(call.get("input"))
                    events.append(self.calls.both(call_id, tool, arguments, None, at, running, where, agent))
        return events

    def read(self, value: Any) -> None:
        """Add the events of one row."""
        row = self.table(value, "row")
        match row.get("table"):
            case "sessions":
                self._session(row)
            case "messages":
                self._message(row)
            case "spent":
                self._spend(row)
            case _:
                self.note("neither session nor message")

    def _session(self, row: dict[str, Any]) -> None:
        name = text(row.get("id"))
        is_known = name in self._sessions
        self._sessions[name] = row
        summary = text(row.get("summary_message_id"))
        if summary in self._summaries:
            self._compacted(summary, name)
        if is_known or text(row.get("parent_session_id")) in self._sessions:
            return
        if self.begun:
            self.add(*self.close_all(), *self._unfinished_calls())
            self.calls = Calls(self.kit, self.name)
            self._writing.clear()
            self._open.clear()
        self.now = self.time_of(row.get("created_at"))
        self.begin(name, project=project_of(Path(self.here().file)), model="")

    def _agent(self, session: str) -> str:
        """Return the agent of a session; the first act of a child announces it."""
        row = self._sessions.get(session, {})
        parent = text(row.get("parent_session_id"))
        if parent not in self._sessions:
            if not self.begun:
                self.begin(session, model="")
            return self.agent
        if session not in self._announced:
            self._announced.add(session)
            self._children[session.rpartition("$$")[2]] = session
            self.child_started(session, at=self.time_of(row.get("created_at")), agent=self._agent(parent))
        return session

    def _message(self, row: dict[str, Any]) -> None:
        name, session = text(row.get("id")), text(row.get("session_id"))
        parts = self.placed(row.get("parts"), "parts")
        finished = next((table(part.get("data")) for _, part in parts if part.get("type") == "finish"), None)
        role = row.get("role")
        if name in self.read_ids:
            return
        if role == "assistant" and finished is None:
            self._writing[name] = (row, self.here())
            return
        self.read_ids.add(name)
        self.check_parts(part for _, part in parts)
        self._writing.pop(name, None)
        self.moment(whole_number(table(finished).get("time")) or None, row.get("created_at"))
        agent = self._agent(session)
        if role == "assistant":
            self._answer(row, parts, table(finished), agent)
        elif role == "user" and agent == self.agent:
            prompt_text = _texts(parts) or attached_to(part for _, part in parts)
            if prompt_text.strip():
                self.add(self.prompt(prompt_text))
        elif role == "tool":
            for _, part in parts:
                if part.get("type") == "tool_result":
                    self._result(session, self.table(part.get("data"), "result"))
        elif role not in ("user", "system"):
            self.skip(f"role/{role}")

    def _answer(
        self, row: dict[str, Any], parts: list[tuple[int, dict[str, Any]]], finished: dict[str, Any], agent: str
    ) -> None:
        name, session = text(row.get("id")), text(row.get("session_id"))
        stop = text(finished.get("reason"))
        self.model = text(row.get("model")) or self.model
        turn = self.turn(_texts(parts), message=name, stop=stop, agent=agent)
        context = self._spent.get(session, (0.0, 0))[1]
        is_priced = self._priced(session) or self.kit.models.free(self.model)
        self.add(structs.replace(turn, context_tokens=context, cost=0.0 if is_priced else None))
        self._summaries[name] = self.now
        if row.get("is_summary_message") or name == self._sessions.get(session, {}).get("summary_message_id"):
            self._compacted(name, session)
        for place, part in parts:
            if part.get("type") == "tool_call":
                self._call(session, f"{name}/{place}", self.table(part.get("data"), "call"), agent)
        if stop in ("canceled", "cancelled"):
            self.add(self.prompt("", agent=agent, interrupt=True))

    def _call(self, session: str, place: str, call: dict[str, Any], agent: str) -> None:
        call_id = text(call.get("id")) or place
        name = f"{call_id}#{place}" if self.calls.is_known(call_id) else call_id
        arguments = decode_inner(call.get("input"))
        if self.calls.begin(name, text(call.get("name")), arguments, self.now, agent, self.here()):
            self._open.setdefault((session, call_id), []).append(name)

    def _result(self, session: str, result: dict[str, Any]) -> None:
        call_id = text(result.get("tool_call_id"))
        waiting = self._open.get((session, call_id))
        name = waiting.pop() if waiting else call_id
        shell = self.calls.tool(name) == "bash"
        use = self.result(name, _judged(result, shell=shell))
        if use is not None and call_id in self._children:
            self.add(agent_report(use, self._children[call_id]))

    def _priced(self, session: str) -> bool:
        """Whether the root session has a cost, which includes all answers."""
        visited: set[str] = set()
        while session not in visited:
            visited.add(session)
            row = self._sessions.get(session, {})
            parent = text(row.get("parent_session_id"))
            if parent not in self._sessions:
                return amount(row.get("cost")) is not None
            session = parent
        return False

    def _spend(self, row: dict[str, Any]) -> None:
        """Add what a session cost since the last reading, and its context now."""
        name = text(row.get("id"))
        cost, context = amount(row.get("cost")), whole_number(row.get("prompt_tokens"))
        before = self._spent.get(name, (0.0, 0))
        if (cost or 0.0, context) == before or not (cost or context):
            return
        self._spent[name] = (cost or 0.0, context)
        at, name = max(self.now, self.time_of(row.get("updated_at"))), f"spent/{name}/{cost}/{context}"
        turn = self.turn("", at=at, message=name, stop="total")
        self.add(self.with_context(turn, context, cost=None if cost is None else max(0.0, cost - before[0])))

    def _compacted(self, message: str, session: str) -> None:
        key = f"compaction {message}"
        if not self.is_new(key):
            return
        at = self._summaries[message]
        self.add(Compaction(at=at, agent=self._agent(session), where=self.here()))


def _judged(result: dict[str, Any], *, shell: bool) -> Result:
    output = text(result.get("content"))
    error = result.get("is_error") is True
    refused = error and bool(_REFUSED.search(output[:200]))
    if not shell:
        return Result(text=output, error=error, rejected=refused)
    metadata = result.get("metadata")
    times = table(decode_inner(metadata))
    began, ended = seconds(times.get("start_time")), seconds(times.get("end_time"))
    folder = _FOLDER.search(output[-3000:])
    if folder:
        output = output[: len(output) - len(folder.group(0))]
    output, exited = cut_exit(output, _EXIT, 100)
    return Result(
        text="" if output == "no output" else output,
        error=error,
        exit_code=0 if exited is None and not error else exited,
        rejected=refused,
        duration=ended - began if began is not None and ended is not None and ended >= began else None,
    )


def _texts(parts: list[tuple[int, dict[str, Any]]]) -> str:
    """Return the text of a message without thoughts."""
    return "\n".join(part_text for _, part in parts if (part_text := text(table(part.get("data")).get("text"))))


FORMATS = (
    Format("crush", "database", holds_table("messages", {"parts", "session_id", "role"}, "sessions"), CrushReader),
)
