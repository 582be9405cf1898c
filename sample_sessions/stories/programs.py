"""The programs whose logs are written."""

from __future__ import annotations

from datetime import UTC, datetime

from sample_sessions.stage.stage import Program

CLAUDE = Program("claude-code", "2.1.39", "claude-opus-4-5", 200_000)
CODEX = Program("codex", "0.98.0", "gpt-5.2-codex", 272_000)
GEMINI = Program("gemini", "0.29.0", "gemini-3-flash-preview", 1_048_576)
OPENHANDS = Program("openhands", "0.62.0", "claude-sonnet-4-5-20250929", 200_000)
PI = Program("pi", "0.52.0", "claude-sonnet-4-5", 200_000)
# A framework of one's own, which writes the open event format; the version is its name.
DOCS_BOT = Program("nooscope", "docs-bot", "gpt-5-mini", 400_000)


def moment(text: str) -> float:
    """A time in UTC as seconds."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
