"""pi: its format, and where it keeps its logs."""

from __future__ import annotations

from pathlib import Path

from core.logs.agent import Agent, Environment, Location, folder
from core.logs.later import FormatsLater


def _roots(environment: Environment, home: Path) -> list[Path]:
    return [(folder(environment, "PI_CODING_AGENT_DIR") or home / ".pi" / "agent") / "sessions"]


AGENT = Agent(
    "pi",
    "pi",
    FormatsLater("core.agents.pi.reader"),
    Location(
        _roots,
        ("*/*.jsonl",),
        (b'"role":"toolResult"', b'"role":"assistant"', b'"role":"user"'),
    ),
    resume=("pi", "--session", "{path}"),
)
