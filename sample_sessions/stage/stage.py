"""What a story leaves behind: deeds in order, and the lines a narrator says."""

from __future__ import annotations

from typing import NamedTuple

from sample_sessions.stage.deeds import MAIN, Deed, Remark
from sample_sessions.stage.dice import Dice
from sample_sessions.stage.world import World


class Program(NamedTuple):
    """The agent's program, as its logs name it."""

    name: str
    version: str
    model: str
    window: int


class Stage:
    """One story while it is played."""

    def __init__(self, name: str, world: World, program: Program, start: float) -> None:
        self.name = name
        self.world = world
        self.program = program
        self.start = start
        self.dice = Dice(name)
        self.session = self.dice.timed_uuid(start) if program.name == "codex" else self.dice.uuid()
        self.deeds: list[Deed] = []
        self.remarks: list[Remark] = []

    def of(self, agent: str = MAIN) -> list[Deed]:
        """One agent's deeds in the order of time."""
        return sorted((deed for deed in self.deeds if deed.agent == agent), key=lambda deed: deed.at)

    @property
    def end(self) -> float:
        """When the last thing happened."""
        return max(deed.at for deed in self.deeds)
