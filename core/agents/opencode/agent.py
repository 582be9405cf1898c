"""OpenCode, and Kilo which is made from it: its formats, and where they keep their sessions."""

from __future__ import annotations

from pathlib import Path

from core.logs.agent import Agent, Environment, Location, folder
from core.logs.later import FormatsLater, SurveyLater


def _roots(environment: Environment, home: Path) -> list[Path]:
    kept = folder(environment, "XDG_DATA_HOME") or home / ".local" / "share"
    return [kept / "opencode", kept / "kilo"]


_MARKS = (b'"type":"tool"', b'"role":"assistant"', b'"role":"user"')
AGENT = Agent(
    "opencode",
    "OpenCode",
    FormatsLater("core.agents.opencode.reader"),
    Location(_roots, (), _MARKS, survey=SurveyLater("core.agents.opencode.survey", "survey_opencode")),
    resume=("opencode", "-s", "{session}"),
)
