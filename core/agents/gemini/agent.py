"""Gemini CLI: its formats, and where it keeps its logs."""

from __future__ import annotations

from pathlib import Path

from core.logs.agent import Agent, Environment, Location, folder
from core.logs.later import FormatsLater


def _roots(environment: Environment, home: Path) -> list[Path]:
    return [(folder(environment, "GEMINI_CLI_HOME") or home) / ".gemini" / "tmp"]


AGENT = Agent(
    "gemini",
    "Gemini CLI",
    FormatsLater("core.agents.gemini.reader"),
    Location(
        _roots,
        ("*/chats/session-*.json", "*/chats/session-*.jsonl"),
        (b'"functionResponse":{', b'"type":"gemini"', b'"type":"user"'),
        nested=".",
    ),
    resume=("gemini", "--resume", "{session}"),
)
