"""What a mind did, as a line to read and as JSON for a program."""

from __future__ import annotations

import re

import msgspec

from core.engine.mind.fabric import MindEvent
from core.report.formatting import moment, plain
from core.safe_text import safe_json_bytes

_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


def mind_line(agent: str, event: MindEvent) -> str:
    """One thing a mind did, in words."""
    who = "" if agent == "main" else f" {plain(agent, 40)}"
    return f"{moment(event.at)}{who}  · {event_name(event)}: {plain(event_facts(event), 200)}"


def event_name(event: MindEvent) -> str:
    """What happened, in words, such as `signal fired`."""
    return _CAPITAL.sub(" ", type(event).__name__).lower()


def event_facts(event: MindEvent) -> str:
    """The figures of it, without its time."""
    fields = event._asdict()
    fields.pop("at")
    return ", ".join(
        f"{key.replace('_', ' ')} {_said(value)}" for key, value in fields.items() if value != ""
    )


def mind_json(number: int, agent: str, event: MindEvent) -> bytes:
    """The same for a program to read."""
    encoded = msgspec.json.encode(
        {"number": number, "agent": agent, "event": type(event).__name__, **event._asdict()}
    )
    return safe_json_bytes(encoded)


def _said(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else "unknown" if value is None else str(value)
