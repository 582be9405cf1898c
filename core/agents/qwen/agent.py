"""Qwen Code: its format, and where it keeps its chats."""

from __future__ import annotations

from pathlib import Path

from core.logs.agent import Agent, Environment, Location, folder
from core.logs.later import FormatsLater


def _roots(environment: Environment, home: Path) -> list[Path]:
    named = folder(environment, "QWEN_RUNTIME_DIR") or folder(environment, "QWEN_HOME")
    return [(named or home / ".qwen") / "projects"]


AGENT = Agent(
    "qwen",
    "Qwen Code",
    FormatsLater("core.agents.qwen.reader"),
    Location(
        _roots,
        ("*/chats/*.jsonl",),
        (b'"type":"assistant"', b'"type":"tool_result"', b'"type":"user"'),
        beside="../subagents/{session}",
    ),
    resume=("qwen", "--resume", "{session}"),
)
