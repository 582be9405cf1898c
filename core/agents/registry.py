"""The agents in use, ours and installed ones, and what their readers share."""

from __future__ import annotations

import shlex
from pathlib import Path

from core.agents.models import Models
from core.agents.normalizer import AgentKit, Normalizer
from core.agents.table import AGENTS
from core.errors import SettingsError
from core.extension.offers import in_use
from core.logs.format import Agent, Diagnostics
from core.safe_text import safe
from core.settings.program import IngestSettings, TableSettings


def known_agents() -> tuple[Agent, ...]:
    """Ours, and those of installed packages and of the person's folder; ours are asked first."""
    extensions = in_use("agent", _fits)
    if not extensions.used:
        return AGENTS
    own_names = {agent.name for agent in AGENTS}
    more = [one.value for one in extensions.used if one.value.name not in own_names]
    return tuple(sorted((*AGENTS, *more), key=lambda agent: agent.general))


def _fits(value: object) -> str:
    if not isinstance(value, Agent):
        return "it is not an Agent (core.logs.format)"
    return f"there is already an agent {value.name}" if value.name in {one.name for one in AGENTS} else ""


def unusable_agents() -> tuple[str, ...]:
    """Return what is wrong with agents of extensions."""
    return in_use("agent", _fits).complaints


def make_kit(settings: IngestSettings | None = None, more: tuple[Agent, ...] = ()) -> AgentKit:
    """Return what readers share: our tables and the usable ones of the user, a fault counter, all agents."""
    chosen = settings or IngestSettings()
    lost = unusable_tables(chosen.tables)
    agents = known_agents()
    more = (*more, *(agent for agent in agents if agent not in AGENTS))
    tools = [] if "tools" in lost else _optional_path(chosen.tables.tools)
    models = [] if "models" in lost else _optional_path(chosen.tables.models)
    return AgentKit(
        Normalizer.load(*(agent.tools for agent in more if agent.tools is not None), *tools),
        Models.load(*models, settings=chosen.context),
        Diagnostics(chosen.lines.faults),
        tuple(sorted((*AGENTS, *more), key=lambda agent: agent.general)),
    )


def unusable_tables(tables: TableSettings) -> dict[str, str]:
    """Return the person's tables that cannot be used, and why; ours are used instead."""
    lost: dict[str, str] = {}
    for name, load in (("tools", Normalizer.load), ("models", Models.load)):
        file = getattr(tables, name)
        try:
            if file:
                load(*_optional_path(file))
        except SettingsError as error:
            lost[name] = str(error)
        except (OSError, ValueError, RuntimeError) as error:
            lost[name] = f"{file!r} cannot be read: {error}"
    return lost


def _optional_path(file: str) -> list[Path]:
    return [Path(file).expanduser()] if file else []


def prompt_command(agent: str, session: str, words: str) -> list[str]:
    """Return the agent's own command that sends a prompt to a session; nothing if there is none."""
    template = next((one.prompt for one in known_agents() if one.name == agent), ())
    values = ("{session}", session), ("{text}", words)
    return [next((word.replace(*pair) for pair in values if pair[0] in word), word) for word in template]


def resume_command(agent: str, session: str, path: str, project: str) -> str:
    """Return the shell command that resumes a session in its folder; blank if there is none.

    Text from a log is quoted, and refused if it contains control characters.
    """
    template = next((one.resume for one in known_agents() if one.name == agent), ())
    values = {"{session}": session, "{path}": path}
    if not template or any(safe(text) != text for text in (session, path, project)):
        return ""
    words = [values.get(word, word) for word in template]
    if not all(words) or any(word.startswith("-") for word in (session, path) if word in words):
        return ""
    command = shlex.join(words)
    return f"cd {shlex.quote(project)} && {command}" if project.startswith("/") else command
