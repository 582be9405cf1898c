"""Codex CLI: its formats, and where it keeps its logs."""

from __future__ import annotations

import re
from pathlib import Path

from core.logs.agent import Agent, Environment, Location, folder
from core.logs.later import FormatsLater


def _roots(environment: Environment, home: Path) -> list[Path]:
    base = folder(environment, "CODEX_HOME") or home / ".codex"
    return [base / "sessions", base / "archived_sessions"]


AGENT = Agent(
    "codex",
    "Codex",
    FormatsLater("core.agents.codex.reader"),
    Location(
        _roots,
        ("rollout-*.jsonl", "rollout-*.jsonl.zst", "*/*/*/rollout-*.jsonl", "*/*/*/rollout-*.jsonl.zst"),
        (b'_call_output"', b'"type":"user_message"', b'"type":"UserMessage"'),
        (re.compile(rb'"total_token_usage":\{"input_tokens":(\d{1,15})'),),
    ),
    resume=("codex", "resume", "{session}"),
    certain=True,
)
