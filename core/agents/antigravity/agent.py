"""Antigravity: its format, and where it keeps its transcripts."""

from __future__ import annotations

from pathlib import Path

from core.agents.antigravity.places import conversation
from core.logs.agent import Agent, Environment, Location
from core.logs.later import FormatsLater


def _roots(environment: Environment, home: Path) -> list[Path]:
    del environment
    return [home / ".gemini" / name / "brain" for name in ("antigravity", "antigravity-cli")]


AGENT = Agent(
    "antigravity",
    "Antigravity",
    FormatsLater("core.agents.antigravity.reader"),
    Location(
        _roots,
        ("*/.system_generated/logs/transcript.jsonl",),
        (b'"source":"MODEL"', b'"type":"USER_INPUT"'),
        session=conversation,
    ),
)
