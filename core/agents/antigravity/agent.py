"""Antigravity: its format, and where it keeps its transcripts."""

from __future__ import annotations

from pathlib import Path

from core.agents.antigravity.reader import FORMATS, conversation
from core.logs.agent import Agent, Environment, Location


def _roots(environment: Environment, home: Path) -> list[Path]:
    del environment
    return [home / ".gemini" / name / "brain" for name in ("antigravity", "antigravity-cli")]


AGENT = Agent(
    "antigravity",
    "Antigravity",
    FORMATS,
    Location(
        _roots,
        ("*/.system_generated/logs/transcript.jsonl",),
        (b'"source":"MODEL"', b'"type":"USER_INPUT"'),
        session=conversation,
    ),
)
