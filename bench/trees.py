"""Trees of Claude Code logs as large as wanted, made of real logs where there are some beside the project."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache
from itertools import islice
from pathlib import Path

from bench.claude import lines

REAL = Path(__file__).resolve().parents[2] / "shared" / "data" / "real_sessions" / "claude-code"
_UUID = re.compile(rb"\b([0-9a-f]{8})(-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b")
_DAY = re.compile(rb"\b20\d\d-\d\d-\d\dT")
_NAMED = re.compile(rb"(toolu_|msg_|req_)([0-9A-Za-z]{6,})")


def write_sessions(folder: Path, size: int, *, copies: bool = False) -> int:
    """Fill a folder with sessions of about `size` bytes in all; the bytes written.

    Each time round the same logs come again: as other sessions with ids and days of their own, or as copies
    that repeat the same lines, as a session that is resumed again and again leaves them.
    """
    written = number = 0
    while written < size:
        for name, content in _originals():
            renamed = name.encode()
            if not copies:
                renamed, content = _renamed(renamed, number), _renamed(content, number)
            path = folder / f"project-{number:04d}" / renamed.decode()
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            written += len(content)
            if written >= size:
                break
        number += 1
    return written


def _originals() -> Iterator[tuple[str, bytes]]:
    if REAL.is_dir():
        for path in sorted(REAL.rglob("*.jsonl")):
            yield str(path.relative_to(REAL)), path.read_bytes()
        return
    for seed in range(1, 9):
        yield f"{seed}.jsonl", b"".join(islice(lines(seed), 800))


def _renamed(content: bytes, number: int) -> bytes:
    mark = b"%04x" % number
    content = _UUID.sub(lambda found: mark + found[1][4:] + found[2], content)
    content = _NAMED.sub(lambda found: found[1] + mark + found[2], content)
    return _DAY.sub(lambda found: _later(found[0], number), content)


@cache
def _later(day: bytes, days: int) -> bytes:
    try:
        moved = date.fromisoformat(day[:-1].decode()) + timedelta(days)
    except ValueError:
        return day
    return f"{moved}T".encode()
