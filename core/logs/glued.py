"""Objects that stand behind each other on one line, as two writers or a lost line end leave them."""

from __future__ import annotations

import json
import re

from core.events import Where

_SEAM = re.compile(rb"\}[\0 \t\r]*[^\0 \t\r]")
_BLANK = re.compile(r"[\0 \t\r]*")
_MOST = 10_000
"""Objects on one line; one with more was not written by an agent and stays a broken line."""
_scan = json.JSONDecoder(parse_int=len, strict=False).raw_decode
"""Only where an object ends matters, and a number may have more digits than Python turns into one."""


def glued(record: bytes, where: Where) -> list[tuple[bytes, Where]]:
    """Each whole object that a line begins with, then what is left, each with its place in the file.

    Nothing where it does not begin with one, is just one, or holds very many. Who reads a log while it is
    written takes the first of them before the next is there; so must who reads it later.
    """
    if b"\n" in record or not _SEAM.search(record):
        return []
    text = record.decode("latin-1")
    found: list[tuple[bytes, Where]] = []
    begin = 0
    while begin < len(text):
        end = _end_of_object(text, begin)
        if not end:
            if not found:
                return []
            end = len(text)
        place = Where(where.file, where.offset + begin, end - begin, where.entry)
        found.append((record[begin:end], place))
        if len(found) > _MOST:
            return []
        blank = _BLANK.match(text, end)
        begin = blank.end() if blank is not None else end
    return found if len(found) > 1 else []


def _end_of_object(text: str, begin: int) -> int:
    """Where the object ends that stands at a place; 0 where there is none, or only half of one."""
    if text[begin] != "{":
        return 0
    try:
        return int(_scan(text, begin)[1])
    except (ValueError, RecursionError):
        return 0
