"""JSON and times as agents write them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any


def line(record: Any) -> bytes:
    """One record, without spaces."""
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode()


def lines(records: Iterable[Any]) -> bytes:
    """A file with one record a line."""
    return b"".join(line(record) + b"\n" for record in records)


def iso(at: float) -> str:
    """A time in UTC, to the millisecond."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def day(at: float, form: str) -> str:
    """A time in UTC, in a form of strftime."""
    return datetime.fromtimestamp(at, UTC).strftime(form)


def numbered(text: str) -> str:
    """A file's text with line numbers, as some agents show it."""
    return "\n".join(f"{number:>6}→{row}" for number, row in enumerate(text.split("\n"), 1))
