"""Droid: its format, and where it keeps its logs."""

from __future__ import annotations

from pathlib import Path

from core.logs.agent import Agent, Environment, Location
from core.logs.later import FormatsLater


def _roots(_environment: Environment, home: Path) -> list[Path]:
    return [home / ".factory" / "sessions"]


AGENT = Agent(
    "droid",
    "Droid",
    FormatsLater("core.agents.droid.reader"),
    Location(_roots, ("*/*.jsonl", "*.jsonl"), (b'"tool_use_id"', b'"role":"assistant"')),
)
