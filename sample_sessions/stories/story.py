"""What makes a story."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sample_sessions.stage.actor import Actor
from sample_sessions.stage.stage import Program, Stage
from sample_sessions.stage.world import World


class Story(NamedTuple):
    """One thing made visible."""

    name: str
    title: str
    sentence: str  # What happens.
    notice: str  # What a screen shows of it.
    program: Program
    world: Callable[[], World]  # A fresh project: a story changes its files.
    start: float
    tell: Callable[[Actor], None]
    must: tuple[str, ...]  # What the engine must show on default settings.
    never: tuple[str, ...]  # What it must not show; a kind alone means anything of that kind.
    speed: float = 4.0  # How fast it plays well.

    def play(self) -> Stage:
        """Let it happen."""
        stage = Stage(self.name, self.world(), self.program, self.start)
        self.tell(Actor(stage))
        return stage


# What wakes a person up.
ALARMS = (
    "halt",
    "loop",
    "quarantine",
    "signal frustration_spike",
    "signal compound_frustration_seeking",
    "state stuck",
)
