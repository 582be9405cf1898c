"""Every agent that can be read: one for each folder beside this file."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

from core.agents.models import Models
from core.agents.normalizer import Normalizer
from core.agents.reader import AgentKit
from core.logs.agent import Agent
from core.logs.diagnostics import Diagnostics
from core.settings.logs import IngestSettings


def _agents() -> tuple[Agent, ...]:
    folder = str(Path(__file__).parent)
    names = sorted(module.name for module in pkgutil.iter_modules([folder]) if module.ispkg)
    found = [importlib.import_module(f"core.agents.{name}.agent").AGENT for name in names if name != "tables"]
    return tuple(sorted(found, key=lambda agent: agent.general))


AGENTS: tuple[Agent, ...] = _agents()
"""In order of name, those whose format is no one agent's own at the end."""

FORMATS = tuple(known for agent in AGENTS for known in agent.formats)


def make_kit(settings: IngestSettings | None = None) -> AgentKit:
    """What readers share: our tables and the user's, and an empty fault counter."""
    chosen = settings or IngestSettings()
    return AgentKit(
        Normalizer.load(*_given(chosen.tables.tools)),
        Models.load(*_given(chosen.tables.models), settings=chosen.context),
        Diagnostics(chosen.lines.faults),
        AGENTS,
    )


def _given(file: str) -> list[Path]:
    return [Path(file).expanduser()] if file else []
