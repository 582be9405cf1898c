"""Where each agent keeps its logs, and how the names in there are to be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

Environment = Mapping[str, str]


class Place(NamedTuple):
    """One agent's store of sessions."""

    agent: str
    roots: Callable[[Environment, Path], list[Path]]
    patterns: tuple[str, ...]
    """Of the main logs, below a root."""
    marks: tuple[bytes, ...]
    """What stands in a log about once an event, with no blank after a colon."""
    passed_over: str = ""
    """Names that begin so belong to no session of their own."""
    nested: str = ""
    """Where the logs of sub-agents are, below the folder named like the session."""
    ended: bytes = b""
    """What the last lines hold once a session is over."""
    store: Literal["files", "openhands", "opencode"] = "files"
    """How sessions lie there."""


def roots(environment: Environment, home: Path) -> list[tuple[str, Path]]:
    """Every existing folder in which an agent may write a session, with the agent's name."""
    return [
        (place.agent, root) for place in PLACES for root in place.roots(environment, home) if root.is_dir()
    ]


def _claude(environment: Environment, home: Path) -> list[Path]:
    named = environment.get("CLAUDE_CONFIG_DIR", "")
    bases = [Path(part).expanduser() for part in named.split(",") if part.strip()]
    return [base / "projects" for base in bases or [home / ".claude", home / ".config" / "claude"]]


def _codex(environment: Environment, home: Path) -> list[Path]:
    base = _named(environment, "CODEX_HOME") or home / ".codex"
    return [base / "sessions", base / "archived_sessions"]


def _gemini(environment: Environment, home: Path) -> list[Path]:
    return [(_named(environment, "GEMINI_CLI_HOME") or home) / ".gemini" / "tmp"]


def _opencode(environment: Environment, home: Path) -> list[Path]:
    return [(_named(environment, "XDG_DATA_HOME") or home / ".local" / "share") / "opencode"]


def _pi(environment: Environment, home: Path) -> list[Path]:
    return [(_named(environment, "PI_CODING_AGENT_DIR") or home / ".pi" / "agent") / "sessions"]


def _openhands(environment: Environment, home: Path) -> list[Path]:
    named = _named(environment, "OPENHANDS_CONVERSATIONS_DIR")
    return [
        named or (_named(environment, "OPENHANDS_PERSISTENCE_DIR") or home / ".openhands") / "conversations"
    ]


def _copilot(environment: Environment, home: Path) -> list[Path]:
    return [_named(environment, "COPILOT_HOME") or home / ".copilot"]


def _received(environment: Environment, home: Path) -> list[Path]:
    base = _named(environment, "XDG_DATA_HOME") or home / ".local" / "share"
    return [folder / "nooscope" / "received" for folder in (base, home / "Library" / "Application Support")]


def _named(environment: Environment, name: str) -> Path | None:
    value = environment.get(name, "").strip()
    return Path(value).expanduser() if value else None


PLACES = (
    Place(
        "claude-code",
        _claude,
        ("*/*.jsonl",),
        (b'"tool_use_id"', b'"role":"assistant"'),
        passed_over="agent-",
        nested="subagents",
    ),
    Place(
        "codex",
        _codex,
        ("rollout-*.jsonl", "rollout-*.jsonl.zst", "*/*/*/rollout-*.jsonl", "*/*/*/rollout-*.jsonl.zst"),
        (b'_call_output"', b'"token_count"', b'"user_message"'),
    ),
    Place(
        "gemini",
        _gemini,
        ("*/chats/session-*.json", "*/chats/session-*.jsonl"),
        (b'"status":', b'"type":"gemini"', b'"type":"user"'),
        nested=".",
    ),
    Place(
        "pi",
        _pi,
        ("*/*.jsonl",),
        (b'"role":"toolResult"', b'"role":"assistant"', b'"role":"user"'),
    ),
    Place(
        "copilot-cli",
        _copilot,
        ("**/events.jsonl",),
        (b'"tool.execution_complete"', b'"assistant.turn_end"', b'"user.message"'),
        ended=b'"session.shutdown"',
    ),
    Place(
        "nooscope",
        _received,
        ("*.jsonl",),
        (b'"kind":"tool_use"', b'"kind":"turn"', b'"kind":"prompt"'),
        ended=b'"kind":"session_end"',
    ),
    Place("openhands", _openhands, ("*/events",), (), store="openhands"),
    Place("opencode", _opencode, (), (), store="opencode"),
)


def _nowhere(_environment: Environment, _home: Path) -> list[Path]:
    return []


ANYWHERE = Place("", _nowhere, (), (b'"role":', b'"action":', b'"observation":', b'"tool":'))
"""What is known of logs that lie elsewhere."""
