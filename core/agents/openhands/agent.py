"""OpenHands: its formats, and where it keeps its conversations."""

from __future__ import annotations

from pathlib import Path

from core.logs.agent import Agent, Environment, Location, folder
from core.logs.later import FormatsLater, SurveyLater


def _roots(environment: Environment, home: Path) -> list[Path]:
    base = folder(environment, "OPENHANDS_PERSISTENCE_DIR") or home / ".openhands"
    return [folder(environment, "OPENHANDS_CONVERSATIONS_DIR") or base / "conversations"]


_DONE = ("run", "run_ipython", "read", "write", "edit", "browse", "mcp", "delegate", "error", "think")
_MARKS = (
    *(f'"observation":"{name}"'.encode() for name in _DONE),
    b'"model_response":{',
    b'"action_risk":',
    b'"kind":"ObservationEvent"',
    b'"kind":"MessageEvent"',
    b'"key":"stats"',
)
AGENT = Agent(
    "openhands",
    "OpenHands",
    FormatsLater("core.agents.openhands.reader"),
    Location(
        _roots, ("*/events",), _MARKS, survey=SurveyLater("core.agents.openhands.survey", "survey_openhands")
    ),
)
