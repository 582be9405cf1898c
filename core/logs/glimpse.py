"""What the two ends of a log tell of its session, whatever the order of its keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec

from core.logs.agent import Location
from core.logs.event_redaction import cleaned
from core.logs.lines import opened, take
from core.logs.marks import counted
from core.logs.records import stem
from core.logs.times import seconds

_HEAD = 16_384
_TAIL = 4_096
_LONG_TAILS = (65_536, 4_194_304)
"""Bytes before the end in which a time is looked for where the last ones tell none, as in a picture."""
_RECORDS = 32
_MORE = 262_144
"""Bytes of the beginning that are read where a shorter one does not name the project."""
_WHOLE = 16 * 1024 * 1024
"""Bytes of a document in which its session's id is looked for where its beginning does not tell it."""
_PROJECT = ("cwd", "directory", "projectPath", "workspace")
_HASH = "projectHash"
_SESSION = ("sessionId", "session_id")
_TELLING = tuple(f'"{name}"'.encode() for name in (*_PROJECT, _HASH, *_SESSION))
"""What a longer beginning must hold to tell more."""
_HOLDERS = ("payload", "data", "context", "info", "$set")
"""Objects in a record that tell of the session, not of what was said in it."""
_TIME = re.compile(
    rb'"(?:timestamp|lastUpdated|created_at|updated_at|created|completed|updated|time|ts)"\s*:\s*'
    rb'(?:"([^"\\]{10,40})"|(\d{10,13}(?:\.\d+)?))'
)
_FIRST = 1e9
"""Times before it, which have less than ten digits, are those of a clock that was never set."""
_TOKEN = re.compile(rb'"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?|[{}\[\]]', re.DOTALL)
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class Glimpse(NamedTuple):
    """What the two ends of a file tell."""

    project: str
    session: str
    events: int
    last: float | None
    ended: bool
    head: bytes = b""
    tail: bytes = b""


def glimpse(location: Location, stream: BinaryIO, path: Path, size: int) -> Glimpse:
    """Look at a log's ends; a size of 0 says that its end cannot be reached."""
    head = take(stream, _HEAD)
    tail = b""
    if size > _HEAD:
        stream.seek(max(_HEAD, size - _TAIL))
        tail = take(stream, _TAIL)
    last = _latest(tail)
    if last is None:
        last = last_time(stream, size) if size > _HEAD else _latest(head)
    records = _records(head)
    project = _project(records)
    if not project and size > _HEAD:
        stream.seek(0)
        more = take(stream, _MORE)
        if any(name in more for name in _TELLING):
            records = _records(more)
            project = _project(records)
    session = _first(records, _SESSION)
    if not session and location.session is not None:
        session = location.session(path)
    sampled = len(head) + len(tail)
    return Glimpse(
        project=cleaned(project),
        session=session or _named(path),
        events=counted(location, [head, tail], sampled / max(size, sampled, 1)),
        last=last,
        ended=bool(location.ended) and location.ended in (tail or head),
        head=head,
        tail=tail,
    )


def _project(records: list[dict[str, Any]]) -> str:
    return _first(records, _PROJECT) or _first(records, (_HASH,))[:12]


def last_time(stream: BinaryIO, size: int) -> float | None:
    """The latest time near the end of a log, by its own clock; None where it tells none."""
    for length in _LONG_TAILS:
        stream.seek(max(0, size - length))
        last = _latest(take(stream, length))
        if last is not None or size <= length:
            return last
    return None


def _latest(data: bytes) -> float | None:
    told = [
        at
        for written, number in _TIME.findall(data)
        if (at := seconds(written.decode("ascii", "replace") if written else float(number))) is not None
        and at >= _FIRST
    ]
    return max(told, default=None)


def _records(head: bytes) -> list[dict[str, Any]]:
    """The objects a log begins with: its whole lines, or what can be read of a document that goes on."""
    found = []
    for line in head.removeprefix(b"\xef\xbb\xbf").split(b"\n")[:_RECORDS]:
        try:
            value = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            continue
        if isinstance(value, dict):
            found.append(value)
    return found or [_outline(head)]


def _outline(head: bytes) -> dict[str, Any]:
    """The texts that stand on the first two levels of an object which is not all there."""
    if not head.lstrip().startswith(b"{"):
        return {}
    found: dict[str, Any] = {}
    for path, said in _texts(head):
        if len(path) == 1 or (len(path) == 2 and path[0] in _HOLDERS):
            found.setdefault(path[-1], said)
    return found


def told_id(path: Path, key: tuple[str, ...]) -> str:
    """The text at a place in a document, looked for in its beginning first; blank where it has none."""
    with opened(path) as stream:
        head = take(stream, _HEAD)
        found = next((said for place, said in _texts(head) if place == key), "")
        if found or len(head) < _HEAD:
            return found
        rest = take(stream, _WHOLE)
    try:
        whole = (head + rest).removeprefix(b"\xef\xbb\xbf").rstrip(b"\0 \t\r\n")
        value = msgspec.json.decode(whole, type=dict[str, msgspec.Raw])
        for name in key[:-1]:
            value = msgspec.json.decode(value[name], type=dict[str, msgspec.Raw])
        return str(msgspec.json.decode(value[key[-1]], type=str))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError, KeyError):
        return ""


def _texts(head: bytes) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every text that stands under a key in the beginning of an object, with the keys that lead to it."""
    path: list[str] = []
    key = ""
    for token in _TOKEN.finditer(head):
        mark = token[0][:1]
        if mark in (b"{", b"["):
            path.append(key)
        elif mark in (b"}", b"]"):
            path = path[:-1]
        elif token[2]:
            key = _text(token[1])
            continue
        elif key:
            yield (*path[1:], key), _text(token[1])
        key = "" if mark in (b"}", b"]", b'"') else key


def _first(records: list[dict[str, Any]], names: tuple[str, ...]) -> str:
    """The first text of these names, in a record itself before what it holds."""
    for record in records:
        for holder in _holders(record):
            for name in names:
                value = holder.get(name)
                if isinstance(value, str) and value:
                    return value
    return ""


def _holders(record: dict[str, Any]) -> list[dict[str, Any]]:
    inner = [value for name in _HOLDERS if isinstance(value := record.get(name), dict)]
    deeper = [value for one in inner for name in _HOLDERS if isinstance(value := one.get(name), dict)]
    return [record, *inner, *deeper]


def _named(path: Path) -> str:
    """The id in a file's name."""
    uuid = _UUID.search(path.name)
    return uuid[0] if uuid else stem(path).rpartition("_")[2]


def _text(raw: bytes) -> str:
    try:
        return str(msgspec.json.decode(b'"' + raw + b'"', type=str))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return raw.decode("utf-8", "replace")
