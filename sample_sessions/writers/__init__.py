"""A played story in an agent's own format: the files it would have left, by their paths."""

from __future__ import annotations

from collections.abc import Callable

from sample_sessions.stage.stage import Stage
from sample_sessions.writers import claude, codex, gemini, openevents, openhands, pi

Files = dict[str, bytes]  # By path relative to the agent's own folder; the main log comes first.

# By the name its reader has for the agent.
WRITERS: dict[str, Callable[[Stage], Files]] = {
    "claude-code": claude.write,
    "codex": codex.write,
    "gemini": gemini.write,
    "openhands": openhands.write,
    "pi": pi.write,
    "nooscope": openevents.write,
}
