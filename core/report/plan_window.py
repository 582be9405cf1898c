"""The window that a plan may leave of a model's: Claude Code's logs do not tell which one a session has."""

from __future__ import annotations

from core.engine.mind.readings import SleepReading

USUAL = 200_000
"""Tokens of the window on plans without the large one."""
SIZE = f"{USUAL // 1000}k"
_POINT = 167_000
"""Tokens at which Claude Code compacts such a window."""


def plan_share(tool: str, sleep: SleepReading, told: int = 0) -> float | None:
    """How far it would be on its way to compaction with the usual window; None where that cannot be.

    It cannot where the status line `told` the window, where the context was ever larger, or where compaction
    was seen and is what is measured against.
    """
    may = tool == "claude-code" and not told and sleep.compaction_point > USUAL >= sleep.context_most
    return sleep.context_tokens / _POINT if may and 0 < sleep.context_tokens <= USUAL else None
