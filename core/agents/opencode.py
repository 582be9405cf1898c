"""OpenCode: rows of its database, files of its storage folder, or an exported document."""

from __future__ import annotations

import heapq
import re
import sqlite3
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from core.agents.calls import Calls, Result, agent_report
from core.agents.models import failed_turn
from core.agents.reader import TranscriptReader, holds_table, read_document
from core.agents.tables import known_words
from core.agents.values import TokenCounts, amount, code, decode, first_number, table, text, token_counts, whole_number
from core.events import Event, Prompt, Where
from core.logs.database import DatabaseRow, Rows, RowsRead, families, json_row, numbers, reading, select
from core.logs.discovery import Found, Listed, database_sessions, extent, listed_session
from core.logs.format import Format, Sample
from core.logs.glimpse import Title
from core.logs.lines import decoded, seconds
from core.logs.log_files import is_folder, read_log

_UNNAMED = re.compile(r"(?:New|Child) session - \d{4}-")
_IS_CALL = re.compile(r'"type"\s*:\s*"tool"')
_SAMPLED = 200  # Parts of a session that are looked at to say how many of them are calls.
_REMEMBERED = 5_000
_shares: dict[tuple[Path, str, int], float] = {}
FINAL = frozenset(("completed", "error"))  # How the state of a call is named that is over.
_TABLES = ("session", "message", "part")
_ROW = ("rowid", "id", "session_id", "message_id", "time_created", "time_updated", "data")
_OF_SESSION = {
    "message": "WHERE session_id = ? ORDER BY time_created, id",
    "part": "WHERE session_id = ? ORDER BY time_updated, id",
}
_SESSION = ("id", "parent_id", "directory", "title", "version", "agent", "time_created", "time_updated")


def own_title(session: dict[str, Any]) -> str:
    """A session's title; blank while it has only the one every new session gets."""
    title = text(session.get("title"))
    return "" if _UNNAMED.match(title) else title


def opencode_rows(path: Path, session: str = "", read: RowsRead | None = None, *, heads: bool = False) -> Rows:
    """The rows of a database, one session after the other, or those of one session alone.

    Each session comes with its sub-agents', in order of time. Of a session that was `read` before, only what
    came since or may have changed. With `heads`, the sessions' own rows alone. Raises `OSError` where the
    database is busy or broken. Nothing is written and no writer is kept waiting.
    """
    read = read if session else None
    with reading(path) as database:
        if read is not None and read.goes_on(database, _TABLES):
            yield from _changed(database, read)
            return
        for family in _families(_sessions(database)):
            if not session or family[0]["id"] == session:
                yield from map(_session_row, family)
                if not heads:
                    yield from _tree(database, [str(one["id"]) for one in family], read)


def opencode_listing(path: Path) -> list[Listed]:
    """The sessions of a database: an event for each message, and one for each part that is a call."""
    with reading(path) as database:
        messages, parts = numbers(database, "message"), numbers(database, "part")
        listed = []
        for family in _families(_sessions(database)):
            ids, root = [str(one["id"]) for one in family], family[0]
            last = max(whole_number(one.get("time_updated")) for one in family)
            calls = sum(parts.get(one, 0) for one in ids) * _called(database, path, ids[0], last)
            count = 1 + sum(messages.get(one, 0) for one in ids) + round(calls)
            listed.append(Listed(ids[0], text(root.get("directory")), own_title(root), last / 1000.0, count))
        return listed


def _called(database: sqlite3.Connection, path: Path, session: str, last: int) -> float:
    """Which share of a session's parts are calls, from its first ones; looked at again when it changes."""
    key = (path, session, last)
    if key not in _shares:
        if len(_shares) >= _REMEMBERED:
            _shares.clear()
        statement = "SELECT data FROM part WHERE session_id = ? LIMIT ?"
        kinds = [_IS_CALL.search(str(data)) for (data,) in database.execute(statement, (session, _SAMPLED))]
        _shares[key] = sum(map(bool, kinds)) / len(kinds) if kinds else 0.0
    return _shares[key]


def _sessions(database: sqlite3.Connection) -> list[dict[str, Any]]:
    return list(select(database, "session", _SESSION, "ORDER BY id"))


