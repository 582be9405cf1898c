"""Goose: its formats, and where it keeps its sessions."""

from __future__ import annotations

from pathlib import Path

from core.logs.agent import Agent, Environment, Location, folder
from core.logs.later import FormatsLater, SurveyLater


def _roots(environment: Environment, home: Path) -> list[Path]:
    moved = folder(environment, "GOOSE_PATH_ROOT")
    if moved is not None:
        return [moved / "data" / "sessions"]
    kept = (folder(environment, "XDG_DATA_HOME") or home / ".local" / "share") / "goose" / "sessions"
    windows = folder(environment, "APPDATA")
    return [kept, *([windows / "Block" / "goose" / "data" / "sessions"] if windows else [])]


AGENT = Agent(
    "goose",
    "Goose",
    FormatsLater("core.agents.goose.reader"),
    Location(_roots, survey=SurveyLater("core.agents.goose.survey", "survey_goose")),
)
