"""The rows of Goose's database, as its reader is fed them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from core.agents.loose import text, whole_number
from core.logs.database import numbers, reading, select
from core.logs.found import Listed
from core.logs.times import seconds

_SESSION = (
    *("id", "name", "description", "session_type", "working_dir", "created_at", "updated_at"),
    *("provider_name", "model_config_json", "total_tokens"),
    *("accumulated_input_tokens", "accumulated_output_tokens"),
)
_MESSAGE = ("id", "message_id", "session_id", "role", "created_timestamp", "metadata_json", "content_json")


class GooseRow(NamedTuple):
    """One row, as a reader is fed it."""

    data: bytes
    entry: str
    """Its table and id."""
    updated: int
    """The number of a message, which grows; ask for those since the largest seen."""


def goose_rows(path: Path, since: int = 0, session: str = "") -> Iterator[GooseRow]:
    """The messages from a number on, each session after its row and before what it spent.

    Messages are only ever added, or all of a session's added again with new numbers.
    """
    chosen = ("WHERE id = ?", (session,)) if session else ("ORDER BY created_at, rowid", ())
    with reading(path) as database:
        for one in list(select(database, "sessions", _SESSION, *chosen)):
            yield _row("sessions", one, 0)
            rest = "WHERE id >= ? AND session_id = ? ORDER BY id"
            for message in select(database, "messages", _MESSAGE, rest, (since, one["id"])):
                yield _row("messages", message, whole_number(message.get("id")))
            yield _row("spent", one, 0)


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


def _row(table: str, told: dict[str, Any], updated: int) -> GooseRow:
    outer: dict[str, Any] = {"table": table}
    for name, value in told.items():
        if name.endswith("_json"):
            written = value if isinstance(value, bytes) else str(value or "null").encode("utf-8", "replace")
            outer[name.removesuffix("_json")] = msgspec.Raw(written)
        elif not isinstance(value, bytes):
            outer[name] = value
    entry = f"{'messages' if table == 'messages' else 'sessions'}/{told.get('id')}"
    return GooseRow(msgspec.json.encode(outer), entry, updated)
