"""What an action may look at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from core.engine.governor import HALT_WORDS, HaltReason, Verdict
from core.engine.mind import Mind
from core.engine.mind.episode import Episode, Recalled
from core.engine.percept import AXES, Composition, Percept
from core.engine.receptor.heatmap import Heatmap
from core.engine.receptor.persona import Persona
from core.engine.response.delegates import ALONE, Delegate
from core.engine.response.loops import Loop
from core.engine.response.method import CUE_AXES, Cue
from core.events import Action
from core.settings.response import ActionSettings


class Recollection:
    """What the mind remembers of moments like this; looked up only when a method wants it."""

    __slots__ = ("_mind",)

    def __init__(self, mind: Mind) -> None:
        self._mind = mind

    def alike(self, most: int, ahead: int = 1) -> list[tuple[Recalled, tuple[Episode, ...]]]:
        """The most alike episodes, best first, each with those that followed it."""
        return list(self._mind.alike(most, ahead))

    def wide(self, most: int) -> int:
        """As many of so many as affect's breadth lets through."""
        return self._mind.wide(most)

    @property
    def composition(self) -> Composition:
        """How affect leans forecasting and discovery."""
        return self._mind.heart.composition


class Scene(NamedTuple):
    """The moment at which a method fires; looking at it changes nothing."""

    at: float
    agent: str
    cue: Cue
    intensity: float
    percept: Percept
    verdict: Verdict
    loop: Loop | None
    pressure: float
    recollection: Recollection
    heatmap: Heatmap
    settings: ActionSettings
    signature: Mapping[Action, float] = {}
    """Shares of the actions so far."""
    personas: tuple[Persona, ...] = ()
    delegates: tuple[Delegate, ...] = (Delegate(ALONE, 1.0),)
    """Ways to go on, the preferred first."""

    @property
    def value(self) -> float:
        """Where the axis of the cue stands; of two, the higher one."""
        axes = CUE_AXES.get(self.cue, ())
        values = [self.percept.axes[AXES.index(axis)] for axis in axes]
        return max(values) if values else self.intensity

    def words(self) -> dict[str, str]:
        """What sentences may name in braces."""
        return {
            "cue": self.cue,
            "state": self.percept.state.replace("_", " "),
            "pattern": self.percept.pattern.replace("_", " "),
            "intensity": f"{self.intensity:.2f}",
            "value": f"{self.value:.2f}",
            "pressure": f"{self.pressure:.2f}",
            "loop": self.loop.what if self.loop else "a loop",
            "halt": _halted(self.verdict.halted_now),
            "failures": f"{100 * self.percept.failure_rate:.0f}%",
            "hours": f"{self.percept.now / 3600:.1f}",
        }

    def reason(self) -> str:
        """Why a method spoke, in a few words."""
        state = self.percept.state.replace("_", " ")
        if self.cue == "loop" and self.loop:
            return f"loop ({self.loop.detector}, {self.loop.count} times), {state}"
        if self.cue == "halt":
            return f"the governor would halt ({self.verdict.halted_now}) at step {self.verdict.step}"
        if self.cue == "pressure":
            return f"pressure {self.pressure:.2f} reached the threshold for asking, {state}"
        return f"{self.cue} at {self.value:.2f}, {self.intensity:.2f} above its threshold, {state}"


def _halted(reason: HaltReason | Literal[""]) -> str:
    return f"{reason.lower()}, as it {HALT_WORDS[reason]}" if reason else "halt"