def _families(sessions: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    return families(sessions, "parent_id", lambda one: whole_number(one.get("time_created")))


def _session_row(session: dict[str, Any]) -> DatabaseRow:
    fields = {name: session[name] for name in _SESSION if name in session}
    return json_row("session", {"id": session["id"], "data": fields})


def _tree(database: sqlite3.Connection, family: list[str], read: RowsRead | None) -> Rows:
    """The messages in the order they began, among them the parts in the order they last changed."""
    if read is not None:
        read.members = set(family)

    def ordered(name: str, session: str) -> Iterator[tuple[tuple[int, str], DatabaseRow]]:
        for row in select(database, name, _ROW, _OF_SESSION[name], (session,)):
            yield _placed(name, row, read)

    streams = [ordered(name, session) for session in family for name in ("message", "part")]
    for _, row in heapq.merge(*streams, key=lambda pair: pair[0]):
        yield row


def _changed(database: sqlite3.Connection, read: RowsRead) -> Rows:
    for session in read.of("session").changed(database, _SESSION):
        if session["id"] in read.members or session.get("parent_id") in read.members:
            read.members.add(session["id"])
            yield _session_row(session)
    rows = [
        _placed(name, row, read)
        for name in ("message", "part")
        for row in read.of(name).changed(database, _ROW)
        if row["session_id"] in read.members
    ]
    rows.sort(key=lambda pair: pair[0])
    for _, row in rows:
        yield row


def _placed(name: str, row: dict[str, Any], read: RowsRead | None) -> tuple[tuple[int, str], DatabaseRow]:
    """Return a row for the reader, with its sort key."""
    data, written = row["data"], json_row(name, row, {"data": "data"})
    data = data if isinstance(data, bytes) else str(data).encode("utf-8", "replace")
    if read is not None and _may_change(name, data):
        read.of(name).keep_open(row["rowid"])
    return (whole_number(row["time_created" if name == "message" else "time_updated"]), written.entry), written


class _Status(msgspec.Struct):
    status: str = ""


class _Times(msgspec.Struct):
    start: float | None = None
    end: float | None = None
    completed: float | None = None


class _Progress(msgspec.Struct):
    """The fields that show whether a row is complete."""

    role: str = ""
    type: str = ""
    state: _Status = msgspec.field(default_factory=_Status)
    time: _Times = msgspec.field(default_factory=_Times)


def _may_change(name: str, data: bytes) -> bool:
    """Whether a row is of an answer, a call or a text that is still going on."""
    progress = decoded(data, _Progress)
    if progress is None:
        return False
    if name == "message":
        return progress.role == "assistant" and progress.time.completed is None
    if progress.type == "tool":
        return progress.state.status not in FINAL
    return progress.type == "text" and progress.time.start is not None and progress.time.end is None


def session_files(folder: Path) -> list[Path]:
    """Return the files of a folder's sessions in reading order: each session, then its messages and parts."""
    root = next((place for place in folder.parents if is_folder((place / "message"))), folder)
    sessions = [
        {**facts, "id": facts["id"], "parent_id": text(facts.get("parentID")), "file": file}
        for file in sorted(folder.glob("*.json"))
        if isinstance((facts := table(read_document(file))).get("id"), str)
    ]
    for session in sessions:
        session["time_created"] = table(session.get("time")).get("created")
    listed: list[Path] = []
    for family in _families(sessions):
        listed += [session["file"] for session in family]
        files = (file for session in family for file in (root / "message" / session["id"]).glob("*.json"))
        messages = sorted(files, key=lambda file: file.name)
        listed += _ordered_parts(root, messages, by_time=len(family) > 1)
    return listed


def _ordered_parts(root: Path, messages: list[Path], *, by_time: bool) -> list[Path]:
    """Messages before their parts; where sub-agents ran, parts in the order they ended."""
    timed: list[tuple[int, Path]] = []
    for message in messages:
        last = _end_time(message) if by_time else 0
        for part in sorted((root / "part" / message.stem).glob("*.json"), key=lambda file: file.name):
            last = max(last, _end_time(part)) if by_time else 0
            timed.append((last, part))
    if by_time:
        timed.sort(key=lambda pair: (pair[0], pair[1].name))
    return [*messages, *(part for _, part in timed)]


def _end_time(file: Path) -> int:
    """Return the end time in a file; 0 if there is none."""
    facts = table(read_document(file))
    own, of_call = table(facts.get("time")), table(table(facts.get("state")).get("time"))
    return first_number(of_call, "end", "start", "created") or first_number(own, "end", "start", "created")


def survey(agent: str, root: Path, now: float, active_within: float) -> Iterator[Found]:
    """Sessions of the database, and those of the older storage folder that are not in it."""
    databases = [database_sessions(agent, path, opencode_listing, now, active_within) for path in root.glob("*.db")]
    files = (listed_session(agent, *one, now, active_within) for one in _storage(root / "storage"))
    listed_ids: set[str] = set()
    for log in chain(*databases, files):
        if log.session not in listed_ids:
            listed_ids.add(log.session)
            yield log


def _storage(folder: Path) -> Iterator[tuple[Path, Listed, int]]:
    for file in folder.glob("session/*/*.json"):
        try:
            session = table(decode(read_log(file)))
            if not text(session.get("id")) or text(session.get("parentID")):
                continue
            size, _, number = extent(folder / "message" / text(session["id"]))
        except OSError:
            continue
        last = whole_number(table(session.get("time")).get("updated")) / 1000.0
        title = own_title(session)
        yield file, Listed(session["id"], text(session.get("directory")), title, last, number), size


_REFUSED = re.compile(r"rejected permission|execution aborted|user dismissed|permission denied by user", re.IGNORECASE)
_TIMED_OUT = re.compile(r"terminated command after exceeding timeout")
_REPLACED = "REDACTED"  # The word that a redactor writes for ids that look like secrets.
_ROLE = re.compile(r"@([\w.-]{1,60}) subagent")


class OpenCodeReader(TranscriptReader):
    """Rows change in place and are read again: each call is added once, when it is over.

    A child session is a sub-agent of its parent.
    """

    name = "opencode"
    many = True
    # Of parts.
    kinds = known_words("opencode")
    rows = staticmethod(opencode_rows)  # How a database is fed to this reader.
    listing = staticmethod(opencode_listing)
    members = staticmethod(session_files)  # How a folder is.

    def setup(self) -> None:
        self._sessions: dict[str, dict[str, Any]] = {}
        self._messages: dict[str, dict[str, Any]] = {}
        self._unsaid: dict[str, dict[str, tuple[dict[str, Any], Where]]] = {}
        # The texts of each open message of the agent, by part.
        self._words: dict[str, dict[str, tuple[str, Where]]] = {}
        self._announced: set[str] = set()
        self._stopped: dict[str, Prompt] = {}
        self._context: dict[str, int] = {}

    def read(self, value: Any) -> None:
        """Add the events of a row, a file or a whole export."""
        record = self.table(value, "record")
        if "table" in record:
            self._row(record)
        elif "messages" in record:
            self._export(record)
        elif "role" in record:
            self._message(record)
        elif "type" in record:
            self._part(record)
        elif "id" in record and ("directory" in record or "projectID" in record or "title" in record):
            self._session(record)
        else:
            self.note("neither session, message nor part")

    def own_pending(self) -> Iterable[Event]:
        """Return the ends of turns that may still continue."""
        return self._stopped.values()

    def close_all(self) -> list[Event]:
        """Close what is open in the middle of a log."""
        left = [*self._stopped.values(), *super().close_all()]
        self._stopped.clear()
        return left

    def _row(self, row: dict[str, Any]) -> None:
        data = dict(self.table(row.get("data"), "data"))
        data["id"] = row.get("id")
        if row["table"] == "session":
            data["parentID"] = data.get("parent_id")
            data["time"] = {"created": data.get("time_created")}
            self._session(data)
            return
        data["sessionID"], data["created"] = row.get("session_id"), row.get("time_created")
        if row["table"] == "message":
            self._message(data)
        elif row["table"] == "part":
            data["messageID"] = row.get("message_id")
            self._part(data)

    def _export(self, record: dict[str, Any]) -> None:
        self._session(self.table(record.get("info"), "info"))
        used_ids: set[str] = set()
        for place, message in self.placed(record["messages"], "messages"):
            info = self.table(message.get("info"), "message")
            name = _own_id(info.get("id"), f"message-{place}", used_ids)
            self._message({**info, "id": name})
            for number, part in self.placed(message.get("parts"), "parts"):
                own = _own_id(part.get("id"), f"part-{place}/{number}", used_ids)
                self.enter(f"/messages/{place}/parts/{number}")
                self._part({**part, "id": own, "messageID": name})
                self.enter()

    def _session(self, info: dict[str, Any]) -> None:
        name = text(info.get("id"))
        is_known = name in self._sessions
        self._sessions[name] = info
        if is_known or text(info.get("parentID")) in self._sessions:
            return
        self._begin(name, info)

    def _begin(self, name: str, info: dict[str, Any]) -> None:
        if self.begun:
            self.add(*self.close_all())
            self.calls = Calls(self.kit, self.name)
        self.now = self.time_of(table(info.get("time")).get("created"))
        self.begin(name, project=info.get("directory"), version=info.get("version"))

    def _agent(self, session: str) -> str:
        """Return the agent of a session; the first act of a child announces it."""
        info = self._sessions.get(session, {})
        parent = text(info.get("parentID"))
        if not session or parent not in self._sessions:
            if not self.begun:
                self._begin(session, info)
            return self.agent
        self._start_child(session, self._agent(parent), self.now, "")
        return session

    def _start_child(self, child: str, parent: str, at: float, role: str) -> None:
        if child in self._announced:
            return
        self._announced.add(child)
        info = self._sessions.get(child, {})
        created = seconds(table(info.get("time")).get("created"))
        titled = _ROLE.search(text(info.get("title")))
        role = role or text(info.get("agent")) or (titled.group(1) if titled else "")
        self.child_started(child, role, at=at if created is None else created, agent=parent)

    def _message(self, message: dict[str, Any]) -> None:
        name, session = text(message.get("id")), text(message.get("sessionID"))
        self.add(self._stopped.pop(session, None) if name not in self._messages else None)
        self._messages[name] = message
        if message.get("error") and self.is_new(name):
            times = table(message.get("time"))
            at = self.moment(times.get("completed"), times.get("created"), message.get("created"))
            agent = self._agent(session)
            if table(message["error"]).get("name") == "MessageAbortedError":
                self._stopped[session] = self.prompt("", agent=agent, interrupt=True)
            else:
                self.add(failed_turn(at, agent, self.here(), name))
        for part_name, (part, place) in self._unsaid.pop(name, {}).items():
            self._place = place
            self._add_text(part_name, part, message)
        self.enter()

    def _part(self, part: dict[str, Any]) -> None:
        place = self.here()
        name = text(part.get("id")) or text(part.get("callID")) or f"{place.offset}{place.entry}"
        if name in self.read_ids:
            return
        message = self._messages.get(text(part.get("messageID")))
        kind = part.get("type")
        self.check_kind(text(kind))
        if kind == "tool":
            self._tool(name, part)
        elif kind == "text":
            if message is None:
                self._unsaid.setdefault(text(part.get("messageID")), {})[name] = part, place
            else:
                self._add_text(name, part, message)
        elif kind == "compaction":
            self.read_ids.add(name)
            trigger = "auto" if part.get("auto") is True else "manual"
            self._compacted(part, text(part.get("messageID")), trigger)
        elif kind == "step-finish":
            self.read_ids.add(name)
            self._turn(name, part, message or {})

    def _add_text(self, name: str, part: dict[str, Any], message: dict[str, Any]) -> None:
        message_id = text(message.get("id"))
        part_text = text(part.get("text"))
        if message.get("role") == "assistant" and part_text:
            self._words.setdefault(message_id, {})[name] = part_text, self.here()
        is_prompt = message.get("role") == "user" and part.get("synthetic") is not True and part_text
        if not is_prompt or message_id in self.read_ids:
            return
        session = text(part.get("sessionID")) or text(message.get("sessionID"))
        if self._agent(session) == self.agent:
            self.read_ids.add(message_id)
            self._time(part, message)
            self.add(self.prompt(part_text))

    def _compacted(self, part: dict[str, Any], key: str, trigger: str) -> None:
        if not key or not self.is_new(f"compaction {key}"):
            return
        agent = self._agent(text(part.get("sessionID")))
        self._time(part, self._messages.get(text(part.get("messageID")), {}))
        self.add(self.compaction(agent, trigger=trigger, before=self._context.get(agent, 0)))

    def _turn(self, name: str, part: dict[str, Any], message: dict[str, Any]) -> None:
        if message.get("summary") is True:
            key = text(message.get("parentID")) or text(message.get("id"))
            self._compacted(part, key, "")
            return
        tokens = self.table(part.get("tokens"), "tokens")
        cache = table(tokens.get("cache"))
        agent = self._agent(text(part.get("sessionID")))
        words = self._words.pop(text(message.get("id")), {})
        self.read_ids.update(words)
        sent, answered, thinking, _ = token_counts(tokens, "input", "output", "reasoning")
        self._time(part, message)
        _, _, read, written = token_counts(cache, "", "", "read", "write")
        new_turn = self.answer(
            "".join(word for word, _ in words.values()),
            tokens=TokenCounts(sent, answered + thinking, read, written),
            message=name,
            model=message.get("modelID"),
            cost=amount(part.get("cost")),
            stop=text(part.get("reason")),
            agent=agent,
            said_at=next((place for _, place in reversed(words.values())), None),
        )
        if new_turn is not None:
            self._context[agent] = new_turn.context_tokens

    def _tool(self, name: str, part: dict[str, Any]) -> None:
        state = self.table(part.get("state"), "state")
        tool = text(part.get("tool"))
        times = table(state.get("time"))
        agent = self._agent(text(part.get("sessionID")))
        began, started_at = seconds(times.get("start")), self.time_of(times.get("start"))
        child = text(table(state.get("metadata")).get("sessionId")) if tool == "task" else ""
        role = text(table(state.get("input")).get("subagent_type"))
        if child:
            self._start_child(child, agent, started_at, role)
        if text(state.get("status")) not in FINAL:
            self.calls.begin(name, tool, state.get("input"), started_at, agent, self.here())
            return
        self.read_ids.add(name)
        at = self.moment(times.get("end"), times.get("start"), part.get("created"))
        arguments, result = state.get("input"), _result(tool, state)
        use, advice = self.end_call(name, tool, arguments, result, at, began=began, agent=agent)
        self.add(use, advice, agent_report(use, child) if use is not None and child else None)

    def _time(self, part: dict[str, Any], message: dict[str, Any]) -> None:
        """Advance to the time of a part, or of its message."""
        own, times = table(part.get("time")), table(message.get("time"))
        last = (part.get("created"), times.get("completed"), times.get("created"))
        self.moment(own.get("end"), own.get("start"), *last)


def _own_id(entry_id: Any, place: str, used_ids: set[str]) -> str:
    """An id that no other entry of an export has: a redactor may have put one word in place of many."""
    name = text(entry_id)
    if not name or name in used_ids or name == _REPLACED:
        return place
    used_ids.add(name)
    return name


def _result(tool: str, state: dict[str, Any]) -> Result:
    metadata = table(state.get("metadata"))
    failed = state.get("status") == "error"
    output = text(state.get("error")) if failed else text(state.get("output"))
    exited = code(metadata.get("exit")) if tool == "bash" else None
    matches = metadata.get("matches") if tool == "grep" else metadata.get("count") if tool == "glob" else None
    late = tool == "bash" and bool(_TIMED_OUT.search(output[-500:]))
    return Result(
        text=output,
        error=failed or tool == "invalid" or late,
        exit_code=exited,
        rejected=failed and (metadata.get("interrupted") is True or bool(_REFUSED.search(output[:300]))),
        empty=True if matches == 0 and not isinstance(matches, bool) and not failed else None,
    )


def _folder(sample: Sample) -> int:
    value = table(sample.document)
    return 90 if text(value.get("id")).startswith("ses") and "projectID" in value and "messages" not in value else 0


def _export(sample: Sample) -> int:
    head = sample.head.lstrip()[:4096]
    opening = re.match(rb'\{\s*"info"\s*:\s*\{\s*(?:"[a-z]+"\s*:\s*"[^"]*"\s*,\s*){0,4}"(?:id|slug|projectID)"', head)
    if opening and b'"ses' in head and (b'"projectID"' in head or b'"directory"' in head):
        return 92
    value = table(sample.document)
    info = table(value.get("info"))
    return 92 if "messages" in value and "id" in info and ("directory" in info or "projectID" in info) else 0


def opencode_title(document: dict[str, Any]) -> Title | None:
    """The name that an exported session has."""
    title = own_title(table(document.get("info")))
    return Title(2, title) if title else None


FORMATS = (
    Format("opencode", "database", holds_table("session", set(), "message", "part"), OpenCodeReader),
    Format("opencode", "folder", _folder, OpenCodeReader),
    Format("opencode", "document", _export, OpenCodeReader, titles=opencode_title, id_key=("info", "id")),
)
