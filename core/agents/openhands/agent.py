"""OpenHands: its formats, and where it keeps its conversations."""

from __future__ import annotations

from pathlib import Path

from core.agents.openhands.reader import FORMATS
from core.agents.openhands.survey import survey
from core.logs.agent import Agent, Environment, Location, folder


def _roots(environment: Environment, home: Path) -> list[Path]:
    base = folder(environment, "OPENHANDS_PERSISTENCE_DIR") or home / ".openhands"
    return [folder(environment, "OPENHANDS_CONVERSATIONS_DIR") or base / "conversations"]


_MARKS = (
    b'"observation":"',
    b'"model_response":{',
    b'"kind":"ObservationEvent"',
    b'"kind":"MessageEvent"',
    b'"key":"stats"',
)
AGENT = Agent("openhands", "OpenHands", FORMATS, Location(_roots, ("*/events",), _MARKS, survey=survey))
