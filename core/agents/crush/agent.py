"""Crush: its format, and where it keeps its list of projects."""

from __future__ import annotations

from pathlib import Path

from core.logs.agent import Agent, Environment, Location, folder
from core.logs.later import FormatsLater, SurveyLater


def _roots(environment: Environment, home: Path) -> list[Path]:
    named = folder(environment, "CRUSH_GLOBAL_DATA")
    return [named or (folder(environment, "XDG_DATA_HOME") or home / ".local" / "share") / "crush"]


AGENT = Agent(
    "crush",
    "Crush",
    FormatsLater("core.agents.crush.reader"),
    Location(_roots, survey=SurveyLater("core.agents.crush.survey", "survey_crush"), elsewhere=True),
)
