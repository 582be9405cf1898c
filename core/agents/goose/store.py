"""The rows of Goose's database, as its reader is fed them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from core.agents.loose import text
from core.logs.database import numbers, reading, select
from core.logs.found import Listed
from core.logs.rows_read import DatabaseRow, RowsRead
from core.logs.times import seconds

_SESSION = (
    *("id", "name", "description", "session_type", "working_dir", "created_at", "updated_at"),
    *("provider_name", "model_config_json", "total_tokens"),
    *("accumulated_input_tokens", "accumulated_output_tokens"),
)
_MESSAGE = ("id", "message_id", "session_id", "role", "created_timestamp", "metadata_json", "content_json")


def goose_rows(
    path: Path, session: str = "", read: RowsRead | None = None, *, heads: bool = False
) -> Iterator[DatabaseRow]:
    """The messages of a database, each session after its row and before what it spent.

    Messages are only ever added, or all of a session's added again with new numbers: of a session that was
    `read` before only what came since is. With `heads`, the sessions' own rows alone.
    """
    chosen = ("WHERE id = ?", (session,)) if session else ("ORDER BY created_at, rowid", ())
    with reading(path) as database:
        for one in list(select(database, "sessions", _SESSION, *chosen)):
            yield _row("sessions", one)
            if not heads:
                messages = _messages(database, one["id"], read if session else None)
                yield from (_row("messages", message) for message in messages)
                yield _row("spent", one)


def _messages(database: sqlite3.Connection, session: str, read: RowsRead | None) -> Iterable[dict[str, Any]]:
    if read is not None and read.goes_on(database, ("messages",)):
        found = read.of("messages").changed(database, _MESSAGE)
        return [one for one in found if one["session_id"] == session]
    return select(database, "messages", _MESSAGE, "WHERE session_id = ? ORDER BY id", (session,))


def goose_listing(path: Path) -> list[Listed]:
    """The sessions of a database; each message is about one event."""
    with reading(path) as database:
        known = list(select(database, "sessions", _SESSION, "ORDER BY created_at, rowid"))
        messages = numbers(database, "messages")
    return [
        Listed(
            str(one["id"]),
            text(one.get("working_dir")),
            text(one.get("name")) or text(one.get("description")),
            seconds(one.get("updated_at")),
            1 + messages.get(str(one["id"]), 0),
        )
        for one in known
    ]


def _row(table: str, told: dict[str, Any]) -> DatabaseRow:
    outer: dict[str, Any] = {"table": table}
    for name, value in told.items():
        if name.endswith("_json"):
            written = value if isinstance(value, bytes) else str(value or "null").encode("utf-8", "replace")
            outer[name.removesuffix("_json")] = msgspec.Raw(written)
        elif not isinstance(value, bytes) and name != "rowid":
            outer[name] = value
    entry = f"{'messages' if table == 'messages' else 'sessions'}/{told.get('id')}"
    return DatabaseRow(msgspec.json.encode(outer), entry)
