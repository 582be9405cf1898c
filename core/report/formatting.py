"""Figures and log text in words that fit a terminal."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any

from core.safe_text import safe, safe_json, whole

EMPHASIS = re.compile(r"(?<!\w)\*\*(?=\S)([^*]+?)(?<=\S)\*\*(?!\w)")  # Text between pairs of asterisks.
# Edit blocks in an agent's answer, with the file names before them.
_EDITS = re.compile(
    r"(?:^(?:`{3,}[^\n]*|\S+)\n){0,2}^<{5,9} SEARCH\b.*?^>{5,9} REPLACE\b(?:\s*^`{3,}$)?", re.DOTALL | re.MULTILINE
)


def plain(text: str, most: int = 0) -> str:
    """Return log text as one line that is safe for a terminal, shortened in the middle if too long."""
    line = safe(text)
    if most and len(line) > most:
        head = (most - 1) // 3
        return line[:head] + "…" + line[-(most - 1 - head) :]
    return line


def readable_json(value: Any) -> str:
    """Return a value as indented JSON that is safe for a terminal."""
    import msgspec

    return safe_json(msgspec.json.format(json_bytes(value), indent=2).decode())


def json_bytes(value: Any) -> bytes:
    """Return a value as JSON; names of files in other encodings are spelled as far as possible."""
    import msgspec

    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_whole(msgspec.to_builtins(value)))


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return [_whole(item) for item in value] if isinstance(value, list | tuple) else value


def span(seconds: float) -> str:
    """A duration: 7s, 4m 10s, 1h 24m, 3d 2h."""
    whole = round(seconds)
    for unit, size, lesser, small in (("d", 86400, "h", 3600), ("h", 3600, "m", 60), ("m", 60, "s", 1)):
        if whole >= size:
            rest = whole % size // small
            return f"{whole // size}{unit} {rest}{lesser}" if rest else f"{whole // size}{unit}"
    return f"{whole}s"


_DAYS = 100 * 3600  # Seconds from which a place in a session is written with its days.


def clock(seconds: float) -> str:
    """A place in a session: 00:41:12, or 119d 12:16:28."""
    whole = max(0, int(seconds))
    days, hours = divmod(whole // 3600, 24) if whole >= _DAYS else (0, whole // 3600)
    return f"{f'{days}d ' if days else ''}{hours:02d}:{whole % 3600 // 60:02d}:{whole % 60:02d}"


def short_clock(seconds: float) -> str:
    """A length of time as 1:02:03."""
    whole = max(0, int(seconds))
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def moment(at: float) -> str:
    """A date and time, in UTC."""
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, OSError, ValueError):
        return "?"


def count(number: int, noun: str) -> str:
    """`1 prompt`, `3 prompts`, `2 branches`."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun}{'es' if noun.endswith(('s', 'x', 'ch', 'sh')) else 's'}"


def times(number: int) -> str:
    """`once`, `3 times`."""
    return "once" if number == 1 else f"{number:,} times"


def short(number: float) -> str:
    """A large number: 950, 12.4k, 3.1M."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(number) >= size:
            return f"{number / size:.1f}{unit}"
    return f"{number:.0f}"


def byte_size(number: int) -> str:
    """A number of bytes in the best unit: 950 B, 1.2 kB, 12 MB."""
    amount = float(number)
    for unit in ("B", "kB", "MB"):
        if amount < 1000.0:
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 10 else f"{amount:.1f} {unit}"
        amount /= 1000.0
    return f"{amount:.1f} GB"


def token_amount(tokens: int) -> str:
    """A number of tokens as 148k."""
    return str(tokens) if tokens < 1000 else f"{tokens / 1000:.3g}k" if tokens < 1e6 else f"{tokens / 1e6:.3g}M"


def token_estimate(text: str) -> int:
    """About how many tokens a text takes."""
    return -(-len(text) // 4)


def money(dollars: float, priced: int, unpriced: int) -> str:
    """Format a cost given the priced and unpriced turns: `$1.20`, `at least $1.20`, `unknown`."""
    if not priced:
        return "unknown"
    return f"{'at least ' if unpriced else ''}${dollars:,.2f}"


def share(part: float, whole: float) -> str:
    """A part of a whole in per cent."""
    return f"{100 * part / whole:.0f}%" if whole else "0%"


def fraction(value: float) -> str:
    """A value from 0 to 1 as .71."""
    return f"{value:.2f}".removeprefix("0") if value >= 0 else f"-{fraction(-value)}"


def bar(value: float, width: int) -> str:
    """A value from 0 to 1 as a bar."""
    filled = round(min(1.0, max(0.0, value)) * width)
    return "█" * filled + "·" * (width - filled)


def age(seconds: float) -> str:
    """How long, in one unit: 12s, 4m, 3h, 2d."""
    left = max(0.0, seconds)
    for unit, size, upto in (("s", 1.0, 60.0), ("m", 60.0, 3600.0), ("h", 3600.0, 86_400.0)):
        if left < upto:
            return f"{int(left / size)}{unit}"
    return f"{int(left / 86_400.0)}d"


def last_words(text: str) -> str:
    """Return the last line of an answer with words in it, without Markdown emphasis."""
    if "\n>>>>" in text:
        text = _EDITS.sub("", text)
    for line in reversed(text.splitlines()):
        if any(letter.isalnum() for letter in line):
            return EMPHASIS.sub(r"\1", line).strip().lstrip("#> ")
    return ""


def folder_name(path: str) -> str:
    """Return the last part of a folder's path, also of a Windows path."""
    return PurePath(path.replace("\\", "/") if path[1:3] == ":\\" else path).name


def home_path(path: str) -> str:
    """A path with the home folder as ~."""
    home = str(Path.home())
    return "~" + path[len(home) :] if path == home or path.startswith(home + "/") else path


def typed_path(path: str) -> str:
    """Return a path quoted for a shell."""
    import shlex

    line = plain(path)
    return "~/" + shlex.quote(line[2:]) if line.startswith("~/") and line != "~/" else shlex.quote(line)
