"""Every agent that can be read: one for each folder beside this file."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from pathlib import Path

from core.agents.models import Models
from core.agents.normalizer import Normalizer
from core.agents.reader import AgentKit
from core.logs.agent import Agent
from core.logs.diagnostics import Diagnostics
from core.settings.logs import IngestSettings


def agents_in(package: str) -> tuple[Agent, ...]:
    """The agents of a package: the `AGENT` of each folder in it that has a module `agent`."""
    places = importlib.import_module(package).__path__
    names = sorted(module.name for module in pkgutil.iter_modules(places) if module.ispkg)
    found = [
        importlib.import_module(f"{package}.{name}.agent").AGENT
        for name in names
        if importlib.util.find_spec(f"{package}.{name}.agent") is not None
    ]
    return tuple(sorted(found, key=lambda agent: agent.general))


AGENTS: tuple[Agent, ...] = agents_in("core.agents")
"""In order of name, those whose format is no one agent's own at the end."""

FORMATS = tuple(known for agent in AGENTS for known in agent.formats)


def make_kit(settings: IngestSettings | None = None, more: tuple[Agent, ...] = ()) -> AgentKit:
    """What readers share: our tables and the user's, an empty fault counter; `more` agents beside our own."""
    chosen = settings or IngestSettings()
    tools = [agent.tools for agent in more if agent.tools is not None]
    return AgentKit(
        Normalizer.load(*tools, *_given(chosen.tables.tools)),
        Models.load(*_given(chosen.tables.models), settings=chosen.context),
        Diagnostics(chosen.lines.faults),
        tuple(sorted((*AGENTS, *more), key=lambda agent: agent.general)),
    )


def _given(file: str) -> list[Path]:
    return [Path(file).expanduser()] if file else []
