"""Events of the fabric as rows and as lines."""

from __future__ import annotations

import re
from typing import Any

from core.logs.event_redaction import one_line
from core.mind.fabric import MindEvent
from core.report.recap import short_clock

_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])")


def event_name(event: MindEvent) -> str:
    """What happened, in words, such as `signal fired`."""
    return _WORDS.sub(" ", type(event).__name__).lower()


def event_details(event: MindEvent) -> str:
    """The figures of an event, without its time."""
    fields = [(name, value) for name, value in event._asdict().items() if name != "at"]
    return "  ".join(f"{name.replace('_', ' ')} {_value(value)}" for name, value in fields if value != "")


def event_row(number: int, event: MindEvent) -> dict[str, Any]:
    """An event with its number, ready for JSON."""
    fields = {
        key: one_line(value) if isinstance(value, str) else value for key, value in event._asdict().items()
    }
    return {"number": number, "kind": type(event).__name__, **fields}


def event_line(number: int, event: MindEvent, start: float) -> str:
    """An event with its number, for a person to read."""
    return f"{number:>7}  {short_clock(event.at - start):>8}  {event_name(event):<22}  {event_details(event)}"


def _value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".") or "0"
    return one_line(str(value), 48)
