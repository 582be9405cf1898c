"""Reads the line behind an event back, for a person to see, with its secrets taken out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from core.events import Where
from core.logs.database import content
from core.logs.lines import LONGEST, opened, take
from core.logs.records import reason
from core.logs.redaction import redact, redact_torn
from core.logs.value_secrets import hide_named

LONGEST_SHOWN = 65_536
"""Characters of a passage at most."""
_MARGIN = 16_384
"""Bytes read beyond what is shown, so that a secret across the cut is still seen as one."""


class Passage(msgspec.Struct, frozen=True):
    """What stands behind an event."""

    text: str = ""
    cut: bool = False
    """Whether there is more of it than is shown."""
    fault: str = ""
    """Why it could not be read; blank where it could."""


def read_excerpt(where: Where, longest: int = LONGEST_SHOWN) -> Passage:
    """The text of a place in a log, redacted and bounded; never raises on what the disk or the log holds."""
    try:
        if where.entry.startswith("/"):
            return _entry(where, longest)
        if where.entry:
            return _row(where, longest)
        wanted = min(where.length, longest * 4 + _MARGIN)
        return _shown(_bytes(where, wanted), where.length > wanted, longest)
    except OSError as fault:
        return Passage(fault=reason(fault))


def _entry(where: Where, longest: int) -> Passage:
    """One value of a record, named by a JSON pointer."""
    if where.length > LONGEST:
        return Passage(fault="too long to look into")
    try:
        value = msgspec.json.decode(_bytes(where, where.length))
        found = _point(value, where.entry)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError, LookupError, ValueError):
        return Passage(fault="changed since it was read")
    return _shown(msgspec.json.encode(found), False, longest)


def _row(where: Where, longest: int) -> Passage:
    """One row of a database, named by its table and id."""
    return _shown(content(Path(where.file), where.entry), False, longest)


def raw(where: Where) -> bytes:
    """What stands at a place, as it is, bounded; for those who take out what they show and redact that."""
    return Documents().raw(where)


class Documents:
    """Reads places of logs; the last record of which a part was asked for is kept decoded."""

    def __init__(self) -> None:
        self._last: tuple[tuple[str, int, int, int, int], Any] | None = None

    def raw(self, where: Where) -> bytes:
        """What stands at a place, as it is, bounded; blank where it is not there any more."""
        if not where.entry.startswith("/"):
            if where.entry:
                return content(Path(where.file), where.entry)
            return _bytes(where, min(where.length, LONGEST))
        try:
            return msgspec.json.encode(_point(self._whole(where), where.entry))
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError, LookupError, ValueError):
            return b""

    def _whole(self, where: Where) -> Any:
        status = Path(where.file).stat()
        key = where.file, where.offset, where.length, status.st_mtime_ns, status.st_size
        last = self._last
        if last is None or last[0] != key:
            last = self._last = key, msgspec.json.decode(_bytes(where, min(where.length, LONGEST)))
        return last[1]


def _bytes(where: Where, length: int) -> bytes:
    with opened(Path(where.file)) as stream:
        stream.seek(where.offset)
        return take(stream, length)


def _shown(data: bytes, more: bool, longest: int) -> Passage:
    if not data:
        return Passage(fault="changed since it was read")
    whole = (data if more else _unnamed(data)).decode("utf-8", "replace")
    text = redact_torn(whole) if more else redact(whole)
    return Passage(text[:longest], more or len(text) > longest)


def _unnamed(data: bytes) -> bytes:
    """The same without secrets that only a reader of JSON knows from the names they stand under."""
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return data
    hidden = hide_named(value)
    return data if hidden is value else msgspec.json.encode(hidden)


def _point(value: Any, pointer: str) -> Any:
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value
