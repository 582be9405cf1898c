"""The names that lines of a Claude Code log give the session."""

from __future__ import annotations

from typing import Any

from core.agents.loose import text
from core.logs.titles import Title

_KEYS = {
    "custom-title": ("customTitle", 3),
    "ai-title": ("aiTitle", 2),
    "summary": ("summary", 1),
    "last-prompt": ("lastPrompt", 0),
}


def claude_title(line: dict[str, Any]) -> Title | None:
    """The person's own title, the model's, that of a branch, or what was asked last."""
    key, rank = _KEYS.get(text(line.get("type")), ("", 0))
    said = text(line.get(key)) if key else ""
    return Title(rank, said) if said else None
