"""Copilot CLI: its format, and where it keeps its logs."""

from __future__ import annotations

from pathlib import Path

from core.logs.agent import Agent, Environment, Location, folder
from core.logs.later import FormatsLater


def _roots(environment: Environment, home: Path) -> list[Path]:
    return [folder(environment, "COPILOT_HOME") or home / ".copilot"]


AGENT = Agent(
    "copilot-cli",
    "Copilot CLI",
    FormatsLater("core.agents.copilot.reader"),
    Location(
        _roots,
        ("**/events.jsonl",),
        (b'"type":"tool.execution_complete"', b'"type":"assistant.message"', b'"type":"user.message"'),
        ended=b'"session.shutdown"',
    ),
    resume=("copilot", "--resume", "{session}"),
)
