"""Claude Code: its formats, and where it keeps its logs."""

from __future__ import annotations

from pathlib import Path

from core.agents.claude_code.reader import FORMATS
from core.logs.agent import Agent, Environment, Location


def _roots(environment: Environment, home: Path) -> list[Path]:
    named = environment.get("CLAUDE_CONFIG_DIR", "")
    bases = [Path(part).expanduser() for part in named.split(",") if part.strip()]
    return [base / "projects" for base in bases or [home / ".claude", home / ".config" / "claude"]]


AGENT = Agent(
    "claude-code",
    "Claude Code",
    FORMATS,
    Location(
        _roots,
        ("*/*.jsonl",),
        (b'"role":"user","content":"',),
        (b'"tool_use_id":"', b'"id":"msg_'),
        aside=b'"type":"progress"',
        passed_over="agent-",
        nested="subagents",
    ),
)
