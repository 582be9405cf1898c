"""Where OpenCode keeps its sessions: rows of a database, or files of a storage folder."""

from __future__ import annotations

import heapq
import re
import sqlite3
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from core.agents.values import decode, table, text, whole_number
from core.logs.database import DatabaseRow, RowsRead, families, json_row, numbers, reading, select
from core.logs.decoding import decoded
from core.logs.discovery import Found, Listed, database_sessions, extent, listed_session
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


def opencode_rows(
    path: Path, session: str = "", read: RowsRead | None = None, *, heads: bool = False
) -> Iterator[DatabaseRow]:
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


def _tree(database: sqlite3.Connection, family: list[str], read: RowsRead | None) -> Iterator[DatabaseRow]:
    """The messages in the order they began, among them the parts in the order they last changed."""
    if read is not None:
        read.members = set(family)

    def ordered(name: str, session: str) -> Iterator[tuple[tuple[int, str], DatabaseRow]]:
        for row in select(database, name, _ROW, _OF_SESSION[name], (session,)):
            yield _placed(name, row, read)

    streams = [ordered(name, session) for session in family for name in ("message", "part")]
    for _, row in heapq.merge(*streams, key=lambda pair: pair[0]):
        yield row


def _changed(database: sqlite3.Connection, read: RowsRead) -> Iterator[DatabaseRow]:
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
        if isinstance((facts := _object_in(file)).get("id"), str)
    ]
    for session in sessions:
        session["time_created"] = table(session.get("time")).get("created")
    listed: list[Path] = []
    for family in _families(sessions):
        listed += [session["file"] for session in family]
        messages = sorted(
            (file for session in family for file in (root / "message" / session["id"]).glob("*.json")),
            key=lambda file: file.name,
        )
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


def _object_in(file: Path) -> dict[str, Any]:
    """Return the object in a file; an empty one if it cannot be read, which is counted later."""
    try:
        return table(decode(read_log(file)))
    except OSError:
        return {}


def _end_time(file: Path) -> int:
    """Return the end time in a file; 0 if there is none."""
    facts = _object_in(file)
    for times in (table(table(facts.get("state")).get("time")), table(facts.get("time"))):
        for name in ("end", "start", "created"):
            if whole_number(times.get(name)):
                return whole_number(times.get(name))
    return 0


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
