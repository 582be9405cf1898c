"""Claude Code: its formats, and where it keeps its logs."""

from __future__ import annotations

import re
from pathlib import Path

from core.logs.agent import Agent, Environment, Location
from core.logs.later import FormatsLater


def _roots(environment: Environment, home: Path) -> list[Path]:
    named = environment.get("CLAUDE_CONFIG_DIR", "")
    bases = [Path(part).expanduser() for part in named.split(",") if part.strip()]
    return [base / "projects" for base in bases or [home / ".claude", home / ".config" / "claude"]]


_RESULT = re.compile(rb'"tool_use_id":"([^"]{1,100})"')
_ANSWER = re.compile(rb'"id":"([^"]{1,100})","(?:type":"message"|role":"assistant"|model":")')
AGENT = Agent(
    "claude-code",
    "Claude Code",
    FormatsLater("core.agents.claude_code.reader"),
    Location(
        _roots,
        ("*/*.jsonl",),
        (b'"role":"user","content":"',),
        (_RESULT, _ANSWER),
        aside=b'"type":"progress"',
        passed_over="agent-",
        nested="subagents",
    ),
    resume=("claude", "--resume", "{session}"),
    certain=True,
)
