"""Where OpenCode keeps its sessions: rows of a database, or files of a storage folder."""

from __future__ import annotations

import errno
import heapq
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from core.agents.loose import decode, table, text, whole_number
from core.logs.database import connect, numbers
from core.logs.door import is_folder, read_log
from core.logs.found import Listed

_UNNAMED = re.compile(r"(?:New|Child) session - \d{4}-")
_IS_CALL = re.compile(r'"type"\s*:\s*"tool"')
_SAMPLED = 200
"""Parts of a session that are looked at to say how many of them are calls."""
_REMEMBERED = 5_000
_shares: dict[tuple[Path, str, int], float] = {}
_SESSION = ("id", "parent_id", "directory", "title", "version", "agent", "time_created", "time_updated")


class OpenCodeRow(NamedTuple):
    """One row, as a reader is fed it."""

    data: bytes
    entry: str
    """Its table and id."""
    updated: int
    """Milliseconds; ask for rows since the largest seen, and those of that very moment come again."""


def own_title(session: dict[str, Any]) -> str:
    """A session's title; blank while it has only the one every new session gets."""
    said = text(session.get("title"))
    return "" if _UNNAMED.match(said) else said


def opencode_rows(path: Path, since: int = 0, session: str = "") -> Iterator[OpenCodeRow]:
    """The rows changed since a moment, one session after the other, or those of one session alone.

    Each session comes with its sub-agents', in order of time. Raises `OSError` where the database is
    busy or broken. Nothing is written and no writer is kept waiting.
    """
    try:
        with closing(connect(path)) as database:
            known = _sessions(database)
            for root in _roots(known):
                if not session or root["id"] == session:
                    yield from _tree(database, _family(root, known), since)
    except sqlite3.Error as fault:
        raise OSError(errno.EIO, f"the database cannot be read: {fault}") from fault


def opencode_listing(path: Path) -> list[Listed]:
    """The sessions of a database: an event for each message, and one for each part that is a call."""
    try:
        with closing(connect(path)) as database:
            known = _sessions(database)
            messages, parts = numbers(database, "message"), numbers(database, "part")
            found = []
            for root in _roots(known):
                ids = [str(one["id"]) for one in _family(root, known)]
                last = max(whole_number(one.get("time_updated")) for one in _family(root, known))
                calls = sum(parts.get(one, 0) for one in ids) * _called(database, path, ids[0], last)
                count = 1 + sum(messages.get(one, 0) for one in ids) + round(calls)
                found.append(
                    Listed(ids[0], text(root.get("directory")), own_title(root), last / 1000.0, count)
                )
            return found
    except sqlite3.Error as fault:
        raise OSError(errno.EIO, f"the database cannot be read: {fault}") from fault


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
    there = {str(column[1]) for column in database.execute("PRAGMA table_info(session)")}
    wanted = [column for column in _SESSION if column in there]
    if "id" not in there:
        raise sqlite3.DatabaseError("no sessions in it")
    chosen = ", ".join(wanted)
    found = database.execute(f"SELECT {chosen} FROM session ORDER BY id")  # noqa: S608 our own words
    return [dict(zip(wanted, row, strict=True)) for row in found]


def _roots(known: list[dict[str, Any]]) -> list[dict[str, Any]]:
    ids = {session["id"] for session in known}
    found = [session for session in known if session.get("parent_id") not in ids]
    return sorted(found, key=lambda session: (whole_number(session.get("time_created")), str(session["id"])))


def _family(root: dict[str, Any], known: list[dict[str, Any]]) -> list[dict[str, Any]]:
    family, ids = [root], {root["id"]}
    while True:
        more = [one for one in known if one.get("parent_id") in ids and one["id"] not in ids]
        if not more:
            return family
        family += more
        ids.update(one["id"] for one in more)


def _tree(database: sqlite3.Connection, family: list[dict[str, Any]], since: int) -> Iterator[OpenCodeRow]:
    for session in family:
        written = msgspec.json.encode({"table": "session", "id": session["id"], "data": session})
        yield OpenCodeRow(written, f"session/{session['id']}", whole_number(session.get("time_updated")))
    streams = []
    for session in family:
        streams.append(_rows(database, "message", "time_created", str(session["id"]), since))
        streams.append(_rows(database, "part", "time_updated", str(session["id"]), since))
    for _, row in heapq.merge(*streams, key=lambda pair: pair[0]):
        yield row


def _rows(
    database: sqlite3.Connection, name: str, order: str, session: str, since: int
) -> Iterator[tuple[tuple[int, str], OpenCodeRow]]:
    message = "message_id" if name == "part" else "NULL"
    found = database.execute(
        f"SELECT id, {message}, time_created, time_updated, data FROM {name}"  # noqa: S608 our own words
        f" WHERE session_id = ? AND time_updated >= ? ORDER BY {order}, id",
        (session, since),
    )
    for row_id, message_id, created, updated, data in found:
        written = data if isinstance(data, bytes) else str(data).encode("utf-8", "replace")
        outer = msgspec.json.encode(
            {
                "table": name,
                "id": row_id,
                "session_id": session,
                "message_id": message_id,
                "time_created": created,
                "time_updated": updated,
            }
        )
        key = (whole_number(created if order == "time_created" else updated), f"{name}/{row_id}")
        yield (
            key,
            OpenCodeRow(b'%b,"data":%b}' % (outer[:-1], written), f"{name}/{row_id}", whole_number(updated)),
        )


def session_files(folder: Path) -> list[Path]:
    """The files of a folder's sessions, in the order a reader wants them: each session, then what it said."""
    root = next((place for place in folder.parents if is_folder((place / "message"))), folder)
    known = [
        {**found, "id": found["id"], "parent_id": text(found.get("parentID")), "file": file}
        for file in sorted(folder.glob("*.json"))
        if isinstance((found := _object(file)).get("id"), str)
    ]
    for session in known:
        session["time_created"] = table(session.get("time")).get("created")
    listed: list[Path] = []
    for main in _roots(known):
        family = _family(main, known)
        listed += [session["file"] for session in family]
        messages = sorted(
            (file for session in family for file in (root / "message" / session["id"]).glob("*.json")),
            key=lambda file: file.name,
        )
        listed += _spoken(root, messages, by_time=len(family) > 1)
    return listed


def _spoken(root: Path, messages: list[Path], *, by_time: bool) -> list[Path]:
    """Messages before their parts; where sub-agents ran, parts in the order they ended."""
    timed: list[tuple[int, Path]] = []
    for message in messages:
        last = _told(message) if by_time else 0
        for part in sorted((root / "part" / message.stem).glob("*.json"), key=lambda file: file.name):
            last = max(last, _told(part)) if by_time else 0
            timed.append((last, part))
    if by_time:
        timed.sort(key=lambda pair: (pair[0], pair[1].name))
    return [*messages, *(part for _, part in timed)]


def _object(file: Path) -> dict[str, Any]:
    """What a file tells; nothing where it cannot be read, which is counted when its turn comes."""
    try:
        return table(decode(read_log(file)))
    except OSError:
        return {}


def _told(file: Path) -> int:
    """When what a file tells was over; 0 where it does not say."""
    told = _object(file)
    for times in (table(table(told.get("state")).get("time")), table(told.get("time"))):
        for name in ("end", "start", "created"):
            if whole_number(times.get(name)):
                return whole_number(times.get(name))
    return 0
