"""Cline, Roo Code and Kilo's older version: their formats, and where they keep their tasks."""

from __future__ import annotations

from pathlib import Path

from core.logs.agent import Agent, Environment, Location, folder
from core.logs.later import FormatsLater, SurveyLater

_EXTENSIONS = ("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", "kilocode.kilo-code")
_EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")


def _roots(environment: Environment, home: Path) -> list[Path]:
    own = folder(environment, "CLINE_DATA_DIR") or home / ".cline" / "data"
    settings = [home / ".config", home / "Library" / "Application Support"]
    roaming = folder(environment, "APPDATA")
    users = [base / editor / "User" for base in (*settings, *filter(None, [roaming])) for editor in _EDITORS]
    users.append(home / ".vscode-server" / "data" / "User")
    kept = [user / "globalStorage" / extension for user in users for extension in _EXTENSIONS]
    return [own / "sessions", *(base / "tasks" for base in (own, *kept))]


_MARKS = (b'"type":"tool_result"', b'"role":"assistant"', b'"type":"ask"', b'"type":"say"')
AGENT = Agent(
    "cline",
    "Cline",
    FormatsLater("core.agents.cline.reader"),
    Location(_roots, (), _MARKS, survey=SurveyLater("core.agents.cline.survey", "survey_cline")),
)
