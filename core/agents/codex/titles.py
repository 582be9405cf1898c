"""The name that a line of a Codex rollout gives its thread."""

from __future__ import annotations

from typing import Any

from core.agents.loose import table, text
from core.logs.titles import Title


def codex_title(line: dict[str, Any]) -> Title | None:
    """The thread's name, as it was given or changed."""
    payload = table(line.get("payload"))
    said = text(payload.get("thread_name")) or text(line.get("thread_name"))
    return Title(3, said) if said else None
