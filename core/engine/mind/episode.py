"""One stretch of work, and a past one that came to mind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from msgspec import Struct

from core.engine.mind.cortical import Regime
from core.events import Action

Verdict = Literal["gain", "loss", "flat"]

Border = Literal["start", "prompt", "interrupt", "pattern", "delta", "session_end"]
"""What begins or ends a stretch of work."""

ACTION_WORDS: dict[Action, str] = {
    "file_read": "reading",
    "file_edit": "editing",
    "search": "searching",
    "shell_exec": "running commands",
    "delegation": "delegating",
    "memory_read": "reading notes",
    "memory_write": "writing notes",
    "plan": "planning",
    "other": "other calls",
}
OUTCOME_WORDS: dict[Verdict, str] = {
    "gain": "with success",
    "loss": "without success",
    "flat": "with no clear result",
}


class Episode(Struct, frozen=True):
    """A stretch of work as it is remembered: shapes and coarse places, no content."""

    number: int
    tick: int
    """The tick at which it ended."""
    at: float
    """When it began, in epoch seconds."""
    until: float
    regime: Regime
    """The one it was in for most of its ticks."""
    pleasure: float
    arousal: float
    dominance: float
    action: Action
    """The most frequent one."""
    outcome: Verdict
    began_by: Border
    ended_by: Border
    calls: int
    failures: int
    signature: tuple[tuple[str, int], ...]
    """Actions and coarse folders with their counts, in the order of their names."""
    trace: str = ""
    """Its last calls, two letters each; empty once it is a summary."""
    session: str = ""
    """Key of the saved session it comes from; empty for this one."""

    def line(self) -> str:
        """As one reads it."""
        return f"{self.regime}, {self.did()}"

    def did(self) -> str:
        """What was done mostly, and what came of it."""
        return f"{ACTION_WORDS[self.action]} {OUTCOME_WORDS[self.outcome]}"


class Situation(NamedTuple):
    """What a past episode is compared with."""

    regime: Regime
    pleasure: float
    arousal: float
    dominance: float
    task: Mapping[str, int]


class Recalled(Struct, frozen=True):
    """A past episode and why it came to mind."""

    episode: Episode
    score: float
    """Similarity times recency."""
    similarity: float
    regime: float
    affect: float
    task: float
    recency: float
    line: str
