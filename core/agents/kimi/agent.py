"""Kimi: its formats, and where both forms of the program keep their logs."""

from __future__ import annotations

from pathlib import Path

from core.agents.kimi import reader, wire
from core.agents.kimi.survey import survey_kimi
from core.logs.agent import Agent, Environment, Location, folder


def _roots(environment: Environment, home: Path) -> list[Path]:
    old = folder(environment, "KIMI_SHARE_DIR") or home / ".kimi"
    return [home / ".kimi-code" / "sessions", old / "sessions"]


AGENT = Agent(
    "kimi",
    "Kimi",
    (*reader.FORMATS, *wire.FORMATS),
    Location(
        _roots,
        marks=(b'"tool.result"', b'"step.end"', b'"turn.prompt"', b'"ToolResult"', b'"StatusUpdate"'),
        survey=survey_kimi,
    ),
)
