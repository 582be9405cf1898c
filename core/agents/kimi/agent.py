"""Kimi: its formats, and where both forms of the program keep their logs."""

from __future__ import annotations

from pathlib import Path

from core.logs.agent import Agent, Environment, Location, folder
from core.logs.later import FormatsLater, SurveyLater


def _roots(environment: Environment, home: Path) -> list[Path]:
    old = folder(environment, "KIMI_SHARE_DIR") or home / ".kimi"
    return [home / ".kimi-code" / "sessions", old / "sessions"]


AGENT = Agent(
    "kimi",
    "Kimi",
    FormatsLater("core.agents.kimi.reader", "core.agents.kimi.wire"),
    Location(
        _roots,
        marks=(b'"tool.result"', b'"step.end"', b'"turn.prompt"', b'"ToolResult"', b'"StatusUpdate"'),
        survey=SurveyLater("core.agents.kimi.survey", "survey_kimi"),
    ),
)
