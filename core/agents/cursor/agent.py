"""Cursor: the transcripts of its agent, and where it keeps them."""

from __future__ import annotations

from pathlib import Path

from core.logs.agent import Agent, Environment, Location
from core.logs.later import FormatsLater


def _roots(environment: Environment, home: Path) -> list[Path]:
    del environment
    return [home / ".cursor" / "projects"]


AGENT = Agent(
    "cursor",
    "Cursor",
    FormatsLater("core.agents.cursor.reader"),
    Location(
        _roots,
        ("*/agent-transcripts/*/*.jsonl", "*/agent-transcripts/*.jsonl"),
        (b'"role":"user"', b'"role":"assistant"', b'"type":"tool_use"'),
        beside="subagents",
    ),
    resume=("cursor-agent", "--resume", "{session}"),
)
