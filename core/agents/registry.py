"""The agents: the table of ours with their formats and folders, installed ones, and what their readers share."""

from __future__ import annotations

import importlib
import re
import shlex
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

from core.agents.models import Models
from core.agents.normalizer import AgentKit, Normalizer
from core.agents.tables import OURS, plain_table
from core.errors import SettingsError
from core.extension.offers import in_use
from core.logs.format import Agent, Diagnostics, Environment, FormatsLater, Location, Survey, folder
from core.safe_text import safe
from core.settings.program import IngestSettings, TableSettings

_BASE = re.compile(r"\{(\w+)(?::~/([^}]*))?\}/?")
_EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf", "Positron", "Trae")
_CLINE_EXTENSIONS = ("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", "kilocode.kilo-code")
# Where OpenClaw keeps its sessions, under the names it has had.
OPENCLAW_FOLDERS = (".openclaw", ".clawdbot", ".moltbot", ".moldbot", ".kimi_openclaw", ".qclaw")


def places(*templates: str) -> Callable[[Environment, Path], list[Path]]:
    """Return the roots that templates name, in their order.

    A template begins with `~` for the home folder, the name of a case of `_bases`, or `{VARIABLE}` for what
    an environment variable names; `{VARIABLE:~/.tool}` has a default, without one the root is left out.
    Of alternatives between bars the first counts that names a root.
    """

    def roots(environment: Environment, home: Path) -> list[Path]:
        alternatives = ((_expanded(one, environment, home) for one in every.split(" | ")) for every in templates)
        return list(chain.from_iterable(next(filter(None, each), []) for each in alternatives))

    return roots


def _expanded(template: str, environment: Environment, home: Path) -> list[Path]:
    base = _BASE.match(template)
    if base is None:
        return [home / template.removeprefix("~/")]
    default = None if base[2] is None else home / base[2]
    bases = _bases(base[1], environment, home) or [folder(environment, base[1]) or default]
    return [one / template[base.end() :] for one in bases if one is not None]


def _bases(name: str, environment: Environment, home: Path) -> list[Path | None]:
    """Return the folders that a named base of a template means; none for a variable."""
    library = home / "Library" / "Application Support"
    data = folder(environment, "XDG_DATA_HOME") or home / ".local" / "share"
    match name:
        case "settings":  # in which programs keep settings
            return [home / ".config", library, folder(environment, "APPDATA")]
        case "library":
            return [library]
        case "data":
            return [data]
        case "editors":  # in which editors of VS Code's family keep what extensions write
            bases = [base for base in _bases("settings", environment, home) if base is not None]
            users = [base / editor / "User" for base in bases for editor in _EDITORS]
            return [*users, home / ".vscode-server" / "data" / "User"]
        case "cline":
            users = [user for user in _bases("editors", environment, home) if user is not None]
            return [user / "globalStorage" / extension for user in users for extension in _CLINE_EXTENSIONS]
        case "claude":
            folders = environment.get("CLAUDE_CONFIG_DIR", "").split(",")
            named = [Path(part).expanduser() for part in folders if part.strip()]
            return [*named] or [home / ".claude", home / ".config" / "claude"]
        case "goose":
            windows = folder(environment, "APPDATA")
            return [data / "goose" / "sessions", windows and windows / "Block" / "goose" / "data" / "sessions"]
        case "openclaw":
            return [home / one for one in OPENCLAW_FOLDERS]
        case "profiles":  # of oh-my-pi
            try:
                return [*sorted((home / ".omp" / "profiles").glob("*/agent"))]
            except PermissionError:
                return []
    return []


def antigravity_conversation(path: Path) -> str:
    """Return the conversation of a transcript: the folder above what the system wrote."""
    return next((one.parent.name for one in path.parents if one.name == ".system_generated"), "")


# How a session's id is read from a log's path.
_SESSIONS: dict[str, Callable[[Path], str]] = {
    "folder": lambda path: path.parent.name,
    "conversation": antigravity_conversation,
}


def _survey_later(module: str) -> Survey:
    """Return the survey of a module, which is imported when a folder is listed with it."""
    return lambda *place: importlib.import_module(module).survey(*place)


def _bytes(text: str) -> bytes:
    return text.replace("'", '"').encode()


def _agent(name: str, row: dict[str, Any]) -> Agent:
    """Return the agent of a row of the table."""
    facts: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    formats = FormatsLater(f"core.agents.{facts.pop('module', name.replace('-', '_'))}")
    where: dict[str, Any] = {key: facts.pop(key) for key in Location._fields if key in facts}
    if not where:
        return Agent(formats=formats, name=name, **facts)
    where["roots"] = places(*where.get("roots", ()))
    where["marks"] = tuple(map(_bytes, where.get("marks", ())))
    where["once"] = tuple(re.compile(_bytes(pattern)) for pattern in where.get("once", ()))
    where |= {key: _bytes(where[key]) for key in ("aside", "ended") if key in where}
    if "goes_on" in where:
        where["goes_on"] = re.compile(where["goes_on"])
    if "survey" in where:
        where["survey"] = _survey_later(f"core.agents.{where['survey']}")
    if "session" in where:
        where["session"] = _SESSIONS[where["session"]]
    return Agent(formats=formats, name=name, location=Location(**where), **facts)


_TABLE = plain_table((OURS / "agents.toml").read_text("utf-8"))
AGENTS = tuple(_agent(name, row) for name, row in _TABLE.items())


def agent_named(name: str) -> Agent:
    """Return one of our agents by its name."""
    return next(agent for agent in AGENTS if agent.name == name)


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
