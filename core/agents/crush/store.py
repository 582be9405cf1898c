"""The rows of Crush's database, as its reader is fed them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Any

import msgspec

from core.agents.loose import text, whole_number
from core.logs.database import numbers, reading, select
from core.logs.found import Listed
from core.logs.rows_read import DatabaseRow, RowsRead
from core.logs.times import seconds

_SESSION = (
    *("id", "parent_session_id", "title", "prompt_tokens", "completion_tokens"),
    *("cost", "summary_message_id", "created_at", "updated_at"),
)
_MESSAGE = (
    *("id", "session_id", "role", "model", "provider"),
    *("is_summary_message", "created_at", "updated_at", "parts"),
)
_TABLES = ("sessions", "messages")
_HOLDERS = (".crush", ".opencode")
"""Folders of a project in which the database lies."""
_TITLE = "title-"
"""How sessions that only made a title for another begin."""


def crush_rows(
    path: Path, session: str = "", read: RowsRead | None = None, *, heads: bool = False
) -> Iterator[DatabaseRow]:
    """The messages of a database, each session after its row and before what it spent.

    Of a session that was `read` before, only what came since or may have changed. With `heads`, the sessions'
    own rows alone.
    """
    read = read if session else None
    with reading(path) as database:
        if read is not None and read.goes_on(database, _TABLES):
            yield from _changed(database, session, read)
            return
        known = [one for one in select(database, "sessions", _SESSION) if not _names_only(one)]
        ids = {one["id"] for one in known}
        roots = [one for one in known if one.get("parent_session_id") not in ids]
        roots.sort(key=lambda one: (whole_number(one.get("created_at")), str(one["id"])))
        for root in roots:
            if not session or root["id"] == session:
                members = with_children(root, known)
                yield from (_row("sessions", one) for one in members)
                if not heads:
                    yield from _told(database, [one["id"] for one in members], read)
                    yield _row("spent", members[0])


def crush_listing(path: Path) -> list[Listed]:
    """The sessions of a database; each message is about one event."""
    with reading(path) as database:
        known = [one for one in select(database, "sessions", _SESSION) if not _names_only(one)]
        messages = numbers(database, "messages")
    ids = {one["id"] for one in known}
    found = []
    for root in known:
        if root.get("parent_session_id") not in ids:
            members = with_children(root, known)
            told = [at for one in members if (at := seconds(one.get("updated_at"))) is not None]
            count = 1 + sum(messages.get(str(one["id"]), 0) for one in members)
            found.append(
                Listed(
                    text(root["id"]),
                    project_of(path),
                    text(root.get("title")),
                    max(told, default=None),
                    count,
                )
            )
    return found


def project_of(path: Path) -> str:
    """The folder whose database this is."""
    holder = PurePath(str(path).replace("\\", "/")).parent
    return str(holder.parent) if holder.name in _HOLDERS else ""


def with_children(root: dict[str, Any], known: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A session, those it started, and those that these started."""
    found, waiting = [root], [root["id"]]
    below: dict[Any, list[dict[str, Any]]] = {}
    for one in known:
        below.setdefault(one.get("parent_session_id"), []).append(one)
    while waiting:
        for child in below.pop(waiting.pop(), []):
            found.append(child)
            waiting.append(child["id"])
    return found


def _told(database: sqlite3.Connection, ids: list[str], read: RowsRead | None) -> Iterator[DatabaseRow]:
    marks = ", ".join("?" * len(ids))
    rest = f"WHERE session_id IN ({marks}) ORDER BY created_at, rowid"
    if read is not None:
        read.members = set(ids)
    for message in select(database, "messages", ("rowid", *_MESSAGE), rest, ids):
        yield _message_row(message, read)


def _changed(database: sqlite3.Connection, session: str, read: RowsRead) -> Iterator[DatabaseRow]:
    """The messages that came or may have changed, after the rows of their sessions."""
    told = {}
    for one in read.of("sessions").changed(database, _SESSION):
        if one.get("parent_session_id") in read.members and not _names_only(one):
            read.members.add(one["id"])
            told[one["id"]] = one
    found = [
        one for one in read.of("messages").changed(database, _MESSAGE) if one["session_id"] in read.members
    ]
    found.sort(key=lambda one: (whole_number(one.get("created_at")), one["rowid"]))
    for name in (session, *(one["session_id"] for one in found)):
        if name not in told:
            told.update(
                (one["id"], one) for one in select(database, "sessions", _SESSION, "WHERE id = ?", (name,))
            )
    yield from (_row("sessions", one) for one in told.values())
    yield from (_message_row(message, read) for message in found)
    if session in told:
        yield _row("spent", told[session])


def _message_row(message: dict[str, Any], read: RowsRead | None) -> DatabaseRow:
    place = message.pop("rowid")
    if read is not None and message.get("role") == "assistant" and not _finished(message.get("parts")):
        read.of("messages").keep_open(place)
    return _row("messages", message)


def _row(table: str, told: dict[str, Any]) -> DatabaseRow:
    parts = told.get("parts")
    outer = {
        name: value
        for name, value in told.items()
        if not isinstance(value, bytes) and name not in ("parts", "rowid")
    }
    data = msgspec.json.encode({"table": table, **outer})
    if isinstance(parts, str | bytes) and parts:
        inner = parts if isinstance(parts, bytes) else parts.encode("utf-8", "replace")
        data = b'%b,"parts":%b}' % (data[:-1], inner)
    entry = f"{'messages' if table == 'messages' else 'sessions'}/{told.get('id')}"
    return DatabaseRow(data, entry)


class _Part(msgspec.Struct):
    type: str = ""


def _finished(parts: Any) -> bool:
    """Whether a message is written to its end; one that cannot be read will not become better."""
    try:
        return any(one.type == "finish" for one in msgspec.json.decode(parts or "[]", type=list[_Part]))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError, TypeError):
        return True


def _names_only(session: dict[str, Any]) -> bool:
    return text(session.get("id")).startswith(_TITLE)
