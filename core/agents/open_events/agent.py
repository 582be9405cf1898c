"""The open event format, and where sessions that `listen` received lie."""

from __future__ import annotations

from pathlib import Path

from core.logs.agent import Agent, Environment, Location, folder
from core.logs.later import FormatsLater


def _roots(environment: Environment, home: Path) -> list[Path]:
    base = folder(environment, "XDG_DATA_HOME") or home / ".local" / "share"
    return [place / "nooscope" / "received" for place in (base, home / "Library" / "Application Support")]


AGENT = Agent(
    "nooscope",
    "Open event format",
    FormatsLater("core.agents.open_events.reader"),
    Location(
        _roots,
        ("*.jsonl",),
        (b'"kind":"tool_use"', b'"kind":"turn"', b'"kind":"prompt"'),
        ended=b'"kind":"session_end"',
    ),
    general=True,
)
