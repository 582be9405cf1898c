"""The rows of Crush's database, as its reader is fed them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import msgspec

from core.agents.loose import text, whole_number
from core.logs.database import numbers, reading, select
from core.logs.found import Listed
from core.logs.times import seconds

_SESSION = (
    *("id", "parent_session_id", "title", "prompt_tokens", "completion_tokens"),
    *("cost", "summary_message_id", "created_at", "updated_at"),
)
_MESSAGE = (
    *("id", "session_id", "role", "model", "provider"),
    *("is_summary_message", "created_at", "updated_at", "parts"),
)
_HOLDERS = (".crush", ".opencode")
"""Folders of a project in which the database lies."""
_WRITTEN = 3600
"""For how long a message may still be written after it was begun, in seconds."""
_EARLIEST_MILLISECONDS = 100_000_000_000
_TITLE = "title-"
"""How sessions that only made a title for another begin."""


class CrushRow(NamedTuple):
    """One row, as a reader is fed it."""

    data: bytes
    entry: str
    """Its table and id."""
    updated: int
    """As the database counts time; rows since the largest seen come again where they are of that moment."""


def crush_rows(path: Path, since: int = 0, session: str = "") -> Iterator[CrushRow]:
    """The messages changed since a moment, each session after its row and before what it spent.

    Only rows begun shortly before that moment are looked at: older messages no longer change.
    """
    with reading(path) as database:
        known = [one for one in select(database, "sessions", _SESSION) if not _names_only(one)]
        ids = {one["id"] for one in known}
        roots = [one for one in known if one.get("parent_session_id") not in ids]
        roots.sort(key=lambda one: (whole_number(one.get("created_at")), str(one["id"])))
        for root in roots:
            if not session or root["id"] == session:
                yield from _tree(database, with_children(root, known), since)


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


def _tree(database: sqlite3.Connection, members: list[dict[str, Any]], since: int) -> Iterator[CrushRow]:
    for one in members:
        yield _row("sessions", one, 0)
    ids = [one["id"] for one in members]
    marks = ", ".join("?" * len(ids))
    begun = since - (_WRITTEN * 1000 if since > _EARLIEST_MILLISECONDS else _WRITTEN)
    rest = f"WHERE created_at >= ? AND updated_at >= ? AND session_id IN ({marks}) ORDER BY created_at, rowid"
    for message in select(database, "messages", _MESSAGE, rest, (begun, since, *ids)):
        yield _row("messages", message, whole_number(message.get("updated_at")))
    yield _row("spent", members[0], 0)


def _row(table: str, told: dict[str, Any], updated: int) -> CrushRow:
    parts = told.get("parts")
    outer = {name: value for name, value in told.items() if not isinstance(value, bytes) and name != "parts"}
    data = msgspec.json.encode({"table": table, **outer})
    if isinstance(parts, str | bytes) and parts:
        inner = parts if isinstance(parts, bytes) else parts.encode("utf-8", "replace")
        data = b'%b,"parts":%b}' % (data[:-1], inner)
    entry = f"{'messages' if table == 'messages' else 'sessions'}/{told.get('id')}"
    return CrushRow(data, entry, updated)


def _names_only(session: dict[str, Any]) -> bool:
    return text(session.get("id")).startswith(_TITLE)
