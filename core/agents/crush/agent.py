"""Crush: its format, and where it keeps its list of projects."""

from __future__ import annotations

from pathlib import Path

from core.agents.crush.reader import FORMATS
from core.agents.crush.survey import survey_crush
from core.logs.agent import Agent, Environment, Location, folder


def _roots(environment: Environment, home: Path) -> list[Path]:
    named = folder(environment, "CRUSH_GLOBAL_DATA")
    return [named or (folder(environment, "XDG_DATA_HOME") or home / ".local" / "share") / "crush"]


AGENT = Agent("crush", "Crush", FORMATS, Location(_roots, survey=survey_crush, elsewhere=True))
